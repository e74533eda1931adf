import type { GitCommit } from '../git/git-store.ts';
import type { TestRepository } from '../repository.ts';
import { replyJson } from '../server/messages.ts';
import { type ApiCall, replyPage } from './call.ts';
import { fail, failNotFound } from './errors.ts';
import { createRoute } from './routes.ts';

const STATUS_NAMES: Readonly<Record<string, string>> = { A: 'added', M: 'modified', D: 'removed' };

function formatCommit(repository: TestRepository, commit: GitCommit) {
  const { sha, tree, parents, author, committer, message } = commit;
  const verification = formatVerification(repository, sha);
  return {
    sha,
    commit: { author, committer, message, tree: { sha: tree }, verification },
    parents: parents.map((parent) => ({ sha: parent })),
  };
}

/** Whether a commit has a signature: only those have one that GitHub made itself. */
export function formatVerification({ signedCommits }: TestRepository, sha: string) {
  const verified = signedCommits.has(sha);
  return { verified, reason: verified ? 'valid' : 'unsigned' };
}

function listChangedFiles({ repository }: ApiCall, before: string | null, after: string) {
  const changed = repository.git.changedFiles(before, after);
  return changed.map(({ path, status, sha }) => {
    return { sha, filename: path, status: STATUS_NAMES[status] ?? 'changed' };
  });
}

function listCommits(call: ApiCall) {
  const { repository, request } = call;
  const ref = request.query.get('sha') ?? repository.branch;
  if (repository.isEmpty) fail(409, 'Git Repository is empty.');
  const from = repository.git.resolve(ref) ?? failNotFound();
  const commits = repository.git.log(from, { path: request.query.get('path') ?? '' });
  return replyPage(call, commits, (commit) => formatCommit(repository, commit));
}

function formatComparison(ahead: number, behind: number): string {
  if (ahead > 0 && behind > 0) return 'diverged';
  if (ahead > 0) return 'ahead';
  return behind > 0 ? 'behind' : 'identical';
}

function compareCommits(call: ApiCall) {
  const { repository, parameters } = call;
  const { git } = repository;
  const [baseName = '', headName = ''] = (parameters.basehead ?? '').split('...');
  const base = git.resolve(baseName) ?? failNotFound();
  const head = git.resolve(headName) ?? failNotFound();
  const mergeBase = git.mergeBase(base, head) ?? fail(404, `No common ancestor between ${base} and ${head}.`);
  const commits = git.log(head, { not: base }).reverse();
  const [ahead, behind] = [commits.length, git.log(base, { not: head }).length];
  return replyJson(200, {
    status: formatComparison(ahead, behind),
    ahead_by: ahead,
    behind_by: behind,
    total_commits: ahead,
    commits: commits.map((commit) => formatCommit(repository, commit)),
    files: listChangedFiles(call, mergeBase, head),
  });
}

export const COMMIT_ROUTES = [
  createRoute('GET /commits', { contents: 'read' }, listCommits),
  createRoute('GET /compare/*basehead', { contents: 'read' }, compareCommits),
];
