import { refuseContents } from '../branch-rules.ts';
import type { TreeEntry } from '../git/git-store.ts';
import { type HostReply, replyJson } from '../server/messages.ts';
import { type ApiCall, createRoute, getText, requireText } from './call.ts';
import { fail, failMissing, failNotFound } from './errors.ts';
import { createAuthors, decodeBase64 } from './write-checks.ts';

const TYPES = { blob: 'file', tree: 'dir', commit: 'submodule' } as const;

const formatEntry = ({ path, sha, type }: TreeEntry) => ({ path, sha, type: TYPES[type] });

function readContents({ repository, request, parameters: { path = '' } }: ApiCall): HostReply {
  const { git } = repository;
  const ref = request.query.get('ref') ?? repository.branch;
  if (repository.isEmpty) fail(404, 'This repository is empty.');
  const commit = git.resolve(ref) ?? fail(404, `No commit found for the ref ${ref}`);
  return replyJson(200, formatEntry(git.entryAt(commit, path) ?? failNotFound()));
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
    const { signed, ...authors } = createAuthors(call);
    const commit = repository.writeCommit(head, changes, { message, ...authors });
    if (signed) repository.signedCommits.add(commit);
    const broken = repository.findBrokenRule(commit, head);
    if (broken !== null) fail(409, refuseContents(broken, existing === null ? 'create' : 'update'));
    repository.moveBranch(branch, commit, head, call.login);
    const written = repository.git.entryAt(commit, path);
    return replyJson(existing === null ? 201 : 200, {
      content: written && formatEntry(written),
      commit: { sha: commit },
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
