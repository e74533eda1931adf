import { json, type Reply } from '../front/http.ts';
import { blobSha, type TreeEntry } from '../git/bare-repository.ts';
import type { WorldRepository } from '../repository.ts';
import { bodyOf, type Call, requiredText, textField } from './call.ts';
import { fail, missing, notFound } from './errors.ts';
import { apiUrl, pageUrl } from './repository.ts';
import { route } from './routes.ts';
import { assertAcceptable, assertUnprotected, fromBase64, isMalformed, workflowAuthor } from './writing.ts';

const MEGABYTE = 1024 * 1024;
const INLINE_LIMIT = MEGABYTE;
const SUPPORTED_LIMIT = 100 * MEGABYTE;
const LISTING_LIMIT = 1000;

function entryView(repository: WorldRepository, { path, sha, size, type }: TreeEntry, ref: string) {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const isFile = type === 'blob';
  const html = `${pageUrl(repository)}/${isFile ? 'blob' : 'tree'}/${ref}/${encoded}`;
  const url = `${apiUrl(repository)}/contents/${encoded}?ref=${ref}`;
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    sha,
    size: size ?? 0,
    type: isFile ? 'file' : 'dir',
    url,
    html_url: html,
    git_url: `${apiUrl(repository)}/git/${isFile ? 'blobs' : 'trees'}/${sha}`,
    download_url: isFile ? `${repository.instance.raw}/${repository.fullName}/${ref}/${encoded}` : null,
  };
}

async function read(call: Call): Promise<Reply> {
  const { repository, request, parameters } = call;
  const { git } = repository;
  const ref = request.query.get('ref') ?? repository.branch;
  const path = (parameters.path ?? '').replace(/\/+$/, '');
  if ((await repository.head()) === null) fail(404, 'This repository is empty.');
  const commit = (await git.resolve(ref)) ?? fail(404, `No commit found for the ref ${ref}`);
  if (path === '') return directory(call, { path, type: 'tree', sha: commit, size: null, mode: '' }, ref);
  const entry = isMalformed(path) ? null : await git.entryAt(commit, path);
  if (entry === null) notFound();
  return entry.type === 'tree' ? directory(call, entry, ref) : await blob(call, entry, ref);
}

async function directory(call: Call, entry: TreeEntry, ref: string): Promise<Reply> {
  const { repository } = call;
  const prefix = entry.path === '' ? '' : `${entry.path}/`;
  const entries = (await repository.git.listTree(entry.sha)).slice(0, LISTING_LIMIT);
  const views = entries.map((child) =>
    entryView(repository, { ...child, path: `${prefix}${child.path}` }, ref),
  );
  if (!accepts(call, 'object')) return json(200, views);
  return json(200, { ...entryView(repository, entry, ref), entries: views });
}

async function blob(call: Call, entry: TreeEntry, ref: string): Promise<Reply> {
  const { repository } = call;
  const size = entry.size ?? 0;
  if (size > SUPPORTED_LIMIT) tooLarge();
  if (accepts(call, 'raw')) {
    const headers = { 'content-type': 'application/vnd.github.raw+json', 'content-length': String(size) };
    return { status: 200, headers, body: repository.git.streamBlob(entry.sha) };
  }
  const about = entryView(repository, entry, ref);
  if (size <= INLINE_LIMIT) {
    const bytes = await repository.git.readBlob(entry.sha);
    const content = bytes.toString('base64').replace(/.{60}/g, '$&\n');
    return json(200, { ...about, content: `${content}\n`, encoding: 'base64' });
  }
  if (!accepts(call, 'object')) tooLarge();
  return json(200, { ...about, content: '', encoding: 'none' });
}

function accepts({ request }: Call, format: 'raw' | 'object'): boolean {
  return new RegExp(`vnd\\.github\\.(v3\\.)?${format}\\b`).test(request.headers.accept ?? '');
}

function tooLarge(): never {
  fail(
    403,
    'This API returns blobs up to 1 MB in size. The requested blob is too large to fetch via the API.',
  );
}

/** Creates, replaces or deletes one file in one commit. */
async function write(call: Call, change: 'put' | 'delete'): Promise<Reply> {
  const { repository, parameters } = call;
  const path = parameters.path ?? '';
  // The head is looked at when the request arrives: a branch that moves before the write is a conflict.
  const arrivedAt = await repository.head();
  const body = await bodyOf(call);
  const message = requiredText(body, 'message');
  const branch = textField(body, 'branch') ?? repository.branch;
  const sha = textField(body, 'sha');
  assertAcceptable(path);
  const bytes = change === 'put' ? fromBase64(requiredText(body, 'content')) : null;
  const isDefault = branch === repository.branch;
  const expected = isDefault ? arrivedAt : await repository.head(branch);
  if (expected === null && !(isDefault && change === 'put')) fail(404, `Branch ${branch} not found`);
  return repository.exclusively(async () => {
    const head = await repository.head(branch);
    if (head !== expected) fail(409, `is at ${head} but expected ${expected}`);
    const existing = head === null ? null : await repository.git.entryAt(head, path);
    assertExpected(path, existing, sha, change);
    assertUnprotected(repository, 409);
    const blob = bytes === null ? null : await repository.git.writeBlob(bytes);
    const changes = [{ path, mode: existing?.mode ?? '100644', sha: blob }];
    const commit = await repository.writeCommit(head, changes, { message, ...workflowAuthor(body) });
    await repository.moveBranch(branch, commit, head);
    const content = bytes === null ? null : written(repository, path, bytes, branch);
    return json(existing === null ? 201 : 200, { content, commit: commitView(repository, commit, message) });
  });
}

function assertExpected(path: string, existing: TreeEntry | null, sha: string | undefined, change: string) {
  if (existing === null) {
    // A new file's sha is ignored.
    if (change === 'delete') notFound();
    return;
  }
  if (existing.type === 'tree') fail(422, `${path} is a directory`);
  if (sha === undefined) missing('sha');
  if (sha !== existing.sha) fail(409, `${path} does not match ${sha}`);
}

function written(repository: WorldRepository, path: string, bytes: Buffer, branch: string) {
  const entry = { path, sha: blobSha(bytes), size: bytes.length, type: 'blob', mode: '100644' } as const;
  return entryView(repository, entry, branch);
}

function commitView(repository: WorldRepository, sha: string, message: string) {
  return {
    sha,
    message,
    url: `${apiUrl(repository)}/git/commits/${sha}`,
    html_url: `${pageUrl(repository)}/commit/${sha}`,
  };
}

export const contentsRoutes = [
  route('GET /contents', { contents: 'read' }, read),
  route('GET /contents/*path', { contents: 'read' }, read),
  route('PUT /contents/*path', { contents: 'write' }, (call) => write(call, 'put')),
  route('DELETE /contents/*path', { contents: 'write' }, (call) => write(call, 'delete')),
];
