import { refuseRefUpdate } from '../branch-rules.ts';
import type { TreeChange } from '../git/git-store.ts';
import type { TestRepository } from '../repository.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, getText, readBody, requireText } from './call.ts';
import { formatVerification } from './commits.ts';
import { fail, failInvalid, failMissing, failNotFound } from './errors.ts';
import { createRoute } from './routes.ts';
import { createAuthors, decodeBase64, isMalformedPath } from './write-checks.ts';

function assertNotEmpty({ repository }: ApiCall): void {
  if (repository.isEmpty) fail(409, 'Git Repository is empty.');
}

async function createBlob(call: ApiCall): Promise<HostReply> {
  const { repository } = call;
  assertNotEmpty(call);
  const body = await readBody(call);
  const content = requireText(body, 'content');
  const isBase64 = getText(body, 'encoding') === 'base64';
  const sha = repository.git.writeBlob(isBase64 ? decodeBase64(content) : Buffer.from(content));
  return replyJson(201, { sha });
}

function formatTree({ repository, request }: ApiCall, sha: string) {
  const recursive = request.query.get('recursive') !== null;
  const entries = repository.git.listTree(sha, { recursive });
  const tree = entries.map(({ path, mode, type, sha, size }) => ({
    path,
    mode,
    type,
    sha,
    ...(size === null ? {} : { size }),
  }));
  return { sha, tree, truncated: false };
}

async function createTree(call: ApiCall): Promise<HostReply> {
  const { git } = call.repository;
  assertNotEmpty(call);
  const body = await readBody(call);
  const base = getText(body, 'base_tree') ?? null;
  if (base !== null && git.getType(base) !== 'tree') fail(422, 'base_tree is not a valid tree oid');
  if (!Array.isArray(body.tree)) failMissing('tree');
  const changes = [];
  for (const item of body.tree) changes.push(parseTreeChange(call, base, item));
  const sha = git.writeTree(base, changes);
  return replyJson(201, formatTree(call, sha));
}

function parseTreeChange({ repository }: ApiCall, base: string | null, item: unknown): TreeChange {
  const { git } = repository;
  const { path, mode = '100644', sha, content } = item as Record<string, unknown>;
  if (typeof path !== 'string' || isMalformedPath(path)) {
    fail(422, 'tree.path contains a malformed path component');
  }
  if (sha === null) {
    const existing = base === null ? null : git.entryAt(base, path);
    if (existing === null) fail(422, 'GitRPC::BadObjectState');
    return { path, mode: '100644', sha: null };
  }
  if (typeof content === 'string') {
    return { path, mode: String(mode), sha: git.writeBlob(Buffer.from(content)) };
  }
  if (typeof sha !== 'string' || git.getType(sha) === null) {
    fail(422, `tree.sha ${sha} is not a valid blob`);
  }
  return { path, mode: String(mode), sha };
}

function showTree(call: ApiCall): HostReply {
  const { repository, parameters } = call;
  assertNotEmpty(call);
  const { sha = '' } = parameters;
  const type = repository.git.getType(sha);
  if (type !== 'tree' && type !== 'commit') failNotFound();
  return replyJson(200, formatTree(call, type === 'tree' ? sha : repository.git.commit(sha).tree));
}

/** A git commit, as an answer to a write also shows it. */
export function formatGitCommit({ repository }: ApiCall, sha: string) {
  const { tree, parents, ...commit } = repository.git.commit(sha);
  return {
    ...commit,
    tree: { sha: tree },
    parents: parents.map((parent) => ({ sha: parent })),
    verification: formatVerification(repository, sha),
  };
}

async function createCommit(call: ApiCall): Promise<HostReply> {
  const { git } = call.repository;
  assertNotEmpty(call);
  const body = await readBody(call);
  const message = requireText(body, 'message');
  const tree = requireText(body, 'tree');
  const parents = Array.isArray(body.parents) ? body.parents.map(String) : [];
  if (git.getType(tree) !== 'tree') fail(422, 'Tree SHA does not exist');
  for (const parent of parents) {
    if (git.getType(parent) !== 'commit') {
      fail(422, 'Parent SHA does not exist or is not a commit object');
    }
  }
  const { signed, ...authors } = createAuthors(body, call.login);
  const sha = git.writeCommit({ tree, parents, message, ...authors });
  if (signed) call.repository.signedCommits.add(sha);
  return replyJson(201, formatGitCommit(call, sha));
}

