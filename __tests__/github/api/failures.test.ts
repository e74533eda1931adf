import { describe, expect, test } from '@jest/globals';
import type { DeliveryError } from '../../../src/errors.ts';
import { type ApiRefusal, parseErrorBody, refusalError } from '../../../src/github/api/failures.ts';
import { shortHostMessage } from '../../../src/http/response.ts';
import { API } from '../../../src/protocol/calls.ts';
import { NOON } from '../../support/ports.ts';

const refused = (status: number, more: Partial<ApiRefusal> = {}): DeliveryError =>
  refusalError({ status, message: '', headers: {}, codes: [], ...more }, API.put_file_le1mb, NOON);

describe('refusalError', () => {
  test.each([
    [429, {}, 'RATE_LIMITED', true],
    [403, { headers: { 'x-ratelimit-remaining': '0' } }, 'RATE_LIMITED', true],
    [403, { headers: { 'retry-after': '7' } }, 'RATE_LIMITED', true],
    [403, { message: 'You have exceeded a secondary rate limit' }, 'RATE_LIMITED', true],
    [403, { message: 'You have triggered an abuse detection mechanism.' }, 'RATE_LIMITED', true],
    [422, { message: 'Validation Failed; was submitted too quickly' }, 'RATE_LIMITED', true],
    [
      403,
      {
        message: 'Resource not accessible by integration',
        headers: { 'x-ratelimit-remaining': '0' },
      },
      'NO_PERMISSION',
      false,
    ],
    [304, {}, 'HOST_ERROR', true],
    [401, { message: 'Bad credentials' }, 'BAD_TOKEN', false],
    [403, { message: 'Resource not accessible by integration' }, 'NO_PERMISSION', false],
    [403, { headers: { 'x-github-sso': 'required; url=https://github.com/orgs/o/sso' } }, 'BAD_TOKEN', false],
    [403, { message: 'Resource protected by organization SAML enforcement.' }, 'BAD_TOKEN', false],
    [403, { message: 'the `o` organization has an IP allow list enabled' }, 'FORBIDDEN_BY_RULE', false],
    [404, { message: 'Not Found' }, 'NOT_FOUND', false],
    [409, { message: 'Repository rule violations found' }, 'FORBIDDEN_BY_RULE', false],
    [422, { message: 'Changes must be made through a pull request.' }, 'FORBIDDEN_BY_RULE', false],
    [422, { message: 'Cannot upload assets to an immutable release.' }, 'FORBIDDEN_BY_RULE', false],
    [422, { message: 'Cannot update this protected branch' }, 'FORBIDDEN_BY_RULE', false],
    [413, {}, 'TOO_LARGE', false],
    [413, { headers: { 'content-type': 'text/html' } }, 'TOO_LARGE', false],
    [408, { headers: { 'content-type': 'text/html' } }, 'HOST_ERROR', true],
    [422, { message: 'Sorry, your input was too large to process.' }, 'TOO_LARGE', false],
    [409, { message: 'Git Repository is empty.' }, 'NOT_FOUND', false],
    [422, { message: 'Validation Failed; Repository is empty.' }, 'NOT_FOUND', false],
    [404, { message: 'Branch drafts not found' }, 'NOT_FOUND', false],
    [409, { message: 'a.html does not match 0123' }, 'CONFLICT', true],
    [422, { message: `Invalid request. "sha" wasn't supplied.` }, 'CONFLICT', true],
    [422, { message: 'Update is not a fast forward' }, 'CONFLICT', true],
    [422, { message: 'Reference already exists' }, 'CONFLICT', true],
    [422, { message: 'Validation Failed', codes: ['already_exists'] }, 'CONFLICT', true],
    [408, {}, 'HOST_ERROR', true],
    [500, {}, 'HOST_ERROR', true],
    [503, {}, 'HOST_ERROR', true],
    [400, { message: 'Problems parsing JSON' }, 'HOST_ERROR', false],
    [422, { message: 'content is not valid Base64' }, 'HOST_ERROR', false],
  ] as const)('maps HTTP %i %o to %s, retryable: %s', (status, more, code, retryable) => {
    expect(refused(status, more)).toMatchObject({ code, retryable, httpCode: status });
  });

  test.each([
    [
      403,
      { message: 'Resource protected by organization SAML enforcement.' },
      /^authorize the token for the organization's single sign-on/,
    ],
    [403, { message: 'your IP address is not permitted: IP allow list enabled' }, /IP allow list/],
    [
      409,
      { message: 'Repository rule violations found; File extension .exe is restricted' },
      /^a push rule of the repository forbids the name or the size/,
    ],
    [
      409,
      { message: 'Repository rule violations found; Changes must be made through a pull request.' },
      /^set `branch:`/,
    ],
  ] as const)('gives for HTTP %i %o a hint that helps, and no permission', (status, more, hint) => {
    const error = refused(status, more);
    expect(error.hint).toMatch(hint);
    expect(error.hint).not.toContain('permissions:');
  });

  test('names the call, the HTTP code and the host’s message', () => {
    expect(refused(422, { message: 'Bad path' }).message).toBe(
      'writing the file answered HTTP 422: Bad path',
    );
    expect(refused(500).message).toBe('writing the file answered HTTP 500');
  });

  test('names the permissions that the host requires as YAML', () => {
    const headers = { 'x-accepted-github-permissions': 'pull_requests=write,contents=write; metadata=read' };
    expect(refused(403, { headers }).hint).toContain(
      '`permissions: { pull-requests: write, contents: write }`',
    );
  });

  test.each([
    ['deployments: read', API.deployments],
    ['pages: read', API.pages_site],
    ['pull-requests: write', API.create_comment],
    ['contents: write', API.update_ref],
  ])('names %s, which the call needs, where the host names no permission', (permission, call) => {
    const refusal = { status: 403, message: '', headers: {}, codes: [] };
    expect(refusalError(refusal, call, NOON).hint).toContain(`\`permissions: { ${permission} }\``);
  });

  test('prefers the permission in the table of calls to another one that the host accepts', () => {
    const headers = { 'x-accepted-github-permissions': 'issues=write; pull_requests=write' };
    const refusal = { status: 403, message: '', headers, codes: [] };
    expect(refusalError(refusal, API.create_comment, NOON).hint).toContain('{ pull-requests: write }');
  });

  test('asks for another token where a call needs no permission of the job', () => {
    const refusal = { status: 403, message: '', headers: {}, codes: [] };
    expect(refusalError(refusal, API.graphql, NOON).hint).toContain('set `token:`');
  });

  test.each([
    'Could not create file: Required status check "ci" is expected.',
    '2 of 2 required status checks are expected.',
    'Required status check "build" is failing',
    'At least 1 approving review is required by reviewers with write access.',
    "You're not authorized to push to this branch. Visit https://docs.github.com for more information.",
    'Changes must be made through the merge queue',
    'Cannot change this locked branch',
    'This branch must not contain merge commits.',
    'Cannot create ref due to creations being restricted.',
  ])('takes %j for a rule, which is final, and not for a race', (message) => {
    for (const status of [403, 409, 422]) {
      const failure = refused(status, { message });
      expect(failure).toMatchObject({ code: 'FORBIDDEN_BY_RULE', retryable: false });
      expect(failure.hint).not.toContain('another job');
      for (const word of ['pull request', '`branch:`', '`token:`', 'K2'])
        expect(failure.hint).toContain(word);
    }
  });

  test('takes a rule on signatures for one of its own', () => {
    const message = 'Repository rule violations found\n\nCommits must have verified signatures.';
    expect(refused(409, { message })).toMatchObject({ code: 'NEEDS_SIGNATURE', retryable: false });
  });

  test('does not say that another job writes where a 409 has an unknown reason', () => {
    const failure = refused(409, { message: 'The moon is full' });
    expect(failure).toMatchObject({ code: 'HOST_ERROR', retryable: true });
    expect(failure.hint).not.toContain('another job');
  });

  test.each([
    [403, 'Repository was archived so is read-only.', 'FORBIDDEN_BY_RULE', 'unarchive it'],
    [
      403,
      'Unable to create comment because issue is locked.',
      'FORBIDDEN_BY_RULE',
      'unlock the conversation',
    ],
    [
      409,
      'Repository rule violations found; Secret detected in content',
      'FORBIDDEN_BY_RULE',
      'remove the secret',
    ],
    [410, 'Issues has been disabled in this repository.', 'FORBIDDEN_BY_RULE', 'switch issues on'],
    [410, '', 'HOST_ERROR', 'newest version of this tool'],
    [422, 'Validation Failed; file_count limited to 1000 assets per release', 'TOO_LARGE', 'set `tag:`'],
    [422, 'Reference does not exist', 'NOT_FOUND', '`branch:`'],
    [422, 'Validation Failed; size must be less than or equal to 2147483648', 'TOO_LARGE', 'channel: K3'],
    [
      400,
      'Bad Request: The version you specified in the "X-GitHub-API-Version" request header, "2022-11-28", is not a supported version.',
      'HOST_ERROR',
      'newest version of this tool',
    ],
    [451, '', 'FORBIDDEN_BY_RULE', 'set `repository:`'],
  ] as const)('has its own meaning and hint for HTTP %i %j', (status, message, code, words) => {
    const failure = refused(status, { message });
    expect(failure).toMatchObject({ code, retryable: false, httpCode: status });
    expect(failure.hint).toContain(words);
  });

  test('says what 410 and 451 mean where the answer is empty', () => {
    expect(refused(410).message).toContain('GitHub does not offer this any more');
    expect(refused(451).message).toContain('blocked for legal reasons');
  });

  test.each([
    ['`token:`', 'K3', 401, {}],
    ['`permissions: { contents: write }`', 'K3', 403, {}],
    ['`repository:` and `branch:`', 'K3', 404, {}],
    ['set `branch:` to one that exists', 'K2', 404, { message: 'Branch drafts not found' }],
    ['set `tag:` to another one', 'K3', 422, { message: 'Cannot upload assets to an immutable release.' }],
    ['one that may bypass the rule', 'K2', 409, { message: 'Repository rule violations found' }],
    ['set `branch:` to one without the rule', 'K2', 422, { message: 'Cannot update this protected branch' }],
    ['for a file of this size', 'K2', 413, {}],
    ['push a first one', 'K3', 409, { message: 'Git Repository is empty.' }],
    ['push a first one', 'K3', 422, { message: 'Validation Failed; Repository is empty.' }],
    ['another job writes here too', 'K3', 409, { message: 'a.html does not match 0123' }],
    ['run fewer deliveries at once, or later', 'K3', 429, {}],
    ['try again', 'K3', 502, {}],
    ['try again', 'K3', 400, { message: 'Problems parsing JSON' }],
  ] as const)(
    'has a hint with what to change (%s) and another channel (%s)',
    (words, channel, status, more) => {
      const { hint } = refused(status, more);
      expect(hint).toContain(words);
      expect(hint).toContain(`use channel: ${channel}`);
    },
  );
});

