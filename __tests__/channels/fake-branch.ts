import { createEntriesReader } from '../../src/channels/pages/branch-reader.ts';
import type { PagesOptions } from '../../src/channels/pages/destination.ts';
import { resolveDestination } from '../../src/channels/pages/destination.ts';
import type { CommitTarget, PagesTask } from '../../src/channels/pages/target.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { type Answers, absent, FakeGitHub } from '../github/fake-github.ts';
import { regularAnswers } from '../github/tree-answers.ts';
import { memoryFile } from './pages/site/memory-files.ts';
import { pagesOptionsWith } from './pages-options.ts';
import { siteWith } from './repository-context.ts';

/** A file of the branch: its blob, and the message of the commit that wrote it. */
export interface BranchFile {
  readonly blob: string;
  /** `null` for a commit of this tool. */
  readonly message: string | null;
}

export type BranchFiles = Record<string, BranchFile>;

/** The message of a commit of this tool that wrote this blob to this path. */
export const ownMessage = (blob: string, path = 'page.html'): string => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return `ADD ${name}: before\n\nDelivered-by: screen-delivery\nDelivered-object: ${blob} ${path}`;
};
export const FOREIGN_MESSAGE = 'Add my page';

/** A file of the branch, owned unless a message says otherwise. */
export const existingFile = (blob: string, message: string | null = null): BranchFile => ({ blob, message });

const shasOf = (files: BranchFiles): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, { blob }]) => [path, blob]));

/** A branch with these files, which no commit changes. Commits are numbered, unless `answers` say otherwise. */
export const branchWith = (files: BranchFiles = {}, answers: Answers = {}): FakeGitHub =>
  new FakeGitHub({
    get_file({ path }: { path: string }) {
      const file = files[path];
      return file === undefined ? absent : { type: 'file', sha: file.blob };
    },
    get_ref: { object: { sha: 'base' } },
    tree_below: () => regularAnswers(shasOf(files)).tree_below,
    commits_of_path({ path }: { path: string }) {
      const file = files[path];
      return file === undefined
        ? []
        : [
            {
              sha: `last ${path}`,
              commit: {
                message: file.message ?? ownMessage(file.blob, path),
                committer: { date: '2026-01-01T00:00:00Z' },
              },
            },
          ];
    },
    graphql: { data: { viewer: { login: 'octo', databaseId: 583231 } } },
    put_file_le1mb: { commit: { sha: 'put' } },
    get_commit: () => regularAnswers(shasOf(files)).get_commit,
    tree: { sha: 'newtree' },
    commit: (_: unknown, nth: number) => ({ sha: `commit${nth}` }),
    update_ref: {},
    branch_rules: [],
    ...answers,
  });

export type TargetOptions = Partial<PagesOptions & Pick<CommitTarget, 'method'>>;

/** A commit target; inputs that are not named have their defaults. */
export const commitTargetWith = (
  github: FakeGitHub,
  { method = 'A', ...options }: TargetOptions = {},
): CommitTarget => ({
  readEntries: createEntriesReader(),
  method,
  github,
  branch: 'main',
  options: pagesOptionsWith(options),
  setup: null,
  deploy: null,
});

/** What a path is to hold, with its pictures: files or their blobs by path; nothing where it is removed. */
export function pagesTaskWith(
  target: CommitTarget,
  place: string,
  held: Readonly<Record<string, LocalFile | string>>,
): PagesTask {
  const given = { ...target.options, path: place, name: '' };
  const destination = resolveDestination({ owner: 'octo', repo: 'site' }, given, siteWith());
  const files = Object.entries(held).map(([path, one]) => ({
    path,
    file: typeof one === 'string' ? { ...memoryFile(one), blobSha: one } : one,
  }));
  const [, picture] = files;
  const pictures = picture && { picture: picture.file, before: null };
  const plan = { channel: 'K1', method: '', destination: '', name: place, claim: '' } as const;
  return { plan, target, place, files, destination, ...(pictures && { pictures }) };
}
