import { describe, expect, test } from '@jest/globals';
import { rules as preset } from '@secretlint/secretlint-rule-preset-recommend';
import fc from 'fast-check';
import { DeliveryError } from '../../../src/errors.ts';
import { BLOCKS } from '../../../src/rules/secrets/blocks.ts';
import { findSecrets, refuseSecrets, type SecretFinding } from '../../../src/rules/secrets/secrets.ts';
import { armoured, drawn, fileOf, googleAccount, PRESET_SECRETS, pem } from './fake-secrets.ts';

const { signal } = new AbortController();
const TOKEN = `ghp_${drawn(36)}`;
const OTHER_TOKEN = `gho_${drawn(36, undefined, 5)}`;

const find = (content: string | Buffer, name?: string, chunk?: number): Promise<readonly SecretFinding[]> =>
  findSecrets(fileOf(content, name, chunk), signal);

const rulesAndLines = (findings: readonly SecretFinding[]): (string | null)[][] =>
  findings.map(({ rule, line }) => [rule, line === null ? null : String(line)]);

async function refusal(content: string | Buffer, allowed: readonly string[] = []): Promise<DeliveryError> {
  const thrown = await refuseSecrets(fileOf(content), allowed, signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof DeliveryError)) throw new Error('the file was not refused', { cause: thrown });
  return thrown;
}

describe('in a text', () => {
  test.each(PRESET_SECRETS)('%s finds a secret and its line (%#)', async (rule, before, secret) => {
    expect(rulesAndLines(await find(`<p>\n\n${before}${secret}"\n</p>`))).toEqual([[rule, '3']]);
  });

  test('every rule of the preset is run or replaced by our own', () => {
    const tried = new Set<string>(['gcp', ...PRESET_SECRETS.map(([rule]) => rule)]);
    const untried = preset
      .map(({ meta }) => meta.id.split('-rule-')[1])
      .filter((rule) => !tried.has(rule as string));
    expect(untried).toEqual(['privatekey', 'basicauth', 'filter-comments']);
  });

  test("finds a service account's key file, and the key in it", async () => {
    const findings = await find(googleAccount(), 'Account.JSON');
    expect(rulesAndLines(findings)).toEqual([
      ['gcp', '1'],
      ['private-key', '3'],
    ]);
  });

  test.each([
    ['cookie', 'Set-Cookie: sid=', `s%3A${drawn(32)}`],
    ['authorization', 'Authorization: Bearer ', drawn(40)],
    ['url-password', 'https://', `deploy:${drawn(14)}@git.acme.io`],
    ['npm-auth-token', '//registry.npmjs.org/:_authToken=', '6f1c2a34-9b8d-4e7f-a012-3c4d5e6f7a8b'],
  ])('our own rule %s finds a secret and its line', async (rule, before, secret) => {
    expect(rulesAndLines(await find(`\r\n${before}${secret}\r\n`))).toEqual([[rule, '2']]);
  });

  test('a secret that several rules see is named once', async () => {
    const text = `Authorization: Bearer ${TOKEN}\nhttps://x-access-token:${OTHER_TOKEN}@github.com/a/b.git`;
    expect((await find(text)).map(({ line }) => line)).toEqual([1, 2]);
  });

  test('a comment in the file does not switch the search off', async () => {
    const text = `<!-- secretlint-disable -->\n${TOKEN} // secretlint-disable-line\n`;
    expect(rulesAndLines(await find(text))).toEqual([['github', '2']]);
  });

  test.each([
    ['a filled-up token', `ghp_${'x'.repeat(36)}`],
    ['a password in an address of the documentation', 'https://user:password@example.com/'],
    ['a shortened key', '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg...\n-----END PRIVATE KEY-----'],
    ['nothing at all', ''],
    ['ordinary text', 'Authorization: see the section on cookies, and set the password. '.repeat(50)],
  ])('%s is no finding', async (_, text) => {
    expect(await find(text)).toEqual([]);
  });

  test('the line is that of the secret, not of its name', async () => {
    const [, before, secret] = PRESET_SECRETS[0] as (typeof PRESET_SECRETS)[number];
    expect(rulesAndLines(await find(`${before.replace('=', ':\n  ')}${secret}"`))).toEqual([['aws', '2']]);
  });

  test('lists at most 20 findings', async () => {
    expect(await find(`${TOKEN}\n`.repeat(500))).toHaveLength(20);
  });

  test('a byte order mark and broken UTF-8 hide nothing', async () => {
    const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0xc3]), Buffer.from(`\n${TOKEN}`)]);
    expect(rulesAndLines(await find(bytes))).toEqual([['github', '2']]);
  });
});

