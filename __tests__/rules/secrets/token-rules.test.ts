import { describe, expect, test } from '@jest/globals';
import { findSecrets } from '../../../src/rules/secrets/secrets.ts';
import { TOKEN_RULES } from '../../../src/rules/secrets/token-rules.ts';
import { drawn, fileOf, PRESET_SECRETS } from './fake-secrets.ts';

const { signal } = new AbortController();
const find = async (content: string | Buffer): Promise<string[]> =>
  (await findSecrets(fileOf(content), signal)).map(({ rule }) => rule);
const HEX = '0123456789abcdef';
const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwtWith = (payload: object): string =>
  `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url(payload)}.${drawn(43)}`;

/** For each rule a text that it finds. They are composed at run time, so that no scanner finds one in this file. */
const TOKENS: readonly (readonly [rule: string, token: string])[] = [
  ['github', `${'ghr'}_${drawn(76)}`],
  ['google-api-key', `AI${'za'}${drawn(35)}`],
  ['google-oauth', `GOC${'SPX'}-${drawn(28)}`],
  ['google-oauth', `ya${'29'}.${drawn(60)}`],
  ['jwt', jwtWith({ sub: 'octo', iat: 1 })],
  ['azure-key', `AccountName=octo;Account${'Key'}=${drawn(86)}==;`],
  ['azure-key', `SharedAccessKeyName=x;SharedAccess${'Key'}=${drawn(43)}=`],
  ['pypi', `pypi-${'AgEIcHlwaS5vcmc'}${drawn(120)}`],
  ['twilio', `S${'K'}${drawn(32, HEX)}`],
  ['gitlab', `gl${'ptt'}-${drawn(40)}`],
  ['digitalocean', `dop_${'v1'}_${drawn(64, HEX)}`],
  ['openrouter', `sk-${'or'}-v1-${drawn(64, HEX)}`],
  ['supabase', `sbp_${drawn(40, HEX)}`],
  ['netlify', `nfp_${drawn(36)}`],
  ['heroku', `HRKU-${drawn(40)}`],
  ['doppler', `dp.${'pt'}.${drawn(43)}`],
  ['postman', `PMAK-${drawn(24, HEX)}-${drawn(34, HEX)}`],
  ['newrelic', `NRAK-${drawn(27, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')}`],
  ['discord-webhook', `https://discord.com/api/webhooks/1${drawn(17, '0123456789')}/${drawn(68)}`],
  ['square', `sq0${'atp'}-${drawn(22)}`],
  ['atlassian', `ATAT${'T3xFf'}GF0${drawn(180)}`],
  [
    'dynatrace',
    `dt0c01.${drawn(24, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')}.${drawn(64, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`,
  ],
  ['terraform', `${drawn(14)}.atlas${'v1'}.${drawn(67)}`],
  ['age-key', `AGE-SECRET-${'KEY'}-1${drawn(58, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')}`],
  ['langsmith', `lsv2_pt_${drawn(32, HEX)}_${drawn(10, HEX)}`],
  ['claude-login', `sk-ant-${'oat'}01-${drawn(93)}AA`],
  ['xai', `${'xai'}-${drawn(80)}`],
  ['perplexity', `${'pplx'}-${drawn(48)}`],
  ['webhook-secret', `${'whsec'}_${drawn(32)}`],
  ['rubygems', `${'rubygems'}_${drawn(48, HEX)}`],
  ['sentry', `${'sntrys'}_${base64url({ iat: 1, url: null, region: 'x', org: 'octo' })}=_${drawn(43)}`],
  ['sentry', `${'sntryu'}_${drawn(64, HEX)}`],
  ['pulumi', `${'pul'}-${drawn(40, HEX)}`],
  ['telegram', `1${drawn(9, '0123456789')}:${'AAH'}${drawn(32)}`],
  ['rsa-jwk', `{"kty":"EC","crv":"P-256","d":"${drawn(43)}"}`],
];

test('Every rule of a prefix has a token here.', () => {
  expect([...new Set(TOKENS.map(([rule]) => rule))].sort()).toEqual(Object.keys(TOKEN_RULES).sort());
});

test.each(TOKENS)('findSecrets finds a token of %s', async (rule, token) => {
  expect(await find(`<p>\n${token}\n</p>`)).toEqual([rule]);
  expect(await find(`const x="${token}";`)).toEqual([rule]);
});

test.each([
  ['the token of a tutorial', jwtWith({ sub: '1234567890', name: 'John Doe' })],
  ['no signed token', `eyJhbGciOiJub25lIn0.${base64url({ a: 1, b: drawn(20) })}.${drawn(43)}`],
  ['a repeated character', `AI${'za'}${'x'.repeat(35)}`],
  ['a part of a longer word', `AI${'za'}${drawn(50)}`],
  ['a time and letters', '12345678:AAAA and rubygems_and_friends'],
  ['a name in code', 'this.hasKey=function(){return SKIPPED}'],
])('findSecrets does not take %s for a secret', async (_, text) => {
  expect(await find(text)).toEqual([]);
});

/** What is decoded. */
const EMBEDDED: readonly (readonly [name: string, write: (text: string) => string])[] = [
  ['percent-encoding', encodeURIComponent],
  [
    'percent-encoding of every character',
    (text) => text.replace(/./gs, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`),
  ],
  ['base64 behind a word', (text) => `x${Buffer.from(`some ${text} more`).toString('base64')}`],
  [
    'base64 in a data: address',
    (text) => `data:,x;base64,${Buffer.from(`some words and ${text}`).toString('base64url')}`,
  ],
];

describe.each(EMBEDDED)('findSecrets in %s', (_, write) => {
  test('finds well-known secrets of every kind, and their line', async () => {
    const secrets = [
      ...PRESET_SECRETS.map(([rule, before, secret]) => [rule, before + secret] as const),
      ...TOKENS,
    ];
    for (const [rule, secret] of secrets) {
      const content = `first\n"${write(` ${secret} `)}"\nlast`;
      const found = (await findSecrets(fileOf(content), signal)).map((one) => [one.rule, one.line]);
      expect([secret, found]).toEqual([secret, expect.arrayContaining([[rule, 2]])]);
    }
  });

  test('finds a secret at every place of a large file', async () => {
    const token = `ghp_${drawn(36)}`;
    for (const before of [245_700, 262_100]) {
      const content = `${'lorem ipsum\n'.repeat(before / 12)}"${write(token)}" ${'lorem '.repeat(6_000)}`;
      expect([before, await find(content)]).toEqual([before, ['github']]);
    }
  });
});

test('findSecrets tells a secret once where a word also has escapes.', async () => {
  expect(await find(`https://octo.dev/?a=%20%41&token=ghp_${drawn(36)}&b=%42`)).toEqual(['github']);
});
