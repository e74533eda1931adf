import { describe, expect, test } from '@jest/globals';
import { drawn, findSecrets, PRESET_SECRETS, pem } from './fake-secrets.ts';

const TOKEN = `ghp_${drawn(36)}`;
const find = async (content: string | Buffer): Promise<(string | number | null)[][]> =>
  (await findSecrets(content)).map(({ rule, line }) => [rule, line]);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const toHex = (text: string): string => Buffer.from(text).toString('hex');
const inLines = (text: string): string => text.replace(/.{64}/g, '$&\n');
const padding = 'a usual text without any secret; '.repeat(3);

describe('the search in embedded content', () => {
  const source = `const x = 1; ${padding}\n// ${TOKEN}\n${padding}`;
  test.each([
    ['a data: URI', `<p>\n<a href="data:text/plain;base64,${base64(source)}">x</a>`, 2],
    [
      'an inline source map',
      `f();\n\n//# x=data:application/json;base64,${base64(`{"s":["${source}"]}`)}`,
      3,
    ],
    ['a block of base64', `config: ${base64(source)}\n`, 1],
    ['lines of base64', `\nconfig: |\n  ${base64(source).replace(/.{64}/g, '$&\n  ')}\n`, 5],
    ['lines of 60 with escapes, as an API returns them', `"${base64(source).replace(/.{60}/g, '$&\\n')}"`, 1],
    ['lines after a short one', `\n${base64(source).slice(0, 24)}\n${inLines(base64(source).slice(24))}`, 5],
    ['binary content', `\n${inLines(base64(`\0\0\xff\xfe${source}`))}`, 4],
    ['URL-safe base64', `?state=${base64(`${source}ÿÿÿ???`).replaceAll('+', '-').replaceAll('/', '_')}`, 1],
  ])('finds a secret in %s, and its line', async (_, content, line) => {
    expect(await find(content)).toEqual([['github', line]]);
  });

  test('finds a secret in a data: URI with escapes', async () => {
    const uri = encodeURIComponent(`<p>${pem()}</p>`);
    expect(await find(`<a href="data:text/html,${uri}">x</a>`)).toEqual([['private-key', 1]]);
  });

  test.each([0, 1, 2, 3])('finds a secret in a run over many blocks, %i characters later', async (by) => {
    const long = base64(`${'lorem ipsum '.repeat(60_000)}${TOKEN} ${'lorem ipsum '.repeat(20_000)}`);
    expect(await find(`${'x '.repeat(by)}"${long}"`)).toEqual([['github', 1]]);
    expect(await find(`${'x '.repeat(by)}\n${long.replace(/.{76}/g, '$&\r\n')}`)).toHaveLength(1);
  });

  test('finds a secret once, with the fingerprint that it has as plain text', async () => {
    const [plain] = await findSecrets(TOKEN);
    const [embedded, ...others] = await findSecrets(`"${base64(source)}"`);
    expect([embedded?.fingerprint, others]).toEqual([plain?.fingerprint, []]);
  });

  test.each([
    ['percent-encoding', encodeURIComponent],
    ['percent-encoding of every character', (text: string) => toHex(text).replace(/../g, '%$&')],
    ['base64 of nothing else', (text: string) => base64(text.trim())],
    ['base64 behind a word', (text: string) => `x${base64(`some ${text} more`)}`],
    ['a data: address', (text: string) => `data:,x;base64,${base64(`some words and ${text}`)}`],
  ])('finds well-known secrets of every kind in %s, at every place of a large file', async (_, write) => {
    for (const [rule, before, secret] of PRESET_SECRETS) {
      const found = await find(`first\n"${write(` ${before}${secret} `)}"\nlast`);
      expect([secret, found]).toEqual([secret, expect.arrayContaining([[rule, 2]])]);
    }
    for (const before of [245_700, 262_100]) {
      const content = `${'lorem ipsum\n'.repeat(before / 12)}"${write(TOKEN)}" ${'lorem '.repeat(6_000)}`;
      expect(await find(content)).toEqual([['github', Math.floor(before / 12) + 1]]);
    }
  });

  test('reports a secret once if its word also has escapes', async () => {
    expect(await find(`https://octo.dev/?a=%20%41&token=${TOKEN}&b=%42`)).toEqual([['github', 1]]);
  });

  test.each([
    ['base64 of base64', base64(base64(source))],
    ['an image', `data:image/png;base64,iVBORw0KGgo${base64(padding)}`],
    ['a long word', 'abcdefghij'.repeat(20)],
  ])('finds nothing in %s', async (_, content) => {
    expect(await find(content)).toEqual([]);
  });
});
