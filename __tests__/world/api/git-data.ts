import { json, type Reply } from '../front/http.ts';
import type { TreeChange } from '../git/bare-repository.ts';
import { bodyOf, type Call, requiredText, textField } from './call.ts';
import { verification } from './commits.ts';
import { fail, invalid, missing, notFound } from './errors.ts';
import { apiUrl, pageUrl } from './repository.ts';
import { route } from './routes.ts';
import { assertUnprotected, fromBase64, isMalformed, workflowAuthor } from './writing.ts';

async function assertNotEmpty({ repository }: Call): Promise<void> {
  if ((await repository.head()) === null) fail(409, 'Git Repository is empty.');
}

async function createBlob(call: Call): Promise<Reply> {
  const { repository } = call;
  await assertNotEmpty(call);
  const body = await bodyOf(call);
  const content = requiredText(body, 'content');
  const isBase64 = textField(body, 'encoding') === 'base64';
  const sha = await repository.git.writeBlob(isBase64 ? fromBase64(content) : Buffer.from(content));
  return json(201, { sha, url: `${apiUrl(repository)}/git/blobs/${sha}` });
}

async function showBlob({ repository, parameters }: Call): Promise<Reply> {
  const { sha = '' } = parameters;
  if ((await repository.git.typeOf(sha)) !== 'blob') notFound();
  const bytes = await repository.git.readBlob(sha);
  return json(200, { sha, size: bytes.length, encoding: 'base64', content: bytes.toString('base64') });
}

async function treeView({ repository, request }: Call, sha: string) {
  const recursive = request.query.get('recursive') !== null;
  const entries = await repository.git.listTree(sha, { recursive });
  const tree = entries.map(({ path, mode, type, sha, size }) =>
    size === null ? { path, mode, type, sha } : { path, mode, type, sha, size },
  );
  return { sha, url: `${apiUrl(repository)}/git/trees/${sha}`, tree, truncated: false };
}

async function createTree(call: Call): Promise<Reply> {
  const { git } = call.repository;
  await assertNotEmpty(call);
  const body = await bodyOf(call);
  const base = textField(body, 'base_tree') ?? null;
  if (base !== null && (await git.typeOf(base)) !== 'tree') fail(422, 'base_tree is not a valid tree oid');
  if (!Array.isArray(body.tree)) missing('tree');
  const changes = [];
  for (const item of body.tree) changes.push(await treeChange(call, base, item));
  const sha = await git.writeTree(base, changes);
  return json(201, await treeView(call, sha));
}

async function treeChange({ repository }: Call, base: string | null, item: unknown): Promise<TreeChange> {
  const { git } = repository;
  const { path, mode = '100644', sha, content } = item as Record<string, unknown>;
  if (typeof path !== 'string' || isMalformed(path)) {
    fail(422, 'tree.path contains a malformed path component');
  }
  if (sha === null) {
    const existing = base === null ? null : await git.entryAt(base, path);
    if (existing === null) fail(422, 'GitRPC::BadObjectState');
    return { path, mode: '100644', sha: null };
  }
  if (typeof content === 'string') {
    return { path, mode: String(mode), sha: await git.writeBlob(Buffer.from(content)) };
  }
  if (typeof sha !== 'string' || (await git.typeOf(sha)) === null) {
    fail(422, `tree.sha ${sha} is not a valid blob`);
  }
  return { path, mode: String(mode), sha };
}

async function showTree(call: Call): Promise<Reply> {
  const { repository, parameters } = call;
  await assertNotEmpty(call);
  const { sha = '' } = parameters;
  const type = await repository.git.typeOf(sha);
  if (type !== 'tree' && type !== 'commit') notFound();
  return json(200, await treeView(call, type === 'tree' ? sha : (await repository.git.commit(sha)).tree));
}

async function commitView({ repository }: Call, sha: string) {
  const { tree, parents, ...commit } = await repository.git.commit(sha);
  return {
    ...commit,
    tree: { sha: tree },
    parents: parents.map((parent) => ({ sha: parent })),
    verification: verification(commit),
    url: `${apiUrl(repository)}/git/commits/${sha}`,
    html_url: `${pageUrl(repository)}/commit/${sha}`,
  };
}

