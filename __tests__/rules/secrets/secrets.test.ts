import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type DeliveryError, hasFailed, resultOf } from '../../../src/errors.ts';
import { BLOCK_SIZES } from '../../../src/rules/secrets/file-blocks.ts';
import { refuseSecrets } from '../../../src/rules/secrets/secrets.ts';
import { fakePorts } from '../../support/ports.ts';
import { armoured, drawn, fileOf, findSecrets, PRESET_SECRETS } from './fake-secrets.ts';

const TOKEN = `ghp_${drawn(36)}`;
const OTHER_TOKEN = `gho_${drawn(36, undefined, 5)}`;

const listRulesAndLines = (findings: Awaited<ReturnType<typeof findSecrets>>): (string | null)[][] =>
  findings.map(({ rule, line }) => [rule, line === null ? null : String(line)]);

async function getRefusal(
  content: string | Buffer,
  allowed: readonly string[] = [],
  ports = fakePorts(),
): Promise<DeliveryError> {
  const thrown = await resultOf(() => refuseSecrets(fileOf(content), allowed, ports));
  if (!hasFailed(thrown)) throw new Error('the file was not refused');
  return thrown;
}

describe('the search in a text', () => {
  test.each(PRESET_SECRETS)(
    'finds a secret of the rule %s and its line (%#)',
    async (rule, before, secret) => {
      expect(listRulesAndLines(await findSecrets(`<p>\n\n${before}${secret}"\n</p>`))).toEqual([[rule, '3']]);
    },
  );

  test('returns a secret that several rules find only once', async () => {
    const text = `Authorization: Bearer ${TOKEN}\nhttps://x-access-token:${OTHER_TOKEN}@github.com/a/b.git`;
    expect((await findSecrets(text)).map(({ line }) => line)).toEqual([1, 2]);
  });

  test('ignores a comment in the file that turns the search off', async () => {
    const text = `<!-- secretlint-disable -->\n${TOKEN} // secretlint-disable-line\n`;
    expect(listRulesAndLines(await findSecrets(text))).toEqual([['github', '2']]);
  });

  test.each([
    ['a token of one repeated character', `ghp_${'x'.repeat(36)}`],
    ['a password in an address of the documentation', 'https://user:password@example.com/'],
    ['a shortened key', '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg...\n-----END PRIVATE KEY-----'],
    ['nothing at all', ''],
    ['ordinary text', 'Authorization: see the section on cookies, and set the password. '.repeat(50)],
  ])('does not find %s', async (_, text) => {
    expect(await findSecrets(text)).toEqual([]);
  });

  test('returns the line of the secret, not of its name, also after a byte order mark and invalid UTF-8', async () => {
    const [, before, secret] = PRESET_SECRETS[0] as (typeof PRESET_SECRETS)[number];
    const text = Buffer.from(`${before.replace('=', ':\n  ')}${secret}"`);
    const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0xc3, 0x0a]), text]);
    expect(listRulesAndLines(await findSecrets(bytes))).toEqual([['aws', '3']]);
  });

  test('returns at most 20 findings', async () => {
    expect(await findSecrets(`${TOKEN}\n`.repeat(500))).toHaveLength(20);
  });
});

