import { json } from '../front/http.ts';
import type { Commit } from '../git/bare-repository.ts';
import type { WorldRepository } from '../repository.ts';
import { type Call, paged } from './call.ts';
import { fail, notFound } from './errors.ts';
import { apiUrl, pageUrl } from './repository.ts';
import { route } from './routes.ts';

const STATUS_NAMES: Readonly<Record<string, string>> = { A: 'added', M: 'modified', D: 'removed' };

/** A commit as the commits API shows it. */
function view(repository: WorldRepository, commit: Commit) {
  const { sha, tree, parents, author, committer, message } = commit;
  return {
    sha,
    commit: {
      author,
      committer,
      message,
      tree: { sha: tree, url: `${apiUrl(repository)}/git/trees/${tree}` },
      verification: verification(commit),
    },
    url: `${apiUrl(repository)}/commits/${sha}`,
    html_url: `${pageUrl(repository)}/commit/${sha}`,
    author: { login: author.name },
    committer: { login: committer.name === 'GitHub' ? 'web-flow' : committer.name },
    parents: parents.map((parent) => ({ sha: parent })),
  };
}

/** Commits that GitHub makes in the token's own name are signed by it. */
export function verification({ committer }: Pick<Commit, 'committer'>) {
  const verified = committer.name === 'GitHub';
  return { verified, reason: verified ? 'valid' : 'unsigned' };
}

async function files({ repository }: Call, before: string | null, after: string) {
  const changed = await repository.git.changedFiles(before, after);
  return changed.map(({ path, status, sha }) => ({
    filename: path,
    status: STATUS_NAMES[status] ?? 'changed',
    sha,
  }));
}

async function resolve({ repository }: Call, ref: string): Promise<string> {
  if ((await repository.head()) === null) fail(409, 'Git Repository is empty.');
  return (await repository.git.resolve(ref)) ?? fail(422, `No commit found for SHA: ${ref}`);
}

async function list(call: Call) {
  const { repository, request } = call;
  const ref = request.query.get('sha') ?? repository.branch;
  if ((await repository.head()) === null) fail(409, 'Git Repository is empty.');
  const from = (await repository.git.resolve(ref)) ?? notFound();
  const commits = await repository.git.log(from, { path: request.query.get('path') ?? '' });
  const { page, headers } = paged(call, commits);
  return json(
    200,
    page.map((commit) => view(repository, commit)),
    headers,
  );
}

async function show(call: Call) {
  const { repository, parameters } = call;
  const commit = await repository.git.commit(await resolve(call, parameters.ref ?? ''));
  const changed = await files(call, commit.parents[0] ?? null, commit.sha);
  return json(200, { ...view(repository, commit), files: changed });
}

function comparison(ahead: number, behind: number): string {
  if (ahead > 0 && behind > 0) return 'diverged';
  if (ahead > 0) return 'ahead';
  return behind > 0 ? 'behind' : 'identical';
}

async function compare(call: Call) {
  const { repository, parameters } = call;
  const { git } = repository;
  const [baseName = '', headName = ''] = (parameters.basehead ?? '').split('...');
  const base = (await git.resolve(baseName)) ?? notFound();
  const head = (await git.resolve(headName)) ?? notFound();
  const mergeBase =
    (await git.mergeBase(base, head)) ?? fail(404, `No common ancestor between ${base} and ${head}.`);
  const { left: behind, right: ahead } = await git.countApart(base, head);
  const commits = ahead === 0 ? [] : (await git.log(head, { not: base })).reverse();
  return json(200, {
    status: comparison(ahead, behind),
    ahead_by: ahead,
    behind_by: behind,
    total_commits: ahead,
    base_commit: view(repository, await git.commit(base)),
    merge_base_commit: view(repository, await git.commit(mergeBase)),
    commits: commits.map((commit) => view(repository, commit)),
    files: await files(call, mergeBase, head),
  });
}

export const commitRoutes = [
  route('GET /commits', { contents: 'read' }, list),
  route('GET /commits/*ref', { contents: 'read' }, show),
  route('GET /compare/*basehead', { contents: 'read' }, compare),
];
