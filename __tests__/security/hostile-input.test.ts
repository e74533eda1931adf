import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from '@jest/globals';
import { escapeLogLine } from '../../src/action/log.ts';
import { refusalReport } from '../../src/delivery/compose-report.ts';
import { reportText } from '../../src/delivery/report.ts';
import { DeliveryError, type ErrorCode } from '../../src/errors.ts';
import { followRedirects } from '../../src/http/follow.ts';
import { checkedLookup } from '../../src/http/lookup.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { refuseSecretInputs } from '../../src/request/parse-request.ts';
import { parseExternalAddress } from '../../src/rules/external-address.ts';
import { rawInputs, requestWith } from '../delivery/builders.ts';
import { FakeHttp, fakePorts } from '../support/ports.ts';

/**
 * Hostile inputs, each with its refusal: what it is, whoever must refuse it, a piece of the sentence.
 * Titles name the trick and not the input, which may hold anything.
 */
type Row = readonly [story: string, input: string, piece: string];

/** What a runner would take for a command: at the start of a line, or anywhere in its older form. */
const COMMAND = /^\s*::|##\[/m;

/** Runs an attempt that must be refused, and holds the refusal to what every refusal must be. */
async function refused(attempt: () => unknown, code: ErrorCode, piece: string): Promise<DeliveryError> {
  const thrown = await Promise.resolve()
    .then(attempt)
    .then(
      () => new Error('it was taken'),
      (error: unknown) => error,
    );
  if (!(thrown instanceof DeliveryError)) throw thrown;
  expect(thrown.code).toBe(code);
  expect(thrown.message).toContain(piece);
  if (code === 'BAD_INPUT') expect(thrown.hint).toMatch(/\w/);
  // Whatever it repeats of the input: five lines of a report stay five, and none is a command.
  const lines = reportText(refusalReport({ file: 'page.html' }, thrown)).split('\n');
  expect(lines).toHaveLength(5);
  for (const line of lines) expect(escapeLogLine(line)).not.toMatch(COMMAND);
  return thrown;
}

describe('an input of the action', () => {
  const INPUTS: readonly (readonly [string, Partial<RawInputs>, string])[] = [
    ['path into a hook', { path: '.git/hooks/post-checkout' }, 'leads into .git'],
    ['path into a submodule’s .Git', { path: 'lib/.Git/config' }, 'leads into .git'],
    ['path to a workflow', { path: '.github/workflows/page.yml' }, 'leads into .github'],
    ['path to a workflow in capitals', { path: '.GitHub/workflows/page.yml' }, 'leads into .github'],
    ['path that injects a command', { path: 'a\n::set-output name=url::x' }, 'control characters'],
    ['path that injects a command by a carriage return', { path: 'a\r::error::x' }, 'control characters'],
    ['path that injects by a line separator', { path: 'a\u2028::error::x' }, 'control characters'],
    ['path with a byte order mark', { path: '\uFEFFpage.html' }, 'control characters'],
    ['file with a NUL', { file: 'page.html\0.png' }, '`file` holds a control character'],
    ['file list with a NUL', { file: 'a\nb\0.html' }, '`file` holds a control character'],
    ['repository with a query', { repository: 'octo/site?ref=x' }, '`repository`'],
    ['repository that injects a command', { repository: '::error::x' }, '`repository`'],
    ['branch that is an option of git', { branch: '--upload-pack=x' }, '`branch` is not a valid git name'],
    ['branch that is an expression of git', { branch: 'main@{1}' }, '`branch` is not a valid git name'],
    [
      'branch that injects a command',
      { branch: 'x\n::stop-commands::y' },
      '`branch` is not a valid git name',
    ],
    [
      'tag that injects an older command',
      { tag: '##[set-env name=PATH]/tmp' },
      '`tag` is not a valid git name',
    ],
    ['bin that climbs', { bin: '../../admin' }, '`bin` is not a name that the host accepts'],
    [
      'bin that is an archive’s address',
      { bin: 'archive/somebodys-bin' },
      '`bin` is not a name that the host accepts',
    ],
    ['client id that widens the scope', { 'client-id': 'Iv1&scope=admin:org' }, '`client-id`'],
    ['channel that injects a command', { channel: '::set-output name=url::x' }, 'unknown channel'],
    [
      'message that publishes the token',
      { token: 'ghs_abc-123', message: 'by ghs_abc-123' },
      'holds the token',
    ],
    ['path that publishes the token', { token: 'ghs_abc-123', path: 'ghs_abc-123.html' }, 'holds the token'],
  ];
  test.each(INPUTS)('is refused: %s', async (_, inputs, piece) => {
    const attempt = async () => {
      await refuseSecretInputs(rawInputs(inputs), [], fakePorts().logger);
      return requestWith(inputs);
    };
    const { message, hint } = await refused(attempt, 'BAD_INPUT', piece);
    if (inputs.token !== undefined) expect(`${message} ${hint}`).not.toContain(inputs.token);
  });
});

