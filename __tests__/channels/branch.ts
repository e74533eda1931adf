import type { CommitTarget } from '../../src/channels/pages/commit.ts';
import { TRAILER } from '../../src/protocol/words.ts';
import { absent, FakeGitHub } from '../github/fake-github.ts';

/** What a branch holds: by path its blob, and the message of the commit that brought it. */
export type Holding = Record<string, { readonly blob: string; readonly message: string }>;

export const OURS = `ADD it: before\n\n${TRAILER}`;
export const THEIRS = 'Add my page';

/** A file of ours, or of somebody else. */
export const held = (blob: string, message = OURS) => ({ blob, message });

type Answers = ConstructorParameters<typeof FakeGitHub>[0];

/** A branch that stands as it is; its commits are counted, unless told otherwise. */
export const branchWith = (holding: Holding = {}, answers: Answers = {}): FakeGitHub =>
  new FakeGitHub({
    get_file({ path }: { path: string }) {
      const one = holding[path];
      return one === undefined ? absent : { type: 'file', sha: one.blob };
    },
    get_ref: { object: { sha: 'base' } },
    tree_below: () => ({
      truncated: false,
      tree: Object.entries(holding).map(([path, { blob }]) => ({ path, type: 'blob', sha: blob })),
    }),
    commits_of_path({ path }: { path: string }) {
      const one = holding[path];
      return one === undefined ? [] : [{ sha: `last ${path}`, commit: { message: one.message } }];
    },
    put_file_le1mb: { commit: { sha: 'put' } },
    get_commit: { tree: { sha: 'basetree' } },
    tree: { sha: 'newtree' },
    commit: (_: unknown, nth: number) => ({ sha: `commit${nth}` }),
    update_ref: {},
    ...answers,
  });

export const committingTo = (github: FakeGitHub, more: Partial<CommitTarget> = {}): CommitTarget => ({
  method: 'A',
  github,
  branch: 'main',
  essence: 'from run 7 of Deliver',
  overwrite: false,
  serverUrl: new URL('https://github.com'),
  ...more,
});
