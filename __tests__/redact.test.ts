import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRedactor, isCredential, readCredentials } from '../src/credentials.ts';
import { createSecretPattern } from '../src/secret-pattern.ts';
import { ENCODINGS } from './support/encodings.ts';
import { finish } from './support/finish.ts';

const TOKEN = 'ghs_AbCd0123';
const LONG = 'ghs_AbCdEf0123456789AbCdEf0123456789abcd';
const SIGNED = `eyJhbGciOiJSUzI1NiJ9.${'aB3-x_Zq9'.repeat(60)}.Qw7_${'rT5y-Ui0'.repeat(12)}`;

/** A function that replaces these secrets. */
function redactWith(secrets: readonly string[]): (text: string) => string {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.addSecret(secret);
  return redactor.redact;
}

const redact = redactWith([TOKEN]);

const encodeInJson = (text: string): string => JSON.stringify(text).slice(1, -1);

describe('createRedactor replaces a secret', () => {
  test.each([
    ['in every place', `${TOKEN}${TOKEN} ${TOKEN}`, '****** ***'],
    ['in a URL', `https://x.example/?t=${TOKEN}&u=1`, 'https://x.example/?t=***&u=1'],
    [
      'in the Basic credentials that git sends',
      `Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString('base64')}`,
      'Basic eC1hY2Nlc3MtdG9rZW46***',
    ],
  ])('%s', (_case, text, clean) => {
    expect(redact(text)).toBe(clean);
  });

  test.each(ENCODINGS)('%s', (_name, encode) => {
    for (const secret of [TOKEN, LONG]) {
      const encoded = encode(secret);
      const clean = redactWith([secret])(`<${encoded}>`);
      expect(clean).toContain('***');
      // At most the first and the last characters of base64 stay: they hold a few bits.
      expect(clean.length).toBeLessThan(24);
    }
    expect(redactWith([SIGNED])(`<${encode(SIGNED)}>`)).toContain('***');
  });

  test('of any characters that a token may have', () => {
    const sign = fc.constantFrom(...'abcXYZ0189-_.~+/=&<>"\'`%\\!(*)#;éя😀');
    fc.assert(
      fc.property(fc.array(sign, { minLength: 24, maxLength: 60 }), (signs) => {
        const secret = `aZ9-${signs.join('')}`;
        fc.pre(isCredential(secret));
        const missed = ENCODINGS.filter(
          ([, encode]) => !redactWith([secret])(encode(secret)).includes('***'),
        );
        expect(missed).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test('in linear time, however a text repeats its signs', () => {
    for (const piece of ['\\"', '\\\\', '&#', '%25', '\\u005c&amp;']) {
      const secret = `${piece.repeat(12)}aB3x9QzKp7`;
      const text = `${encodeInJson(secret.slice(0, -1))}${encodeInJson(piece.repeat(100_000))}`;
      finish(() => expect(redactWith([secret])(text)).toBe(text));
    }
  });

  test('completely, when one contains the other', () => {
    for (const secrets of [
      [TOKEN, `${TOKEN}ef56`],
      [`${TOKEN}ef56`, TOKEN],
    ]) {
      expect(redactWith(secrets)(`${TOKEN}ef56`)).toBe('***');
    }
  });

  test('literally, not as a pattern or a replacement pattern', () => {
    const secret = 'aB3.+$&(x)[y]*z|^01';
    expect(redactWith([secret])(`aB3x+$&(x)[y]*z|^01 ${secret}`)).toBe('aB3x+$&(x)[y]*z|^01 ***');
  });

  test('of several, and of one of several lines each line', () => {
    expect(redactWith([`${TOKEN}\n${LONG}`])(`${LONG} and ${TOKEN}`)).toBe('*** and ***');
    expect(redactWith([TOKEN, '', 'ghp_Other9876'])(`${TOKEN} ghp_Other9876 third`)).toBe('*** *** third');
  });
});

describe('createRedactor keeps everything else', () => {
  test('that only looks like a secret', () => {
    expect(redact('ghs_AbCd012 ghs_abcd0123')).toBe('ghs_AbCd012 ghs_abcd0123');
  });

  test.each(['null', '17', 'ready', 'https', 'screen-delivery', '{}', 'h', ''])(
    'if the value is %s, which is too short or too common to be a credential',
    (value) => {
      const text = JSON.stringify({ url: `https://a.dev/${value}.html`, ready: value, none: null, size: 17 });
      expect(redactWith([value])(text)).toBe(text);
    },
  );
});

test('a token has few keywords and a short pattern: its search is fast, and needs little memory', () => {
  const { keywords, regex, isIn } = createSecretPattern(LONG);
  expect(keywords.length).toBeLessThanOrEqual(20);
  expect(regex.source.length).toBeLessThan(4_000);
  // Each text is searched from its beginning.
  expect([isIn(`a ${LONG}`), isIn(LONG)]).toEqual([true, true]);
});

test('nothing is found of a value that is too short to be a secret', () => {
  expect(createSecretPattern('x').isIn('YWJjZGVm 0123')).toBe(false);
});

describe('isCredential', () => {
  test.each([
    TOKEN,
    LONG,
    SIGNED,
    'github_pat_11ABCDEFG0abcdefghij_KLMNOPQRSTUV',
    '0123456789abcdef0123456789abcdef01234567',
    'npm_0123456789abcdefghijklmnopqrstuvwxyz',
    'aB3x9QzKp7éLmRt2wY5Vk',
    'пароль9секрет2№§',
    'ОченьДлинныйПарольБезЦифр',
  ])('is true for %s', (value) => {
    expect(isCredential(value)).toBe(true);
  });

  test.each([
    '',
    'ghs_',
    'ghs_x',
    'password',
    'https://github.com',
    'aaaaaaaaaaaaaaaaaaaa1',
    `${LONG}\n${LONG}`,
    'aB3x9QzKp7\u00a0LmRt2wY5Vk',
    'aB3x9QzKp7\u0007LmRt2wY5Vk',
  ])('is false for %j', (value) => {
    expect(isCredential(value)).toBe(false);
  });
});

describe('readCredentials', () => {
  const RANDOM = 'k7Qp2vX9mB4tZ8wL';

  test.each([
    ['DB_SECRET', RANDOM],
    ['db_password', 'tR0ub4dor&3-x9Zq'],
    ['DB_PASSWORD', 'Xk9mP2vL5nQ8§rT4w'],
    ['CLIENT_SECRET', '550e8400-e29b-41d4-a716-446655440000'],
    ['AWS_SECRET_ACCESS_KEY', '/JalrXUtnF3MI/K7MDENG/bPxRfiCYzzzzzzzKEY'],
    ['GITHUB_PAT', TOKEN],
    ['ACTIONS_RUNTIME_TOKEN', SIGNED],
  ])('finds %s', (name, value) => {
    expect(readCredentials({ [name]: ` ${value}\n` })).toEqual([{ name, value }]);
  });

  test('finds of a key with lines the longest one, and a value once', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${LONG}\n${RANDOM}\n-----END PRIVATE KEY-----\n`;
    const env = { A_PRIVATE_KEY: key, ONE_TOKEN: RANDOM, SAME_TOKEN: RANDOM, OTHER: 'm3Rk9-Pq7x-Lz2v-W8n' };
    const found = [
      { name: 'A_PRIVATE_KEY', value: LONG },
      { name: 'ONE_TOKEN', value: RANDOM },
    ];
    expect(readCredentials(env)).toEqual(found);
    expect(readCredentials(env, 'OTHER')).toContainEqual({ name: 'OTHER', value: env.OTHER });
  });

  test.each([
    ...['', 'true', 'none', '***', '86400', 'correct horse battery staple', 'k7Qp2vX9'],
    ...[
      'https://login.example.com/oauth2/v2.0/token',
      'api://0f8a2c/Read.All',
      'db1.internal.example.com:5432',
    ],
    ...[
      '/run/secrets/db2/token',
      '/home/runner/work/_temp/3f2a9c1b',
      './keys/3f2a9c1bd4/key',
      'C:\\keys\\3f2a9c1b',
    ],
    ...['tmp/3f2a9c1bd4e5/service-account.json', 'deploy-3f2a9c1bd4e5.pem'],
    ...['my-app-tls-2024-01', 'projects/123456789012/secrets/myToken/versions/12', 'vault_prod2_password'],
    'arn:aws:secretsmanager:us-east-1:123456789012:secret:MySecret-AbCdEf',
  ])('takes %j for no secret', (value) => {
    expect(readCredentials({ MY_SECRET: value })).toEqual([]);
  });

  test.each(['API_KEY', 'VITE_TOKEN', 'NEXT_PUBLIC_SECRET', 'PUBLIC_TOKEN', 'INPUT_ALLOW-SECRET'])(
    'leaves %s alone',
    (name) => {
      expect(readCredentials({ [name]: RANDOM })).toEqual([]);
    },
  );
});