describe('across the borders of blocks and pieces', () => {
  const step = BLOCKS.size - BLOCKS.before - BLOCKS.after;
  const filler = Buffer.from(`${'Проверка — проверка. '.repeat(4)}\n`.repeat(4_500));
  const around = (at: number, text: string): Buffer =>
    Buffer.concat([filler.subarray(0, at), Buffer.from(text), filler.subarray(at)]);
  const offset = fc.integer({ min: -300, max: 13_000 });
  const nearBorder = fc.tuple(fc.constantFrom(step, 2 * step), offset).map(([border, by]) => border + by);
  const key = armoured('OPENSSH PRIVATE KEY', { start: 'b3BlbnNzaC1rZXktdjE', length: 3_000 });
  const secrets: readonly (readonly [string, string, string])[] = [
    ['a token', 'github', TOKEN],
    ['a header', 'cookie', `Cookie: theme=dark; session=${drawn(64)}`],
    ['a private key', 'private-key', key],
  ];

  test.each(secrets)('%s is found once, with its line and fingerprint', async (_, rule, secret) => {
    const [alone] = await find(`\n${secret}\n`);
    await fc.assert(
      fc.asyncProperty(nearBorder, fc.constantFrom(4_093, 65_536, 1_000_003), async (at, piece) => {
        const findings = await find(around(at, `\n${secret}\n`), 'page.html', piece);
        const line = filler.subarray(0, at).toString('latin1').split('\n').length + 1;
        expect(findings).toEqual([{ rule, line, fingerprint: alone?.fingerprint }]);
      }),
      { numRuns: 25 },
    );
  });

  test.each(
    secrets.flatMap(([what, , secret]) =>
      (['latin1', 'utf16le'] as const).map((encoding) => [what, encoding, secret] as const),
    ),
  )('%s in a binary file is found once: %s', async (_, encoding, secret) => {
    const [alone] = await find(secret);
    const hidden = Buffer.concat([Buffer.of(1, 0), Buffer.from(secret, encoding), Buffer.of(1, 0)]);
    // In noise, or in the middle of a text that goes on over several blocks.
    const noise = Buffer.from(Array.from({ length: 400_000 }, (_, nth) => (nth * nth * 31) % 256));
    const words = Buffer.from('many words '.repeat(40_000), encoding).subarray(0, 400_000);
    await fc.assert(
      fc.asyncProperty(offset, fc.constantFrom(noise, words), async (by, around) => {
        const at = step + by - (by % 2);
        const bytes = Buffer.concat([around.subarray(0, at), hidden, around.subarray(at)]);
        expect(await find(bytes, 'x.bin')).toEqual([{ ...alone, line: null }]);
      }),
      { numRuns: 10 },
    );
  });

  test('letters of several bytes are put together again', async () => {
    const address = 'https://bob:совсем-не-секрет-7@acme.io';
    expect(await find(address, 'page.html', 1)).toEqual(await find(address));
  });

  test.each([
    ['goes on behind a block', BLOCKS.size - TOKEN.length - 1, ` ${TOKEN}${drawn(60)} `],
    ['began before a block', step - 61, `${drawn(60)}x${TOKEN} `],
  ])('a longer word that %s is not mistaken for a token', async (_, at, word) => {
    expect(await find(around(at, word))).toEqual([]);
  });
});

describe('in a binary file', () => {
  const noise = Buffer.from(Array.from({ length: 5_000 }, (_, nth) => (nth * nth * 31) % 256));
  const within = (bytes: Buffer): Buffer => Buffer.concat([noise, Buffer.of(0), bytes, Buffer.of(0), noise]);

  test.each([
    ['ASCII', Buffer.from(TOKEN)],
    ['UTF-16LE', Buffer.from(TOKEN, 'utf16le')],
  ])('finds a token in %s, without a line', async (_, bytes) => {
    const [inText] = await find(TOKEN);
    expect(await find(within(bytes))).toEqual([{ ...inText, line: null }]);
    expect(await find(Buffer.concat([Buffer.of(1), within(bytes)]), 'x.bin', 7)).toEqual([
      { ...inText, line: null },
    ]);
  });

  test('finds a private key with its line breaks', async () => {
    expect(rulesAndLines(await find(within(Buffer.from(pem()))))).toEqual([['private-key', null]]);
  });

  test('a NUL byte anywhere makes a file binary, and hides nothing', async () => {
    const bytes = Buffer.concat([Buffer.from(`${TOKEN}\n${'a '.repeat(200_000)}`), Buffer.of(0)]);
    expect(rulesAndLines(await find(bytes))).toEqual([['github', null]]);
  });

  test('refuses a PKCS#12 container whatever its password, and never opens its path', async () => {
    const head = Buffer.from('308209a10201033082096706092a864886f70d010701a0820958', 'hex');
    const findings = await find(Buffer.concat([head, noise]), 'account.p12');
    expect(rulesAndLines(findings)).toEqual([['private-key', null]]);
  });

  test('finds nothing in noise', async () => {
    expect(await find(within(noise))).toEqual([]);
  });
});

