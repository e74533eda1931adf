import { refuseContents } from '../branch-rules.ts';
import { computeBlobSha, type TreeEntry } from '../git/git-store.ts';
import type { TestRepository } from '../repository.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, getText, readBody, requireText } from './call.ts';
import { fail, failMissing, failNotFound } from './errors.ts';
import { formatGitCommit } from './git-data.ts';
import { createRoute } from './routes.ts';
import { assertValidPath, createAuthors, decodeBase64, isMalformedPath } from './write-checks.ts';

const MEGABYTE = 1024 * 1024;
const INLINE_LIMIT = MEGABYTE;
const SUPPORTED_LIMIT = 100 * MEGABYTE;
const LISTING_LIMIT = 1000;

/** A list calls submodules files, for programs that know no others. */
const TYPES = { blob: 'file', tree: 'dir', commit: 'file' } as const;

function formatEntry(repository: TestRepository, { path, sha, size, type }: TreeEntry, ref: string) {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const isFile = type === 'blob';
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    sha,
    size: size ?? 0,
    type: TYPES[type],
    download_url: isFile ? `${repository.instance.raw}/${repository.fullName}/${ref}/${encoded}` : null,
  };
}

function readContents(call: ApiCall): HostReply {
  const { repository, request, parameters } = call;
  const { git } = repository;
  const ref = request.query.get('ref') ?? repository.branch;
  const path = (parameters.path ?? '').replace(/\/+$/, '');
  if (repository.isEmpty) fail(404, 'This repository is empty.');
  const commit = git.resolve(ref) ?? fail(404, `No commit found for the ref ${ref}`);
  const entry = isMalformedPath(path) ? null : git.entryAt(commit, path);
  if (entry === null) failNotFound();
  if (entry.type === 'commit') return replySubmodule(call, entry, { commit, ref });
  return entry.type === 'tree' ? replyFolder(call, entry, ref) : replyBlob(call, entry, ref);
}

/** A submodule: a commit of another repository, whose files are not part of this one. */
function replySubmodule(
  { repository }: ApiCall,
  entry: TreeEntry,
  { commit, ref }: { readonly commit: string; readonly ref: string },
): HostReply {
  const settings = repository.git.entryAt(commit, '.gitmodules');
  const text = settings === null ? '' : repository.git.readBlob(settings.sha).toString();
  const [, url = null] = new RegExp(`path = ${entry.path}\\n\\s*url = (\\S+)`).exec(text) ?? [];
  const about = formatEntry(repository, entry, ref);
  return replyJson(200, { ...about, type: 'submodule', submodule_git_url: url });
}

function replyFolder(call: ApiCall, entry: TreeEntry, ref: string): HostReply {
  const { repository } = call;
  const prefix = entry.path === '' ? '' : `${entry.path}/`;
  const entries = repository.git.listTree(entry.sha).slice(0, LISTING_LIMIT);
  const views = entries.map((child) =>
    formatEntry(repository, { ...child, path: `${prefix}${child.path}` }, ref),
  );
  if (!isAccepted(call, 'object')) return replyJson(200, views);
  return replyJson(200, { ...formatEntry(repository, entry, ref), entries: views });
}

function replyBlob(call: ApiCall, entry: TreeEntry, ref: string): HostReply {
  const { repository } = call;
  const size = entry.size ?? 0;
  if (size > SUPPORTED_LIMIT) failTooLarge();
  if (isAccepted(call, 'raw')) {
    const headers = { 'content-type': 'application/vnd.github.raw+json', 'content-length': String(size) };
    return { status: 200, headers, body: repository.git.readBlob(entry.sha) };
  }
  const about = formatEntry(repository, entry, ref);
  if (size <= INLINE_LIMIT) {
    const bytes = repository.git.readBlob(entry.sha);
    const content = bytes.toString('base64').replace(/.{60}/g, '$&\n');
    return replyJson(200, { ...about, content: `${content}\n`, encoding: 'base64' });
  }
  if (!isAccepted(call, 'object')) failTooLarge();
  return replyJson(200, { ...about, content: '', encoding: 'none' });
}

function isAccepted({ request }: ApiCall, format: 'raw' | 'object'): boolean {
  return new RegExp(`vnd\\.github\\.(v3\\.)?${format}\\b`).test(request.headers.accept ?? '');
}

function failTooLarge(): never {
  fail(
    403,
    'This API returns blobs up to 1 MB in size. The requested blob is too large to fetch via the API.',
  );
}

/** Creates or replaces one file in one commit. */
async function writeContents(call: ApiCall): Promise<HostReply> {
  const { repository, parameters } = call;
  const path = parameters.path ?? '';
  // The head is read when the request arrives: a branch that moves before the write is a conflict.
  const arrivedAt = repository.head();
  const body = await readBody(call);
  const message = requireText(body, 'message');
  const branch = getText(body, 'branch') ?? repository.branch;
  const sha = getText(body, 'sha');
  assertValidPath(path);
  const bytes = decodeBase64(requireText(body, 'content'));
  const isDefault = branch === repository.branch;
  const expected = isDefault ? arrivedAt : repository.head(branch);
  if (expected === null && !isDefault) fail(404, `Branch ${branch} not found`);
  return repository.runExclusively(async () => {
    const head = repository.head(branch);
    if (head !== expected) fail(409, `is at ${head} but expected ${expected}`);
    const existing = head === null ? null : repository.git.entryAt(head, path);
    assertExpected(path, existing, sha);
    const blob = repository.git.writeBlob(bytes);
    const changes = [{ path, mode: existing?.mode ?? '100644', sha: blob }];
    const { signed, ...authors } = createAuthors(body, call.login);
    const commit = repository.writeCommit(head, changes, { message, ...authors });
    if (signed) repository.signedCommits.add(commit);
    const broken = repository.findBrokenRule(commit, head);
    if (broken !== null) fail(409, refuseContents(broken, existing === null ? 'create' : 'update'));
    repository.moveBranch(branch, commit, head, call.login);
    const content = formatWrittenFile(repository, path, bytes, branch);
    return replyJson(existing === null ? 201 : 200, {
      content,
      commit: formatGitCommit(call, commit),
    });
  });
}

function assertExpected(path: string, existing: TreeEntry | null, sha: string | undefined) {
  // A new file's sha is ignored.
  if (existing === null) return;
  if (existing.type === 'tree') fail(422, `${path} is a directory`);
  if (sha === undefined) failMissing('sha');
  if (sha !== existing.sha) fail(409, `${path} does not match ${sha}`);
}

function formatWrittenFile(repository: TestRepository, path: string, bytes: Buffer, branch: string) {
  const entry = {
    path,
    sha: computeBlobSha(bytes),
    size: bytes.length,
    type: 'blob',
    mode: '100644',
  } as const;
  return formatEntry(repository, entry, branch);
}

export const CONTENTS_ROUTES = [
  createRoute('GET /contents/*path', { contents: 'read' }, readContents),
  createRoute('PUT /contents/*path', { contents: 'write' }, writeContents),
];