async function createCommit(call: Call): Promise<Reply> {
  const { git } = call.repository;
  await assertNotEmpty(call);
  const body = await bodyOf(call);
  const message = requiredText(body, 'message');
  const tree = requiredText(body, 'tree');
  const parents = Array.isArray(body.parents) ? body.parents.map(String) : [];
  if ((await git.typeOf(tree)) !== 'tree') fail(422, 'Tree SHA does not exist');
  for (const parent of parents) {
    if ((await git.typeOf(parent)) !== 'commit') {
      fail(422, 'Parent SHA does not exist or is not a commit object');
    }
  }
  const sha = await git.writeCommit({ tree, parents, message, ...workflowAuthor(body) });
  return json(201, await commitView(call, sha));
}

async function showCommit(call: Call): Promise<Reply> {
  const { repository, parameters } = call;
  const { sha = '' } = parameters;
  if ((await repository.git.typeOf(sha)) !== 'commit') notFound();
  return json(200, await commitView(call, sha));
}

function refView({ repository }: Call, ref: string, sha: string) {
  const url = `${apiUrl(repository)}/git/${ref}`;
  const object = { type: 'commit', sha, url: `${apiUrl(repository)}/git/commits/${sha}` };
  return { ref, url, object };
}

async function showRef(call: Call): Promise<Reply> {
  await assertNotEmpty(call);
  const ref = `refs/${call.parameters.ref}`;
  const sha = (await call.repository.git.readRef(ref)) ?? notFound();
  return json(200, refView(call, ref, sha));
}

async function createRef(call: Call): Promise<Reply> {
  const { repository } = call;
  await assertNotEmpty(call);
  const body = await bodyOf(call);
  const ref = requiredText(body, 'ref');
  const sha = requiredText(body, 'sha');
  if ((await repository.git.typeOf(sha)) !== 'commit') fail(422, 'Object does not exist');
  return repository.exclusively(async () => {
    if ((await repository.git.readRef(ref)) !== null) fail(422, 'Reference already exists');
    await move(call, ref, sha, null);
    return json(201, refView(call, ref, sha));
  });
}

async function updateRef(call: Call): Promise<Reply> {
  const { repository, parameters } = call;
  await assertNotEmpty(call);
  const body = await bodyOf(call);
  const sha = requiredText(body, 'sha');
  const ref = `refs/${parameters.ref}`;
  return repository.exclusively(async () => {
    const old = (await repository.git.readRef(ref)) ?? fail(422, 'Reference does not exist');
    if ((await repository.git.typeOf(sha)) !== 'commit') fail(422, 'Object does not exist');
    assertUnprotected(repository, 422);
    if (body.force !== true && !(await repository.git.isAncestor(old, sha))) {
      fail(422, 'Update is not a fast forward');
    }
    await move(call, ref, sha, old);
    return json(200, refView(call, ref, sha));
  });
}

async function deleteRef({ repository, parameters }: Call): Promise<Reply> {
  const ref = `refs/${parameters.ref}`;
  const old = (await repository.git.readRef(ref)) ?? fail(422, 'Reference does not exist');
  await repository.git.updateRef(ref, '0'.repeat(40), old);
  return { status: 204 };
}

async function move({ repository }: Call, ref: string, to: string, from: string | null): Promise<void> {
  const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
  const moved =
    branch === undefined
      ? await repository.git.updateRef(ref, to, from)
      : await repository.moveBranch(branch, to, from);
  if (!moved) invalid({ resource: 'Reference', code: 'invalid', field: 'ref' });
}

export const gitDataRoutes = [
  route('POST /git/blobs', { contents: 'write' }, createBlob),
  route('GET /git/blobs/:sha', { contents: 'read' }, showBlob),
  route('POST /git/trees', { contents: 'write' }, createTree),
  route('GET /git/trees/:sha', { contents: 'read' }, showTree),
  route('POST /git/commits', { contents: 'write' }, createCommit),
  route('GET /git/commits/:sha', { contents: 'read' }, showCommit),
  route('GET /git/ref/*ref', { contents: 'read' }, showRef),
  route('POST /git/refs', { contents: 'write' }, createRef),
  route('PATCH /git/refs/*ref', { contents: 'write' }, updateRef),
  route('DELETE /git/refs/*ref', { contents: 'write' }, deleteRef),
];
