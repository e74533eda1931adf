import type { TestRepository } from '../world/repository.ts';

const PERSON = { name: 'A', email: 'a@example.org', date: new Date(0).toISOString() };

/** Somebody pushes a commit that holds nothing but a page, with the history of the branch or without. */
export function replaceBranch(
  repository: TestRepository,
  { isOrphan }: { readonly isOrphan: boolean },
): void {
  const { git } = repository;
  const head = repository.head() ?? '';
  const page = { path: 'home.html', mode: '100644', sha: git.writeBlob(Buffer.from('theirs')) };
  const commit = git.writeCommit({
    tree: git.writeTree(null, [page]),
    parents: isOrphan ? [] : [head],
    message: 'Deploy',
    author: PERSON,
    committer: PERSON,
  });
  repository.moveBranch('main', commit, head, null);
}

/** Commits of somebody that leave every file as it is. */
export function addCommits(repository: TestRepository, count: number): void {
  const { git } = repository;
  const head = repository.head() ?? '';
  const tree = git.writeTree(head, []);
  let last = head;
  for (let nth = 0; nth < count; nth += 1) {
    last = git.writeCommit({ tree, parents: [last], message: `${nth}`, author: PERSON, committer: PERSON });
  }
  repository.moveBranch('main', last, head, null);
}

/** Somebody replaces the history of the branch by one commit that holds every file as it is. */
export function squashBranch(repository: TestRepository): void {
  const { git } = repository;
  const head = repository.head() ?? '';
  const about = { tree: git.writeTree(head, []), parents: [], author: PERSON, committer: PERSON };
  repository.moveBranch('main', git.writeCommit({ ...about, message: 'Squash' }), head, null);
}
