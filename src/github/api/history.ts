import { mapConcurrently } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import { BATCH } from '../../protocol/limits.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';
import { RETRY_HINT } from '../refusals.ts';
import type { GitHubClient } from './client.ts';
import { dataOrNull } from './failures.ts';

export interface CommitSummary {
  readonly sha: string;
  readonly message: string;
  readonly date?: string | undefined;
  readonly isFirst?: boolean;
}

export interface LastCommit extends CommitSummary {
  /** The messages of the newest versions, newest first. */
  readonly messages: readonly string[];
  /** The current and earlier blobs, newest first: ten versions for a few paths, two for many. */
  readonly blobs: readonly GitBlob[];
}

/** The last commit of each path, or `null` if no commit changed it. @param head a sha: a name could also be a tag's */
export async function getLastCommits(
  github: GitHubClient,
  head: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, LastCommit | null>> {
  const chunks = Array.from({ length: Math.ceil(paths.length / BATCH.history) }, (_, nth) =>
    paths.slice(nth * BATCH.history, (nth + 1) * BATCH.history),
  );
  const parts = await mapConcurrently(chunks, BATCH.reads, (chunk) => queryLastCommits(github, head, chunk));
  return new Map(parts.flat());
}

/** The newest commit of a branch or tag, or of the default branch. */
export async function getNewestCommit(
  { rest, repository }: GitHubClient,
  name?: string,
): Promise<string | null> {
  const query = { ...repository, ...(name && { sha: name }), per_page: 1 };
  return (await rest.repos.listCommits(query)).data[0]?.sha ?? null;
}

/** The commit of a tag; `null` if the tag does not exist. */
export async function getTagCommit(github: GitHubClient, tag: string): Promise<string | null> {
  const { rest, repository } = github;
  const found = await dataOrNull(rest.git.getRef({ ...repository, ref: `tags/${tag}` }));
  // An annotated tag is a separate object that points to the commit.
  return found?.object.type === 'tag' ? getNewestCommit(github, tag) : (found?.object.sha ?? null);
}

interface HistoryAnswer {
  readonly repository?: {
    readonly object?: Readonly<Record<string, { nodes: HistoryCommit[] }>> | null;
  } | null;
}

interface HistoryCommit extends FileEntry {
  readonly oid: string;
  readonly message: string;
  readonly committedDate?: string;
  readonly parents?: { readonly nodes: readonly FileEntry[] };
}

interface FileEntry {
  readonly file?: { readonly oid: string; readonly size: number } | null;
}

const NO_HISTORY = 'GitHub returned no history for several paths';

/** @see https://docs.github.com/graphql/reference/objects#commit */
async function queryLastCommits(
  github: GitHubClient,
  head: string,
  paths: readonly string[],
): Promise<readonly (readonly [string, LastCommit | null])[]> {
  const versions = paths.length <= BATCH.paths ? BATCH.versions : 1;
  const names = paths.map((_, nth) => `p${nth}`);
  const variables = names.map((name) => `, $${name}: String!`).join('');
  const fields = names.map((name) => {
    const file = `file(path: $${name}) { oid size }`;
    const node = `oid message committedDate ${file} parents(first: 1) { nodes { ${file} } }`;
    return `${name}: history(first: ${versions}, path: $${name}) { nodes { ${node} } }`;
  });
  const query = `query($owner: String!, $repo: String!, $head: GitObjectID!${variables}) {
    repository(owner: $owner, name: $repo) { object(oid: $head) { ... on Commit { ${fields.join(' ')} } } }
  }`;
  const answer = await github.graphql<HistoryAnswer | null>(query, {
    ...github.repository,
    head,
    ...Object.fromEntries(names.map((name, nth) => [name, paths[nth]])),
  });
  const histories = answer?.repository?.object;
  return paths.map((path, nth) => {
    const page = histories?.[`p${nth}`];
    // Without a history we don't know whether a commit changed the path: GitHub may not have the commit yet.
    if (page === undefined) {
      throw new DeliveryError('HOST_ERROR', NO_HISTORY, { hint: RETRY_HINT });
    }
    const [last] = page.nodes;
    if (last === undefined) return [path, null];
    const { oid, message, committedDate: date, parents } = last;
    const oldest = page.nodes.at(-1)?.parents?.nodes ?? [];
    const blobs = [...page.nodes, ...oldest].flatMap(({ file }) =>
      file ? [{ sha: file.oid, size: file.size }] : [],
    );
    const messages = page.nodes.map((commit) => commit.message);
    const isFirst = parents?.nodes.length === 0;
    return [path, { sha: oid, message, date, isFirst, messages, blobs }];
  });
}
