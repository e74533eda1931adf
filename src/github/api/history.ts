import { mapConcurrently } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import { BATCH } from '../../protocol/limits.ts';
import { RETRY_HINT } from '../hints.ts';
import type { GitHubClient } from './client.ts';

/** The last commit that touched a path. */
export interface LastCommit {
  readonly sha: string;
  readonly message: string;
  /** Milliseconds since the epoch; `null` where the host does not say. */
  readonly committedAt: number | null;
}

/** By path: the last commit that touched it, or `null` where none did. */
export type LastCommits = ReadonlyMap<string, LastCommit | null>;

/**
 * The last commit of each path. Few paths are requested one by one; many are asked for in GraphQL queries of
 * `BATCH.history` paths each.
 *
 * @param head sha of the commit that the history begins with; never a name, which a tag could have as well
 */
export async function getLastCommits(
  github: GitHubClient,
  head: string,
  paths: readonly string[],
): Promise<LastCommits> {
  if (paths.length <= BATCH.paths) {
    const commits = await mapConcurrently(paths, BATCH.reads, (path) => getLastCommit(github, head, path));
    return new Map(paths.map((path, index) => [path, commits[index] ?? null]));
  }
  const chunks = Array.from({ length: Math.ceil(paths.length / BATCH.history) }, (_, nth) =>
    paths.slice(nth * BATCH.history, (nth + 1) * BATCH.history),
  );
  const parts = await mapConcurrently(chunks, BATCH.reads, (chunk) => queryLastCommits(github, head, chunk));
  return new Map(parts.flat());
}

async function getLastCommit(github: GitHubClient, head: string, path: string): Promise<LastCommit | null> {
  const { data } = await github.rest.repos.listCommits({
    ...github.repository,
    sha: head,
    path,
    per_page: 1,
  });
  const [last] = data;
  if (last === undefined) return null;
  const { message, committer } = last.commit;
  return { sha: last.sha, message, committedAt: parseTime(committer?.date) };
}

const parseTime = (date = ''): number | null => Date.parse(date) || null;

interface HistoryAnswer {
  readonly repository?: { readonly object?: Readonly<Record<string, HistoryPage | null>> | null } | null;
}

interface HistoryPage {
  readonly nodes: readonly {
    readonly oid: string;
    readonly message: string;
    readonly committedDate: string;
  }[];
}

/** Without a word about a path it is not known who changed it last, which is not the same as that no commit did. */
const isHistory = (page: HistoryPage | null | undefined): page is HistoryPage =>
  Array.isArray(page?.nodes) && page.nodes.every((node) => typeof node?.message === 'string' && node.oid);

/** @see https://docs.github.com/graphql/reference/objects#commit */
async function queryLastCommits(
  github: GitHubClient,
  head: string,
  paths: readonly string[],
): Promise<readonly (readonly [string, LastCommit | null])[]> {
  const names = paths.map((_, nth) => `p${nth}`);
  const variables = names.map((name) => `, $${name}: String!`).join('');
  const fields = names.map(
    (name) => `${name}: history(first: 1, path: $${name}) { nodes { oid message committedDate } }`,
  );
  const query = `query($owner: String!, $repo: String!, $head: GitObjectID!${variables}) {
    repository(owner: $owner, name: $repo) { object(oid: $head) { ... on Commit { ${fields.join(' ')} } } }
  }`;
  const answer = await github.graphql<HistoryAnswer | null>(query, {
    ...github.repository,
    head,
    ...Object.fromEntries(names.map((name, nth) => [name, paths[nth]])),
  });
  const commits = answer?.repository?.object;
  return paths.map((path, nth) => {
    const page = commits?.[`p${nth}`];
    if (!isHistory(page)) {
      throw new DeliveryError('HOST_ERROR', 'reading the history of several paths returned no history', {
        hint: RETRY_HINT,
      });
    }
    const [last] = page.nodes;
    if (last === undefined) return [path, null];
    const { oid, message, committedDate } = last;
    return [path, { sha: oid, message, committedAt: parseTime(committedDate) }];
  });
}