function showCommit(call: ApiCall): HostReply {
  const { repository, parameters } = call;
  const { sha = '' } = parameters;
  if (repository.git.getType(sha) !== 'commit') failNotFound();
  return replyJson(200, formatGitCommit(call, sha));
}

const formatRef = (ref: string, sha: string) => ({ ref, object: { type: 'commit', sha } });

function showRef(call: ApiCall): HostReply {
  assertNotEmpty(call);
  const ref = `refs/${call.parameters.ref}`;
  const sha = call.repository.git.readRef(ref) ?? failNotFound();
  return replyJson(200, formatRef(ref, sha));
}

async function createRef(call: ApiCall): Promise<HostReply> {
  const { repository } = call;
  assertNotEmpty(call);
  const body = await readBody(call);
  const ref = requireText(body, 'ref');
  const sha = requireText(body, 'sha');
  if (repository.git.getType(sha) !== 'commit') fail(422, 'Object does not exist');
  return repository.runExclusively(async () => {
    if (repository.git.readRef(ref) !== null) fail(422, 'Reference already exists');
    if (repository.releaseStore.isBurned(getTagName(ref)))
      failRule('Cannot create ref due to creations being restricted.');
    const branch = getBranchName(ref);
    const broken = branch === null ? null : repository.findBrokenRule(sha, null);
    if (broken !== null) fail(422, refuseRefUpdate(broken));
    moveRef(call, ref, sha, null);
    return replyJson(201, formatRef(ref, sha));
  });
}

async function updateRef(call: ApiCall): Promise<HostReply> {
  const { repository, parameters } = call;
  assertNotEmpty(call);
  const body = await readBody(call);
  const sha = requireText(body, 'sha');
  const ref = `refs/${parameters.ref}`;
  return repository.runExclusively(async () => {
    const old = repository.git.readRef(ref) ?? fail(422, 'Reference does not exist');
    if (repository.git.getType(sha) !== 'commit') fail(422, 'Object does not exist');
    if (isFrozenTag(repository, ref)) failRule('Cannot update this tag, because its release is immutable.');
    if (body.force !== true && !repository.git.isAncestor(old, sha)) {
      fail(422, 'Update is not a fast forward');
    }
    const branch = getBranchName(ref);
    const broken = branch === null ? null : repository.findBrokenRule(sha, old);
    if (broken !== null) fail(422, refuseRefUpdate(broken));
    moveRef(call, ref, sha, old);
    return replyJson(200, formatRef(ref, sha));
  });
}

/** The name of the branch that a ref is; null for other refs. */
function getBranchName(ref: string): string | null {
  return /^refs\/heads\/(.+)$/.exec(ref)?.[1] ?? null;
}

/** The name of the tag that a ref is; empty for other refs. */
function getTagName(ref: string): string {
  return /^refs\/tags\/(.+)$/.exec(ref)?.[1] ?? '';
}

/** The tag of an immutable release can't be moved or deleted as long as the release exists. */
function isFrozenTag({ releaseStore }: TestRepository, ref: string): boolean {
  return releaseStore.findByTag(getTagName(ref))?.immutable === true;
}

/** Nobody has reported the host's words for the tag of an immutable release; rulesets use this form. */
function failRule(rule: string): never {
  fail(422, `Repository rule violations found\n\n${rule}`);
}

function moveRef(call: ApiCall, ref: string, to: string, from: string | null): void {
  const { repository, login } = call;
  const branch = getBranchName(ref);
  const moved =
    branch === null
      ? repository.git.updateRef(ref, to, from)
      : repository.moveBranch(branch, to, from, login);
  if (!moved) failInvalid({ resource: 'Reference', code: 'invalid', field: 'ref' });
}

export const GIT_DATA_ROUTES = [
  createRoute('POST /git/blobs', { contents: 'write' }, createBlob),
  createRoute('POST /git/trees', { contents: 'write' }, createTree),
  createRoute('GET /git/trees/:sha', { contents: 'read' }, showTree),
  createRoute('POST /git/commits', { contents: 'write' }, createCommit),
  createRoute('GET /git/commits/:sha', { contents: 'read' }, showCommit),
  createRoute('GET /git/ref/*ref', { contents: 'read' }, showRef),
  createRoute('POST /git/refs', { contents: 'write' }, createRef),
  createRoute('PATCH /git/refs/*ref', { contents: 'write' }, updateRef),
];