describe('refusalError: retryAfter', () => {
  test('is the time in Retry-After', () => {
    const both = { 'retry-after': '7', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' };
    expect(refused(403, { headers: both }).retryAfter).toBe(7_000);
    expect(refused(503, { headers: { 'retry-after': '3' } }).retryAfter).toBe(3_000);
  });

  test('is measured by the clock of the host where that tells the time', () => {
    const headers = {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(NOON / 1000 + 30),
      date: new Date(NOON + 20_000).toUTCString(),
    };
    expect(refused(403, { headers }).retryAfter).toBe(11_000);
  });

  test('lasts until a second after the rate limit is reset', () => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOON / 1000 + 30) };
    expect(refused(403, { headers }).retryAfter).toBe(31_000);
  });

  test('is not negative when the reset is in the past', () => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOON / 1000 - 30) };
    expect(refused(429, { headers }).retryAfter).toBe(1_000);
  });

  test.each([
    ['a rate limit without a time', refused(429)],
    [
      'a rate limit with requests left',
      refused(429, { headers: { 'x-ratelimit-remaining': '12', 'x-ratelimit-reset': '1' } }),
    ],
    ['any other failure', refused(500)],
  ])('is undefined for %s', (_, failed) => {
    expect(failed.retryAfter).toBeUndefined();
  });
});

