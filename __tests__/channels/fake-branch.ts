import type { CommitTarget } from '../../src/channels/pages/commit-methods.ts';
import { TRAILER } from '../../src/protocol/words.ts';
import { absent, FakeGitHub } from '../github/fake-github.ts';

/** A file of the branch: its blob, and the message of the commit that wrote it. */
export interface BranchFile {
  readonly blob: string;
  readonly message: string;
}

/** What a branch contains, by path. */
export type BranchFiles = Record<string, BranchFile>;

/** The commit message of a file that this tool wrote, and of one that somebody else wrote. */
export const OWN_MESSAGE = `ADD it: before\n\n${TRAILER}`;
export const FOREIGN_MESSAGE = 'Add my page';

/** A file of the branch, owned unless a message says otherwise. */
export const existingFile = (blob: string, message = OWN_MESSAGE): BranchFile => ({ blob, message });

type Answers = ConstructorParameters<typeof FakeGitHub>[0];

/** A branch with these files, which no commit changes. Commits are numbered, unless `answers` say otherwise. */
export const branchWith = (files: BranchFiles = {}, answers: Answers = {}): FakeGitHub =>
  new FakeGitHub({
    get_file({ path }: { path: string }) {
      const file = files[path];
      return file === undefined ? absent : { type: 'file', sha: file.blob };
    },
    get_ref: { object: { sha: 'base' } },
    tree_below: () => ({
      truncated: false,
      tree: Object.entries(files).map(([path, { blob }]) => ({ path, type: 'blob', sha: blob })),
    }),
    commits_of_path({ path }: { path: string }) {
      const file = files[path];
      return file === undefined ? [] : [{ sha: `last ${path}`, commit: { message: file.message } }];
    },
    put_file_le1mb: { commit: { sha: 'put' } },
    get_commit: { tree: { sha: 'basetree' } },
    tree: { sha: 'newtree' },
    commit: (_: unknown, nth: number) => ({ sha: `commit${nth}` }),
    update_ref: {},
    branch_rules: [],
    viewer: { data: { viewer: { login: 'octo', databaseId: 583231 } } },
    ...answers,
  });

export const commitTargetWith = (github: FakeGitHub, more: Partial<CommitTarget> = {}): CommitTarget => ({
  method: 'A',
  github,
  branch: 'main',
  essence: 'from run 7 of Deliver',
  overwrite: false,
  serverUrl: new URL('https://github.com'),
  ...more,
});
