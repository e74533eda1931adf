import { createBranchHistory } from '../../src/channels/pages/branch-reader.ts';
import type { PagesOptions } from '../../src/channels/pages/destination.ts';
import { resolveDestination } from '../../src/channels/pages/destination.ts';
import type { CommitTarget, PagesTask } from '../../src/channels/pages/target.ts';
import type { GitHubClient } from '../../src/github/api/client.ts';
import { type Answers, FakeGitHub } from '../github/fake-github.ts';
import { type Contents, memoryFile } from './pages/site/memory-files.ts';
import { pagesOptionsWith } from './pages-options.ts';
import { siteWith } from './repository-context.ts';

/** The message of a commit of this tool that wrote this blob to this path. */
export const ownMessage = (blob: string, path = 'page.html'): string => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return `ADD ${name}: before\n\nDelivered-by: screen-delivery\nDelivered-object: ${blob} ${path}`;
};

/** An empty branch, which no commit changes. Commits are numbered, unless `answers` say otherwise. */
export const branchWith = (answers: Answers = {}): FakeGitHub =>
  new FakeGitHub({
    get_ref: { object: { sha: 'base' } },
    graphql: { data: { viewer: { login: 'octo', databaseId: 583231 } } },
    put_file_le1mb: { commit: { sha: 'put' } },
    get_commit: { tree: { sha: 'basetree' } },
    tree: { sha: 'newtree' },
    commit: (_: unknown, nth: number) => ({ sha: `commit${nth}` }),
    update_ref: {},
    branch_rules: [],
    ...answers,
  });

export type TargetOptions = Partial<PagesOptions & Pick<CommitTarget, 'method'>>;

/** A commit target; inputs that are not named have their defaults. */
export const commitTargetWith = (
  github: GitHubClient,
  { method = 'A', ...options }: TargetOptions = {},
): CommitTarget => ({
  history: createBranchHistory(github, 'main'),
  method,
  github,
  branch: 'main',
  options: pagesOptionsWith(options),
  setup: null,
  deploy: null,
});

/** What a path is to hold, with its pictures; nothing where it is removed. */
export function pagesTaskWith(target: CommitTarget, place: string, held: Contents): PagesTask {
  const given = { ...target.options, path: place, name: '' };
  const destination = resolveDestination({ owner: 'octo', repo: 'site' }, given, siteWith());
  const files = Object.entries(held).map(([path, content]) => ({ path, file: memoryFile(content) }));
  const [, picture] = files;
  const pictures = picture && { picture: picture.file, before: null };
  const plan = { channel: 'K1', method: '', destination: '', name: place, verb: '' } as const;
  const task = { plan, target, itemPath: place, files, destination, isSpared: () => false };
  return { ...task, ...(pictures && { pictures }) };
}
