import type { TestRepository } from '../world/repository.ts';

const PERSON = { name: 'A', email: 'a@example.org', date: new Date(0).toISOString() };

/** Another person moves the branch to their own commit with this tree. */
function push(repository: TestRepository, message: string, tree: string, parents: readonly string[]): void {
  const commit = { tree, parents, message, author: PERSON, committer: PERSON };
  repository.moveBranch('main', repository.git.writeCommit(commit), repository.head(), null);
}

/** Somebody pushes a commit that holds nothing but a page, with the history of the branch or without. */
export function replaceBranch(
  repository: TestRepository,
  { isOrphan }: { readonly isOrphan: boolean },
): void {
  const { git } = repository;
  const page = { path: 'home.html', mode: '100644', sha: git.writeBlob(Buffer.from('theirs')) };
  push(repository, 'Deploy', git.writeTree(null, [page]), isOrphan ? [] : [repository.head() ?? '']);
}

/** Somebody adds files of theirs, in one commit. */
export function addFiles(repository: TestRepository, paths: readonly string[]): void {
  const { git } = repository;
  const sha = git.writeBlob(Buffer.from('theirs'));
  const head = repository.head() ?? '';
  push(
    repository,
    'Add',
    git.writeTree(
      head,
      paths.map((path) => ({ path, mode: '100644', sha })),
    ),
    [head],
  );
}

/** Commits of somebody that leave every file as it is, in one push. */
export function addCommits(repository: TestRepository, count: number): void {
  const { git } = repository;
  let last = repository.head() ?? '';
  const tree = git.writeTree(last, []);
  for (let nth = 1; nth < count; nth += 1) {
    last = git.writeCommit({ tree, parents: [last], message: `${nth}`, author: PERSON, committer: PERSON });
  }
  push(repository, 'The last one', tree, [last]);
}

/** Somebody replaces the history of the branch by one commit that holds every file as it is. */
export function squashBranch(repository: TestRepository): void {
  push(repository, 'Squash', repository.git.writeTree(repository.head(), []), []);
}
