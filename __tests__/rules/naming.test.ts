import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TEXT } from '../../src/protocol/limits.ts';
import {
  assetName,
  binFileName,
  decodePath,
  encodePath,
  nameFromFile,
  repositoryPath,
  urlBelow,
} from '../../src/rules/naming.ts';

/** й as one code point and as two: the same on screen, but not in an address. */
const COMPOSED = '\u0439';
const DECOMPOSED = '\u0438\u0306';

/** Any file name, including foreign letters and emoji. */
const anyName = fc.string({ unit: 'binary', minLength: 1, maxLength: 80 });

test.each([
  ['my report  v2.html', 'my-report-v2.html'],
  [' padded.html ', 'padded.html'],
  ['two\nlines.html', 'two-lines.html'],
  ['отчёт.html', 'отчёт.html'],
  [`${DECOMPOSED}.html`, `${COMPOSED}.html`],
])('nameFromFile converts %j to %j', (given, name) => {
  expect(nameFromFile(given)).toBe(name);
  expect(() => nameFromFile('.git')).toThrow(/name leads into \.git/);
});

describe('repositoryPath', () => {
  test.each([
    ...'a.html отчёты/итог.html .well-known/x.txt docs/.github/x.html a..b/c.html ... %2e%2e/a.html 🎉.html'.split(
      ' ',
    ),
    'x'.repeat(TEXT.path),
  ])('accepts %j unchanged, composed as people type it', (path) => {
    expect(repositoryPath(path, 'it')).toBe(path);
    expect(repositoryPath(`${DECOMPOSED}.html`, 'it')).toBe(`${COMPOSED}.html`);
  });

  test.each<[string, readonly string[], RegExp]>([
    ['is empty', [''], /^name a file, or \.\/ for/],
    [`is longer than ${TEXT.path} characters`, ['x'.repeat(TEXT.path + 1)], /\w/],
    ['contains control characters', ['a\u0000.html', 'a\tb', 'a\u202etxt', 'a\u200bb', 'a\u2028b'], /\w/],
    ['contains a space', ['a b.html', 'a\u00a0b.html', 'a.html '], /^remove it, or write - or _/],
    ['contains a backslash', ['docs\\a.html'], /^write \/ between folders, or rename/],
    ['contains *, but is not a pattern', ['p*/a.html', 'docs/**'], /^write each path in full$/],
    [
      'is a URL, or has a part that ends in :',
      ['https://octo.github.io/r/a.html', 'https:/a.html', 'a:/b.html', 'a:'],
      /^write only what follows https:\/\/…\/$/,
    ],
    ['starts with a slash', ['/a.html'], /^write it without this slash/],
    ['contains . or .. as a folder', ['../a.html', 'a/../b', '..', './a.html'], /^write it without them/],
    ['has an empty folder or file name', ['docs//a.html', 'docs/'], /\w/],
    ['leads into .git', ['.git/config', 'docs/.GIT/config', '.git'], /^choose another path$/],
    ['leads into .github', ['.github/workflows/x.yml', '.GitHub/x.html'], /^choose another path$/],
  ])('refuses a path that %s, %j, with the hint %s', (reason, paths, advice) => {
    const message = `input \`path\` ${reason}`;
    for (const path of paths) {
      const refusal = { code: 'BAD_INPUT', message, hint: expect.stringMatching(advice) };
      expect(() => repositoryPath(path, 'input `path`')).toThrow(expect.objectContaining(refusal));
    }
  });
});

describe('encodePath and urlBelow', () => {
  test.each([
    ["-._~!$&'()*+,;=:@/x", "-._~!$&'()*+,;=:@/x"],
    ['100%25?#.html', '100%2525%3F%23.html'],
    ['a b\\c"<d>`{e}|[f]^.html', 'a%20b%5Cc%22%3Cd%3E%60%7Be%7D%7C%5Bf%5D%5E.html'],
    ['ё.html', '%D1%91.html'],
  ])('write %j as %j', (path, expected) => {
    expect(encodePath(path)).toBe(expected);
    const folder = new URL('https://octo.dev//a%2Bb?c#d');
    expect(urlBelow(folder, path).href).toBe(`https://octo.dev//a%2Bb/${expected}`);
  });

  test('write any name so that no browser changes it, and every server reads it', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        fc.pre(name.isWellFormed() && !/^\.{0,2}$|\//.test(name));
        const { href, pathname } = urlBelow(new URL('https://octo.dev/x/'), name);
        expect(new URL(`./${encodePath(name)}`, 'https://octo.dev/x/').href).toBe(href);
        expect(pathname).toMatch(/^[\w\-.~!$&'()*+,;=:@/%]+$/);
        expect(decodePath(pathname)).toBe(`/x/${name}`);
      }),
    );
  });
});

describe('assetName', () => {
  test.each([
    ['отчёт.html', 'otchyot.html'],
    ['naïve café.pdf', 'naive-cafe.pdf'],
    ['a (final).html', 'a-final.html'],
    ['日本語.html', 'file.html'],
    ['🎉.html', 'file.html'],
    ['.html', 'file.html'],
    ['.', 'file'],
    ['html', 'html'],
    ['.hidden.txt', 'hidden.txt'],
    ['--a--.html', 'a.html'],
    ['a..b...zip', 'a.b.zip'],
  ])('converts %j to %j', async (name, asset) => {
    expect(await assetName(name)).toBe(asset);
  });

  test('converts any name to one that GitHub keeps, and does not change that again', async () => {
    await fc.assert(
      fc.asyncProperty(anyName, async (name) => {
        const asset = await assetName(name);
        expect(asset).toMatch(/^(?!.*\.\.)[A-Za-z0-9_+@][A-Za-z0-9\-_+@.]*$/);
        expect(await assetName(asset)).toBe(asset);
      }),
    );
  });
});

describe('binFileName', () => {
  test.each([
    ['report-v1_2=(a+b),[c].html', 'report-v1_2=(a+b),[c].html'],
    ['отчёт.html', 'отчёт.html'],
    [`${DECOMPOSED}.html`, `${COMPOSED}.html`],
    ["a'b c.html", 'a_b_c.html'],
    ['.hidden', '_hidden'],
    ['..', '_.'],
    ['a/b\\c.html', 'a_b_c.html'],
    ['🎉.html', '_.html'],
    [`${'x'.repeat(200)}.html`, `${'x'.repeat(115)}.html`],
    [`${'я'.repeat(100)}.html`, `${'я'.repeat(57)}.html`],
    ['x'.repeat(121), 'x'.repeat(120)],
    // A letter with four bytes and two UTF-16 units is never cut.
    [`${'𐐀'.repeat(40)}.html`, `${'𐐀'.repeat(28)}.html`],
    // An ending with more than 16 characters is part of the name.
    [`${'x'.repeat(110)}.${'y'.repeat(20)}`, `${'x'.repeat(110)}.${'y'.repeat(9)}`],
  ])('converts %j to %j', (name, stored) => {
    expect(binFileName(name)).toBe(stored);
  });

  test('converts any name to one that the host stores unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
        const stored = binFileName(name);
        expect(stored).toMatch(/^[\p{L}\p{Nd}\-_=+,.()[\]]*$/u);
        expect(stored.startsWith('.')).toBe(false);
        expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(120);
        expect(stored.normalize('NFC')).toBe(stored);
        expect(binFileName(stored)).toBe(stored);
      }),
    );
  });
});
