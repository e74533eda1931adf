import { refuseContents } from '../branch-rules.ts';
import type { TreeEntry } from '../git/git-store.ts';
import type { TestRepository } from '../repository.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, createRoute, getText, requireText } from './call.ts';
import { fail, failMissing, failNotFound } from './errors.ts';
import { formatGitCommit } from './git-data.ts';
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
  const about = formatEntry(repository, entry, ref);
  const acceptsObject = /vnd\.github\.object\b/.test(request.headers.accept ?? '');
  // A submodule is a commit of another repository, whose files are not part of this one.
  if (entry.type === 'commit') return replyJson(200, { ...about, type: 'submodule' });
  if (entry.type === 'tree') {
    const entries = git
      .listTree(entry.sha)
      .slice(0, LISTING_LIMIT)
      .map((child) => formatEntry(repository, { ...child, path: `${path}/${child.path}` }, ref));
    return replyJson(200, acceptsObject ? { ...about, entries } : entries);
  }
  const size = entry.size ?? 0;
  if (size > (acceptsObject ? SUPPORTED_LIMIT : INLINE_LIMIT)) {
    fail(
      403,
      'This API returns blobs up to 1 MB in size. The requested blob is too large to fetch via the API.',
    );
  }
  if (size > INLINE_LIMIT) return replyJson(200, { ...about, content: '', encoding: 'none' });
  const content = git.readBlob(entry.sha).toString('base64').replace(/.{60}/g, '$&\n');
  return replyJson(200, { ...about, content: `${content}\n`, encoding: 'base64' });
}

/** Creates or replaces one file in one commit. */
function writeContents(call: ApiCall): Promise<HostReply> {
  const { repository, parameters, body } = call;
  const path = parameters.path ?? '';
  // The head is read when the request arrives: a branch that moves before the write is a conflict.
  const arrivedAt = repository.head();
  const message = requireText(body, 'message');
  const branch = getText(body, 'branch') ?? repository.branch;
  const sha = getText(body, 'sha');
  assertValidPath(path);
  const bytes = decodeBase64(requireText(body, 'content'));
  const isDefault = branch === repository.branch;
  const expected = isDefault ? arrivedAt : repository.head(branch);
  if (expected === null && !isDefault) fail(404, `Branch ${branch} not found`);
  return repository.runExclusively(() => {
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
    const written = repository.git.entryAt(commit, path);
    return replyJson(existing === null ? 201 : 200, {
      content: written && formatEntry(repository, written, branch),
      commit: formatGitCommit(repository, commit),
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

export const CONTENTS_ROUTES = [
  createRoute('GET /contents/*path', { contents: 'read' }, readContents),
  createRoute('PUT /contents/*path', { contents: 'write' }, writeContents),
];
