import { describe, expect, test } from '@jest/globals';
import type { DeliveryError } from '../../../src/errors.ts';
import { refusedCallError } from '../../../src/github/api/failures.ts';
import { API, type CallTemplate } from '../../../src/protocol/calls.ts';
import { NOON } from '../../support/ports.ts';

interface Answer {
  readonly message?: string;
  readonly errors?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function refused(
  status: number,
  { headers = {}, ...json }: Answer = {},
  call: CallTemplate = API.put_file_le1mb,
): DeliveryError {
  return refusedCallError({ status, headers, json }, call, NOON);
}

const says = (message: string): Answer => ({ message });
const USED_UP = { 'x-ratelimit-remaining': '0' };
const PAGE = { headers: { 'content-type': 'text/html' } };
const RESET = String(NOON / 1000 + 30);

describe('refusedCallError', () => {
  test.each<[number, Answer, string, RegExp]>([
    [429, {}, 'RATE_LIMITED', /try again later, with fewer deliveries at once, or use channel: K3/],
    [403, { headers: USED_UP }, 'RATE_LIMITED', /later/],
    [403, { headers: { 'retry-after': '7' } }, 'RATE_LIMITED', /later/],
    [403, says('You have exceeded a secondary rate limit'), 'RATE_LIMITED', /later/],
    [422, says('Validation Failed; was submitted too quickly'), 'RATE_LIMITED', /later/],
    [401, says('Bad credentials'), 'BAD_TOKEN', /`token:`.*K3/],
    [403, says('Resource not accessible'), 'NO_PERMISSION', /`permissions: { contents: write }`.*K3/],
    [
      403,
      says('Resource not accessible by personal access token'),
      'NO_PERMISSION',
      /^give the token Contents: Read and write for this repository \(Settings → Developer settings/,
    ],
    [403, says('Permission to o/r.git denied to octo.'), 'NO_PERMISSION', /^give the token Contents:/],
    [403, says('Permission to o/r.git denied to github-actions[bot].'), 'NO_PERMISSION', /`permissions:/],
    [403, says('protected by organization SAML enforcement.'), 'BAD_TOKEN', /^authorize .* single sign-on/],
    [403, says('the `o` organization has an IP allow list enabled'), 'FORBIDDEN_BY_RULE', /IP allow list/],
    [403, says('Repository was archived so is read-only.'), 'FORBIDDEN_BY_RULE', /^unarchive the repository/],
    [403, says('issue is locked.'), 'FORBIDDEN_BY_RULE', /^unlock the conversation/],
    [410, says('Issues has been disabled in this repository.'), 'FORBIDDEN_BY_RULE', /switch issues on/],
    [410, {}, 'HOST_ERROR', /newest version of this tool/],
    [400, says('Problems parsing JSON'), 'HOST_ERROR', /newest version of this tool/],
    [400, says('due to in progress deployment'), 'CONFLICT', /^wait for the other deployment/],
    [400, says('not allowed: environment protection rules'), 'FORBIDDEN_BY_RULE', /^allow the branch/],
    [
      400,
      says('missing environment'),
      'NO_PERMISSION',
      /^run the job in the environment of GitHub Pages: `jobs/,
    ],
    [404, says('Not Found'), 'NOT_FOUND', /`repository:` and `branch:`.*K3/],
    [409, says('Git Repository is empty.'), 'NOT_FOUND', /^push a first commit.*K3/],
    [422, says('tag_name was used by an immutable release'), 'TAG_USED_UP', /set `tag:`/],
    [422, says('Cannot upload assets to an immutable release.'), 'FORBIDDEN_BY_RULE', /set `tag:`.*K3/],
    [422, says('file_count limited to 1000 assets per release'), 'FORBIDDEN_BY_RULE', /set `tag:`/],
    [422, says('Sorry, your input was too large to process.'), 'TOO_LARGE', /K2.* for a file of this size/],
    [413, {}, 'TOO_LARGE', /K2.* for a file of this size/],
    [413, PAGE, 'TOO_LARGE', /K2/],
    [409, says('Repository rule violations; Secret detected in content'), 'FORBIDDEN_BY_RULE', /^remove/],
    [
      409,
      says('Repository rule violations found; File extension .exe is restricted'),
      'FORBIDDEN_BY_RULE',
      /^a push rule of the repository forbids this name or size/,
    ],
    [
      409,
      says('Repository rule violations found\n\nCommits must have verified signatures.'),
      'NEEDS_SIGNATURE',
      /^set `branch:` to a branch without this rule/,
    ],
    [409, says('a.html does not match 0123'), 'CONFLICT', /^another job wrote at the same time.*K3/],
    ...['is at 0123 but expected 4567', `"sha" wasn't supplied.`, 'Update is not a fast forward'].map(
      (text): [number, Answer, string, RegExp] => [422, says(text), 'CONFLICT', /another job/],
    ),
    [422, { message: 'Validation Failed', errors: [{ code: 'already_exists' }] }, 'CONFLICT', /another job/],
    [422, says('content is not valid Base64'), 'HOST_ERROR', /^try again.*K3/],
    // An unknown 409 is not blamed on another writer.
    [409, says('The moon is full'), 'HOST_ERROR', /^try again/],
    [304, {}, 'HOST_ERROR', /^try again/],
    [408, PAGE, 'HOST_ERROR', /^try again/],
    [500, {}, 'HOST_ERROR', /^try again.*K3/],
  ])('explains HTTP %i %j: %s', (status, answer, code, hint) => {
    const isPassing = code === 'HOST_ERROR' ? [304, 408, 409].includes(status) || status >= 500 : undefined;
    const retryable = isPassing ?? (code === 'RATE_LIMITED' || (code === 'CONFLICT' && status !== 400));
    expect(refused(status, answer)).toMatchObject({
      code,
      httpCode: status,
      retryable,
      hint: expect.stringMatching(hint),
    });
  });

  test('takes a commit that a copy of the repository does not have yet for no absence, unlike a branch', () => {
    const says404 = (ref: string) => refused(404, says(`No commit found for the ref ${ref}`));
    expect(says404('a'.repeat(40))).toMatchObject({ code: 'HOST_ERROR', retryable: true });
    expect(says404('gh-pages')).toMatchObject({ code: 'NOT_FOUND' });
  });

  test.each([
    'Could not create file: Required status check "ci" is expected.',
    'At least 1 approving review is required by reviewers with write access.',
    "You're not authorized to push to this branch.",
    'Repository rule violations found\n\nChanges must be made through the merge queue',
    'Cannot change this locked branch',
    'Cannot update this protected branch',
    'This branch must not contain merge commits.',
    'Cannot create ref due to creations being restricted.',
  ])('takes %j for a rule of the branch, which is final, and not for a race', (message) => {
    for (const status of [403, 409, 422]) {
      const failure = refused(status, { message });
      expect(failure).toMatchObject({ code: 'FORBIDDEN_BY_RULE', retryable: false });
      for (const word of ['Settings → Pages', '`branch:`', 'K2']) expect(failure.hint).toContain(word);
    }
  });

  test("names the call, the HTTP code and the host's whole reason, in one line", () => {
    const errors = [{ code: 'custom' }, 'text', { message: 'two\n lines' }, { message: 'text' }];
    const { message } = refused(422, { message: 'Bad path', errors });
    expect(message).toBe('writing the file failed with HTTP 422: Bad path; custom; text; two lines');
    expect(refused(422, { message: 'm', errors: 'e' }).message).toContain('m; e');
    expect(refused(500).message).toBe('writing the file failed with HTTP 500');
  });

  test.each([
    [{ message: 'm', errors: [null, 7, [null]] }, ': m'],
    [{ message: { toString: 1 }, errors: [{ message: { toString: 1 }, code: 'c' }] }, ': c'],
    [[null], ''],
    ['text', ''],
  ])('reads no more than the texts of odd JSON: %j', (json, said) => {
    const failure = refusedCallError({ status: 422, headers: {}, json }, API.put_file_le1mb, NOON);
    expect(failure.message).toBe(`writing the file failed with HTTP 422${said}`);
    expect(refusedCallError({ status: 200, headers: {}, json }, API.graphql, NOON).code).toBe('HOST_ERROR');
  });

  test.each<[string, CallTemplate]>([
    ['{ pull-requests: write }', API.create_comment],
    ['{ pages: read }', API.pages_site],
    ['set `token:`', API.graphql],
  ])('names after a 403 the permission: %s', (words, call) => {
    expect(refused(403, {}, call).hint).toContain(words);
  });

  test.each<[string, number, Readonly<Record<string, string>>, number | undefined]>([
    ['by Retry-After', 403, { ...USED_UP, 'retry-after': '7', 'x-ratelimit-reset': '1' }, 7_000],
    ['until a second after the reset', 403, { ...USED_UP, 'x-ratelimit-reset': RESET }, 31_000],
    [
      'by the clock of the host',
      403,
      { ...USED_UP, 'x-ratelimit-reset': RESET, date: new Date(NOON + 20_000).toUTCString() },
      11_000,
    ],
    ['a second after a reset in the past', 429, { ...USED_UP, 'x-ratelimit-reset': '1' }, 1_000],
    ['as the policy has it where requests are left', 429, { 'x-ratelimit-reset': RESET }, undefined],
  ])('returns how long to wait: %s', (_, status, headers, pause) => {
    expect(refused(status, { headers }).retryAfter).toBe(pause);
  });
});
