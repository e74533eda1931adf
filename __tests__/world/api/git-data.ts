import { refuseRefUpdate } from '../branch-rules.ts';
import type { GitCommit, GitStore, TreeChange } from '../git/git-store.ts';
import type { TestRepository } from '../repository.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, createRoute, getText, replyPage, requireText } from './call.ts';
import { fail, failInvalid, failMissing, failNotFound } from './errors.ts';
import { createAuthors, decodeBase64 } from './write-checks.ts';

function createBlob({ repository, body }: ApiCall): HostReply {
  const content = requireText(body, 'content');
  return replyJson(201, { sha: repository.git.writeBlob(decodeBase64(content)) });
}

function formatTree({ repository, request }: ApiCall, sha: string) {
  const entries = repository.git.listTree(sha, { recursive: request.query.get('recursive') !== null });
  const tree = entries.map(({ size, ...entry }) => (size === null ? entry : { ...entry, size }));
  return { sha, tree, truncated: false };
}

function createTree(call: ApiCall): HostReply {
  const { repository, body } = call;
  const { git } = repository;
  const base = getText(body, 'base_tree') ?? null;
  if (base !== null && git.getType(base) !== 'tree') fail(422, 'base_tree is not a valid tree oid');
  if (!Array.isArray(body.tree)) failMissing('tree');
  const changes = body.tree.map((item) => parseTreeChange(git, base, item));
  return replyJson(201, formatTree(call, git.writeTree(base, changes)));
}

function parseTreeChange(git: GitStore, base: string | null, item: unknown): TreeChange {
  const { path, mode = '100644', sha } = item as Record<string, unknown>;
  if (typeof path !== 'string') failMissing('tree.path');
  const isRemoval = sha === null;
  if (isRemoval && (base === null || git.entryAt(base, path) === null)) fail(422, 'GitRPC::BadObjectState');
  if (isRemoval) return { path, mode: '100644', sha };
  if (typeof sha !== 'string' || git.getType(sha) === null) fail(422, `tree.sha ${sha} is not a valid blob`);
  return { path, mode: String(mode), sha };
}

function showTree(call: ApiCall): HostReply {
  const { sha = '' } = call.parameters;
  return call.repository.git.getType(sha) === 'tree' ? replyJson(200, formatTree(call, sha)) : failNotFound();
}

function formatGitCommit({ git }: TestRepository, sha: string) {
  const { tree, parents, message } = git.commit(sha);
  return { sha, message, tree: { sha: tree }, parents: parents.map((parent) => ({ sha: parent })) };
}

function createCommit(call: ApiCall): HostReply {
  const { repository, body } = call;
  const { git } = repository;
  const message = requireText(body, 'message');
  const tree = requireText(body, 'tree');
  const parents = Array.isArray(body.parents) ? body.parents.map(String) : [];
  if (git.getType(tree) !== 'tree') fail(422, 'Tree SHA does not exist');
  const { signed, ...authors } = createAuthors(call);
  const sha = git.writeCommit({ tree, parents, message, ...authors });
  if (signed) repository.signedCommits.add(sha);
  return replyJson(201, formatGitCommit(repository, sha));
}

function showCommit({ repository, parameters }: ApiCall): HostReply {
  const { sha = '' } = parameters;
  if (repository.git.getType(sha) !== 'commit') failNotFound();
  return replyJson(200, formatGitCommit(repository, sha));
}

const formatRef = (ref: string, sha: string) => ({ ref, object: { type: 'commit', sha } });

function showRef({ repository, parameters }: ApiCall): HostReply {
  const ref = `refs/${parameters.ref}`;
  return replyJson(200, formatRef(ref, repository.git.readRef(ref) ?? failNotFound()));
}

function createRef(call: ApiCall): Promise<HostReply> {
  const { repository, body } = call;
  const ref = requireText(body, 'ref');
  return repository.runExclusively(() => {
    if (repository.git.readRef(ref) !== null) fail(422, 'Reference already exists');
    return moveRef(call, ref, null);
  });
}

function updateRef(call: ApiCall): Promise<HostReply> {
  const { repository, parameters } = call;
  const ref = `refs/${parameters.ref}`;
  return repository.runExclusively(() => {
    const old = repository.git.readRef(ref) ?? fail(422, 'Reference does not exist');
    return moveRef(call, ref, old);
  });
}

/** Points a ref to the commit that the request names, if it still points to `from`. */
function moveRef({ repository, body, login }: ApiCall, ref: string, from: string | null): HostReply {
  const { git } = repository;
  const to = requireText(body, 'sha');
  if (git.getType(to) !== 'commit') fail(422, 'Object does not exist');
  if (from !== null && body.force !== true && !git.isAncestor(from, to)) {
    fail(422, 'Update is not a fast forward');
  }
  const broken = repository.findBrokenRule(to, from);
  if (broken !== null) fail(422, refuseRefUpdate(broken));
  if (!repository.moveBranch(ref.replace('refs/heads/', ''), to, from, login)) {
    failInvalid({ resource: 'Reference', code: 'invalid', field: 'ref' });
  }
  return replyJson(from === null ? 201 : 200, formatRef(ref, to));
}

/** A route that first reports if a repository has no commit. */
const createGitRoute: typeof createRoute = (operation, need, handle) =>
  createRoute(operation, need, (call) => {
    if (call.repository.isEmpty) fail(409, 'Git Repository is empty.');
    return handle(call);
  });

export const GIT_DATA_ROUTES = [
  createGitRoute('POST /git/blobs', { contents: 'write' }, createBlob),
  createGitRoute('POST /git/trees', { contents: 'write' }, createTree),
  createGitRoute('GET /git/trees/:sha', { contents: 'read' }, showTree),
  createGitRoute('POST /git/commits', { contents: 'write' }, createCommit),
  createGitRoute('GET /git/commits/:sha', { contents: 'read' }, showCommit),
  createGitRoute('GET /git/ref/*ref', { contents: 'read' }, showRef),
  createGitRoute('POST /git/refs', { contents: 'write' }, createRef),
  createGitRoute('PATCH /git/refs/*ref', { contents: 'write' }, updateRef),
];

function formatCommit({ sha, parents, author, committer, message }: GitCommit) {
  return {
    sha,
    commit: { author, committer, message },
    parents: parents.map((parent) => ({ sha: parent })),
  };
}

function listCommits(call: ApiCall) {
  const { repository, request } = call;
  const ref = request.query.get('sha') ?? repository.branch;
  if (repository.isEmpty) fail(409, 'Git Repository is empty.');
  const from = repository.git.resolve(ref) ?? failNotFound();
  const commits = repository.git.log(from, { path: request.query.get('path') ?? '' });
  return replyPage(call, commits, formatCommit);
}

function formatComparison(ahead: number, behind: number): string {
  if (ahead > 0 && behind > 0) return 'diverged';
  if (ahead > 0) return 'ahead';
  return behind > 0 ? 'behind' : 'identical';
}

function compareCommits({ repository: { git }, parameters }: ApiCall): HostReply {
  const [base = '', head = ''] = (parameters.basehead ?? '')
    .split('...')
    .map((name) => git.resolve(name) ?? failNotFound());
  const [ahead, behind] = [git.log(head, { not: base }).length, git.log(base, { not: head }).length];
  return replyJson(200, { status: formatComparison(ahead, behind) });
}

export const COMMIT_ROUTES = [
  createRoute('GET /commits', { contents: 'read' }, listCommits),
  createRoute('GET /compare/*basehead', { contents: 'read' }, compareCommits),
];