describe('the fingerprint', () => {
  test('is 16 hex digits, the same for the same secret anywhere, another for another', async () => {
    const findings = await find(`${TOKEN}\n${OTHER_TOKEN}\n<b>${TOKEN}</b>`);
    const [first, second, third] = findings.map(({ fingerprint }) => fingerprint);
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(third).toBe(first);
    expect(second).not.toBe(first);
  });

  test('tells keys apart that begin alike', async () => {
    const start = drawn(120);
    const keys = [1, 2].map((more) => armoured('OPENSSH PRIVATE KEY', { start, length: 300 + more }));
    const findings = await find(keys.join('\n'));
    expect(new Set(findings.map(({ fingerprint }) => fingerprint)).size).toBe(2);
  });
});

describe('the refusal', () => {
  test('names rule, line and fingerprint of each finding, and how to allow it', async () => {
    const text = `a\n${TOKEN}\n${OTHER_TOKEN}`;
    const [first, second] = (await find(text)).map(({ fingerprint }) => fingerprint);
    const { code, message, hint } = await refusal(text);
    expect(code).toBe('BAD_FILE');
    expect(message).toBe(
      `the file holds what looks like a secret: github in line 2 (fingerprint ${first}), github in line 3 (fingerprint ${second})`,
    );
    expect(hint).toContain(`\`allow-secret: ${first} ${second}\``);
  });

  test('is taken back by the fingerprints of all findings, and by nothing else', async () => {
    const text = `${TOKEN}\n${OTHER_TOKEN}`;
    const [first, second] = (await find(text)).map(({ fingerprint }) => fingerprint) as [string, string];
    await expect(
      refuseSecrets(fileOf(text), [` ${first.toUpperCase()}`, second], signal),
    ).resolves.toBeUndefined();
    expect((await refusal(text, [first])).message).toMatch(/: github in line 2 \([^,]+$/);
    await refusal(text, ['', '*', TOKEN, first.slice(0, 8)]);
  });

  test('any number of allowed findings hides no other', async () => {
    const [allowed] = await find(TOKEN);
    const text = `${`${TOKEN}\n`.repeat(9_000)}${OTHER_TOKEN}`;
    expect((await refusal(text, [allowed?.fingerprint as string])).message).toContain(
      'github in line 9001 (',
    );
  });

  test('a file without secrets passes', async () => {
    await expect(refuseSecrets(fileOf('<p>hello</p>'), [], signal)).resolves.toBeUndefined();
  });

  test.each([
    ...PRESET_SECRETS,
    ['cookie', 'Cookie: session=', drawn(40)],
    ['authorization', 'Authorization: Basic ', Buffer.from(`ci:${drawn(20)}`).toString('base64')],
    ['private-key', '', armoured('PRIVATE KEY')],
    ['url-password', '', `ftp://ci:${drawn(12, '!$&()*+-._~')}9aB@files.acme.io`],
  ])('never holds the secret, whole, in part or encoded (%s, %#)', async (_, before, secret) => {
    const { message, hint, cause } = await refusal(`${before}${secret}`);
    const said = `${message} ${hint}`;
    expect(cause).toBeUndefined();
    const encoded = ['utf8', 'base64', 'base64url', 'hex'].map((as) =>
      Buffer.from(secret).toString(as as 'hex'),
    );
    for (const form of [...encoded, encodeURIComponent(secret)]) {
      const parts = Array.from({ length: form.length - 7 }, (_, at) => form.slice(at, at + 8));
      expect(parts.filter((part) => said.includes(part))).toEqual([]);
    }
  });
});

test('an abort ends the search and lets go of the file', async () => {
  const stop = new AbortController();
  const file = fileOf('a'.repeat(1_000_000));
  let letGo = false;
  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      for await (const piece of file.pieces()) {
        yield piece;
        stop.abort();
      }
    } finally {
      letGo = true;
    }
  }
  await expect(findSecrets({ ...file, pieces }, stop.signal)).rejects.toThrow('aborted');
  expect(letGo).toBe(true);
});