describe('the search across the borders of blocks and pieces', () => {
  const step = BLOCK_SIZES.size - BLOCK_SIZES.before - BLOCK_SIZES.after;
  const filler = Buffer.from(`${'Проверка — проверка. '.repeat(4)}\n`.repeat(4_500));
  const insertAt = (at: number, text: string): Buffer =>
    Buffer.concat([filler.subarray(0, at), Buffer.from(text), filler.subarray(at)]);
  const offset = fc.integer({ min: -300, max: 13_000 });
  const nearBorder = fc.tuple(fc.constantFrom(step, 2 * step), offset).map(([border, by]) => border + by);
  const key = armoured('OPENSSH PRIVATE KEY', { start: 'b3BlbnNzaC1rZXktdjE', length: 3_000 });
  const secrets: readonly (readonly [string, string, string])[] = [
    ['a token', 'github', TOKEN],
    ['a header', 'cookie', `Cookie: theme=dark; session=${drawn(64)}`],
    ['a private key', 'private-key', key],
  ];

  test.each(secrets)('finds %s once, with its line and fingerprint', async (_, rule, secret) => {
    const [alone] = await findSecrets(`\n${secret}\n`);
    await fc.assert(
      fc.asyncProperty(nearBorder, fc.constantFrom(4_093, 65_536, 1_000_003), async (at, piece) => {
        const findings = await findSecrets(insertAt(at, `\n${secret}\n`), 'page.html', piece);
        const line = filler.subarray(0, at).toString('latin1').split('\n').length + 1;
        expect(findings).toEqual([{ rule, line, column: alone?.column, fingerprint: alone?.fingerprint }]);
      }),
      { numRuns: 25 },
    );
  });

  test.each(secrets)('finds %s in a binary file once', async (_, _rule, secret) => {
    const [alone] = await findSecrets(secret);
    const hidden = Buffer.concat([Buffer.of(1, 0), Buffer.from(secret), Buffer.of(1, 0)]);
    // In noise, or in the middle of a text of several blocks.
    const noise = Buffer.from(Array.from({ length: 400_000 }, (_, nth) => (nth * nth * 31) % 256));
    const words = Buffer.from('many words '.repeat(40_000)).subarray(0, 400_000);
    await fc.assert(
      fc.asyncProperty(offset, fc.constantFrom(noise, words), async (by, around) => {
        const at = step + by - (by % 2);
        const bytes = Buffer.concat([around.subarray(0, at), hidden, around.subarray(at)]);
        expect(await findSecrets(bytes, 'x.bin')).toEqual([{ ...alone, line: null, column: null }]);
      }),
      { numRuns: 10 },
    );
  });

  test('finds a secret after a picture of 20 MB, all in one piece', async () => {
    const bytes = Buffer.from(`${'A'.repeat(20_000_000)} ${TOKEN}`);
    async function* pieces(): AsyncGenerator<Buffer> {
      yield bytes;
    }
    const file = { ...fileOf(''), pieces };
    await expect(refuseSecrets(file, [], fakePorts())).rejects.toThrow(
      'GitHub token in line 1 column 20000002',
    );
  });

  test('finds a secret whose letters are in several pieces', async () => {
    const address = 'https://bob:совсем-не-секрет-7@acme.io';
    expect(await findSecrets(address, 'page.html', 1)).toEqual(await findSecrets(address));
  });

  test.each([
    ['continues after a block', BLOCK_SIZES.size - TOKEN.length - 1, ` ${TOKEN}${drawn(60)} `],
    ['began before a block', step - 61, `${drawn(60)}x${TOKEN} `],
  ])('does not find a token in a longer word that %s', async (_, at, word) => {
    expect(await findSecrets(insertAt(at, word))).toEqual([]);
  });
});

describe('the search in a binary file', () => {
  const noise = Buffer.from(Array.from({ length: 5_000 }, (_, nth) => (nth * nth * 31) % 256));
  const surround = (bytes: Buffer): Buffer =>
    Buffer.concat([noise, Buffer.of(0), bytes, Buffer.of(0), noise]);

  test('finds a token without a line', async () => {
    const [inText] = await findSecrets(TOKEN);
    const expected = [{ ...inText, line: null, column: null }];
    expect(await findSecrets(surround(Buffer.from(TOKEN)))).toEqual(expected);
    expect(await findSecrets(surround(Buffer.from(TOKEN)), 'x.bin', 7)).toEqual(expected);
  });

  test('finds nothing in noise', async () => {
    expect(await findSecrets(surround(noise))).toEqual([]);
  });
});

describe('the search in a text of UTF-16', () => {
  const text = `\ufeffжж\n${'words '.repeat(60_000)}\nж ${TOKEN}\n`;
  const bytes = Buffer.from(text, 'utf16le');

  test.each([
    ['little-endian', bytes],
    ['big-endian', Buffer.from(bytes).swap16()],
  ])('finds a token with its line, as in UTF-8: %s', async (_, wide) => {
    const [inText] = await findSecrets(TOKEN);
    expect(await findSecrets(wide)).toEqual([{ ...inText, line: 3, column: 3 }]);
  });
});