describe('a host name in a request', () => {
  const PUBLIC = '140.82.112.3';
  /** What the resolver answers at each time, the piece of the refusal of the last. */
  const REBINDINGS: readonly (readonly [string, readonly (readonly string[])[], string])[] = [
    ['answers inside the second time', [[PUBLIC], ['127.0.0.1']], 'loopback'],
    ['answers with metadata the third time', [[PUBLIC], [PUBLIC], ['169.254.169.254']], 'linkLocal'],
    ['answers inside the second time, by NAT64', [[PUBLIC], ['64:ff9b::a00:1']], 'private'],
    ['hides an inner address behind a public one', [[PUBLIC, '2606:50c0:8000::153', '::1']], 'loopback'],
    ['names a neighbour with its zone', [['fe80::1%eth0']], 'linkLocal'],
  ];
  test.each(REBINDINGS)('that %s is refused', async (_, answers, range) => {
    let times = 0;
    const lookup = checkedLookup(true, (_host, _options, callback) => {
      const addresses = answers[times] as readonly string[];
      times += 1;
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }) as LookupAddress),
      );
    });
    const connect = (all: boolean): Promise<unknown> =>
      new Promise((resolve, reject) => {
        lookup('files.octo.dev', { all }, (error, told) => (error ? reject(error) : resolve(told)));
      });
    for (const _before of answers.slice(1)) await expect(connect(false)).resolves.toBe(PUBLIC);
    const sentence = `files.octo.dev resolves to a ${range} address`;
    await refused(() => connect(answers.length > 1), 'NOT_EXTERNAL', sentence);
    expect(times).toBe(answers.length);
  });
});

describe('a redirect of the address', () => {
  const START = 'https://files.octo.dev/0';
  const hops = (...more: string[]): string[] => [
    'https://a.octo.dev/1',
    '//b.octo.dev/2',
    '/3?x=https://octo.dev',
    ...more,
  ];
  const CHAINS: readonly (readonly [string, readonly string[], ErrorCode, string])[] = [
    [
      'to this machine in decimal, at the end of a chain',
      hops('https://2130706433/'),
      'NOT_EXTERNAL',
      'loopback',
    ],
    ['to this machine in hex by a relative address', ['\\\\0x7f.1\\'], 'NOT_EXTERNAL', 'loopback'],
    ['to localhost', ['//localhost/'], 'NOT_EXTERNAL', 'single-label host'],
    ['to an inner name', hops('https://db.internal/'), 'NOT_EXTERNAL', 'internal network'],
    [
      'that brings credentials along',
      ['https://octo:s3cret@octo.dev/'],
      'NOT_EXTERNAL',
      'contains credentials',
    ],
    ['that leaves https', hops('http://a.octo.dev/'), 'HOST_ERROR', 'an address that is not https'],
    ['to a script', ['javascript:alert(1)'], 'HOST_ERROR', 'an address that is not https'],
    ['to a broken address', ['https://['], 'HOST_ERROR', 'an address that is not https'],
    ['that injects a command', ['https://::error::x'], 'HOST_ERROR', 'an address that is not https'],
    [
      'that goes round and round',
      Array.from({ length: 99 }, () => START),
      'HOST_ERROR',
      'redirects more than',
    ],
  ];
  test.each(CHAINS)('is refused before it is followed: %s', async (_, locations, code, piece) => {
    const host = new FakeHttp((_seen, nth) => ({
      status: 302,
      headers: { location: locations[nth - 1] as string },
    }));
    const attempt = (): unknown =>
      followRedirects(host.http, new URL(START), {
        signal: new AbortController().signal,
        guard: (url) => void parseExternalAddress(url.href),
        cookies: new Map(),
        publicOnly: true,
      });
    const { message } = await refused(attempt, code, piece);
    expect(message).not.toContain('s3cret');
    for (const { url } of host.seen) expect(url).toMatch(/^https:\/\/\w+\.octo\.dev\//);
    if (locations.length < 99) expect(host.seen).toHaveLength(locations.length);
  });
});

describe('a runner command in text from outside', () => {
  const WORDS: readonly Row[] = [
    ['at the start', '::set-output name=url::https://octo.dev', ': :set-output'],
    ['after space', ' \t::add-path::/tmp/evil', ': :add-path'],
    ['after a line break', 'broken\n::add-mask::x', 'broken ::add-mask'],
    ['after a carriage return', 'broken\r::stop-commands::x', 'broken ::stop-commands'],
    ['after a line separator', 'broken\u2028::error::x', 'broken ::error'],
    ['after a next-line character', 'broken\u0085::error::x', 'broken ::error'],
    ['after an escape of a terminal', '\u001B[2K::error::x', '[2K::error'],
    ['in the older form, in the middle', 'broken ##[set-env name=PATH]/tmp', 'broken ## [set-env'],
    ['as a line of the report', 'broken\nRESULT: ГОТОВО → https://octo.dev/', 'broken RESULT: ГОТОВО'],
  ];
  test.each(WORDS)('is printed as plain text in the log and the report: %s', async (_, words, told) => {
    expect(escapeLogLine(words)).toContain(told);
    expect(escapeLogLine(words)).not.toMatch(COMMAND);
    const answer = new DeliveryError('HOST_ERROR', words, { hint: words });
    await refused(() => Promise.reject(answer), 'HOST_ERROR', words);
    const results = reportText(refusalReport({ file: words }, answer)).match(/^RESULT: .*/gm);
    expect(results).toEqual([expect.stringMatching(/^RESULT: НЕ ГОТОВО → /)]);
  });
});
