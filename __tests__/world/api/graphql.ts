import { getUserId } from '../tokens.ts';
import type { FindRepository } from './host.ts';

const VIEWER = /^\s*(?:query\s*)?\{\s*viewer\s*\{\s*login\s+databaseId\s*\}\s*\}\s*$/;
const HISTORY =
  /^\s*query\([^)]*\)\s*\{\s*repository\(owner: \$owner, name: \$repo\)\s*\{\s*object\(oid: \$head\)\s*\{\s*\.\.\. on Commit\s*\{(.*)\}\s*\}\s*\}\s*\}\s*$/s;
const FIELD =
  /(\w+): history\(first: (\d+), path: \$(\w+)\) \{ nodes \{ oid message committedDate file\(path: \$\3\) \{ oid size \} parents\(first: 1\) \{ nodes \{ file\(path: \$\3\) \{ oid size \} \} \} \} \}/g;

/**
 * Answers only the action's two queries: the token's owner, and the last commit of several paths.
 * @see https://docs.github.com/graphql/reference/objects#commit
 */
export function answerGraphql(
  { query, variables = {} }: { readonly query?: unknown; readonly variables?: Record<string, string> },
  login: string,
  find: FindRepository,
): object {
  if (VIEWER.test(String(query))) return { data: { viewer: { login, databaseId: getUserId(login) } } };
  const [, fields] = HISTORY.exec(String(query)) ?? [];
  if (fields === undefined) return { errors: [{ message: 'This query is not known here' }] };
  const { owner = '', repo = '', head = '' } = variables;
  const repository = find(owner, repo);
  if (repository === undefined) {
    return { data: { repository: null }, errors: [{ type: 'NOT_FOUND', message: 'Could not resolve' }] };
  }
  const fileAt = (commit: string | undefined, path: string) => {
    const entry = commit === undefined ? null : repository.git.entryAt(commit, path);
    return { file: entry && { oid: entry.sha, size: entry.size ?? 0 } };
  };
  const pages = [...fields.matchAll(FIELD)].map(([, name = '', first = '', variable = '']) => {
    const path = variables[variable] ?? '';
    const commits = repository.git.log(head, { path }).slice(0, Number(first));
    const nodes = commits.map(({ sha, message, committer, parents }) => ({
      oid: sha,
      message,
      committedDate: committer.date,
      ...fileAt(sha, path),
      parents: { nodes: parents.length === 0 ? [] : [fileAt(parents[0], path)] },
    }));
    return [name, { nodes }] as const;
  });
  return { data: { repository: { object: Object.fromEntries(pages) } } };
}