describe('the fingerprint of a finding', () => {
  test('has 16 hex digits and is equal only for equal secrets', async () => {
    const findings = await findSecrets(`${TOKEN}\n${OTHER_TOKEN}\n<b>${TOKEN}</b>`);
    const [first, second, third] = findings.map(({ fingerprint }) => fingerprint);
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(third).toBe(first);
    expect(second).not.toBe(first);
  });
});

describe('refuseSecrets', () => {
  test('reports rule, line, column and fingerprint of each finding, and how to allow it', async () => {
    const text = `a\nx = ${TOKEN}\n${OTHER_TOKEN}`;
    const [first, second] = (await findSecrets(text)).map(({ fingerprint }) => fingerprint);
    const { code, message, hint } = await getRefusal(text);
    expect(code).toBe('BAD_FILE');
    expect(message).toBe(
      `the file page.html contains what looks like a secret: GitHub token in line 2 column 5 (fingerprint ${first}), GitHub token in line 3 column 1 (fingerprint ${second})`,
    );
    expect(hint).toContain(`\`allow-secret: ${first} ${second}\``);
  });

  test('accepts a file only if the fingerprints of all findings are allowed', async () => {
    const text = `${TOKEN}\n${OTHER_TOKEN}`;
    const [first = '', second = ''] = (await findSecrets(text)).map(({ fingerprint }) => fingerprint);
    const ports = fakePorts();
    await refuseSecrets(fileOf(text), [` ${first.toUpperCase()}`, second], ports);
    expect(ports.logger.lines).toEqual(['page.html: 2 allowed findings that look like secrets']);
    expect((await getRefusal(text, [first], ports)).message).toMatch(
      /: GitHub token in line 2 column 1 \([^,]+$/,
    );
    expect(ports.logger.masked).toEqual([OTHER_TOKEN]);
    await getRefusal(text, ['', '*', TOKEN, first.slice(0, 8)]);
  });

  test('reports a secret after any number of allowed ones', async () => {
    const [allowed] = await findSecrets(TOKEN);
    const text = `${`${TOKEN}\n`.repeat(9_000)}${OTHER_TOKEN}`;
    const { message } = await getRefusal(text, [allowed?.fingerprint as string]);
    expect(message).toContain('GitHub token in line 9001 column 1 (');
  });

  test.each([
    ...PRESET_SECRETS,
    ['cookie', 'Cookie: session=', drawn(40)],
    ['authorization', 'Authorization: Basic ', Buffer.from(`ci:${drawn(20)}`).toString('base64')],
    ['private-key', '', armoured('PRIVATE KEY')],
    ['url-password', '', `ftp://ci:${drawn(12, '!$&()*+-._~')}9aB@files.acme.io`],
  ])('never reports the secret, in whole, in part or encoded (%s, %#)', async (_, before, secret) => {
    const { message, hint, cause } = await getRefusal(`${before}${secret}`);
    const shown = `${message} ${hint}`;
    expect(cause).toBeUndefined();
    const encodings = ['utf8', 'base64', 'base64url', 'hex'] as const;
    const encoded = encodings.map((encoding) => Buffer.from(secret).toString(encoding));
    for (const form of [...encoded, encodeURIComponent(secret)]) {
      const parts = Array.from({ length: form.length - 7 }, (_, at) => form.slice(at, at + 8));
      expect(parts.filter((part) => shown.includes(part))).toEqual([]);
    }
  });
});

test('an abort ends the search and stops reading the file', async () => {
  const { stop, ...ports } = fakePorts();
  const file = fileOf('a'.repeat(1_000_000));
  let stopped = false;
  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      for await (const piece of file.pieces()) {
        yield piece;
        stop.abort();
      }
    } finally {
      stopped = true;
    }
  }
  await expect(refuseSecrets({ ...file, pieces }, [], ports)).rejects.toThrow('aborted');
  expect(stopped).toBe(true);
});
