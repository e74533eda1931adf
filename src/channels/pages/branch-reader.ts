import { hasFailed } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type ExistingBlobs, getExistingBlobs } from '../../github/api/existing-blobs.ts';
import { getLastCommits, type LastCommits } from '../../github/api/history.ts';

/** Reads what a commit of the branch holds. A commit never changes, so nothing of it is asked for twice. */
export interface BranchReader {
  /** @param head sha of the commit */
  getBlobs(github: GitHubClient, head: string, paths: readonly string[]): Promise<ExistingBlobs>;
  /** The last commit that touched each path. @param head sha of the commit that the history begins with */
  getCommits(github: GitHubClient, head: string, paths: readonly string[]): Promise<LastCommits>;
}

/** Creates a reader that remembers the newest commit only. */
export function createBranchReader(): BranchReader {
  const blobs = createMemory(getExistingBlobs);
  const commits = createMemory(getLastCommits);
  return { getBlobs: blobs, getCommits: commits };
}

type ReadPaths<Value> = (
  github: GitHubClient,
  head: string,
  paths: readonly string[],
) => Promise<ReadonlyMap<string, Value>>;

/** The same reading, in which only paths that are not known yet are asked for. A failure is not remembered. */
function createMemory<Value>(read: ReadPaths<Value>): ReadPaths<Value> {
  let known = { head: '', values: new Map<string, Value>() };
  return async (github, head, paths) => {
    if (known.head !== head) known = { head, values: new Map() };
    const { values } = known;
    const missing = paths.filter((path) => !values.has(path));
    const found = missing.length === 0 ? new Map<string, Value>() : await read(github, head, missing);
    for (const [path, value] of found) if (!hasFailed(value)) values.set(path, value);
    const result = paths.map((path) => [path, found.get(path) ?? values.get(path)] as const);
    return new Map(result.flatMap(([path, value]) => (value === undefined ? [] : [[path, value] as const])));
  };
}