describe('parseErrorBody', () => {
  test('returns the message and the codes of the errors', () => {
    const body = { message: 'two\n lines', errors: [{ code: 'custom' }, 'text', null, { field: 'x' }] };
    expect(parseErrorBody(body)).toEqual({ message: 'two lines; text', codes: ['custom'] });
  });

  test.each<unknown>(['<html>', null, undefined])('returns nothing for %j', (body) => {
    expect(parseErrorBody(body)).toEqual({ message: '', codes: [] });
  });

  test('returns errors that are no list of objects as a part of the message', () => {
    expect(parseErrorBody({ message: 'm', errors: 'e' })).toEqual({ message: 'm; e', codes: [] });
  });
});

describe('shortHostMessage', () => {
  test('writes a text in one line', () => {
    expect(shortHostMessage(' a\n\tb ')).toBe('a b');
    expect(shortHostMessage(undefined)).toBe('');
  });

  test('shortens a text to 300 characters, and shows no part of a word that might be a secret', () => {
    expect(shortHostMessage('x'.repeat(300))).toBe('x'.repeat(300));
    expect(shortHostMessage(`${'x'.repeat(299)} word`)).toBe(`${'x'.repeat(299)} …`);
    expect(shortHostMessage('x'.repeat(301))).toBe('…');
    expect(shortHostMessage('ж'.repeat(301))).toBe(`${'ж'.repeat(300)}…`);
    expect(shortHostMessage(`${'x '.repeat(150)}y`)).toBe(`${'x '.repeat(150)}…`);
  });

  test('cuts no word, so that a secret is there as a whole or not at all', () => {
    const secret = 'ghs_AbCdEf0123456789AbCdEf0123456789abcd';
    for (let before = 250; before <= 305; before += 1) {
      const short = shortHostMessage(`${'ж'.repeat(before)} ${secret} ${'x'.repeat(300)}`);
      expect(short.includes(secret) || !short.includes('ghs')).toBe(true);
    }
  });
});
