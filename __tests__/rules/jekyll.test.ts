import { describe, expect, test } from '@jest/globals';
import { buildWithJekyll, isLeftOutByJekyll } from '../../src/rules/jekyll.ts';
import { refuseSpecialFile } from '../../src/rules/special-files.ts';

/** The first bytes of a text, as a file has them. */
const headOf = (text: string): string => Buffer.from(text).toString('latin1', 0, 16);

describe('buildWithJekyll', () => {
  test.each([
    ['page.html', '<!doctype html>', true, null],
    ['_page.html', '<!doctype html>', false, null],
    ['page.html', '---\ntitle: x\n---', false, 'page.html'],
    // Markdown becomes a page; without front matter it is served as it is, too.
    ['notes.md', '# x', true, 'notes.html'],
    ['a/NOTES.Markdown', '# x', true, 'a/NOTES.html'],
    ['notes.mkdn', '---\n---\n# x', false, 'notes.html'],
    ['notes.mdown', '# x', true, null],
    ['md.html', '<p>', true, null],
    ['README.md', '# x', true, null],
    ['a/Contributing.markdown', '# x', true, null],
    ['LICENSE.md', '---\n---\n# x', false, 'LICENSE.html'],
    ['README.old.md', '# x', true, 'README.old.html'],
  ])('makes of %s that begins with %j: copied %s, page %s', (path, text, isCopied, page) => {
    expect(buildWithJekyll(path, headOf(text))).toEqual({ isCopied, page });
  });

  // As Jekyll 3.10 and 4.3 do.
  test.each([
    ['---\n', true],
    ['---\r\nx', true],
    ['--- \t\f\v\nx', true],
    [`---${' '.repeat(40)}\nx`, true],
    ['---', false],
    ['---\r---\r', false],
    ['---\u00a0\n', false],
    ['\ufeff---\n', false],
    ['\n---\n', false],
    ['--- a/x\n+++ b/x\n', false],
  ])('takes %j for front matter: %s', (text, expected) => {
    expect(buildWithJekyll('a.txt', headOf(text)).isCopied).toBe(!expected);
  });
});

// As Jekyll 4.3.1 built these names.
test.each([
  [true, '_a.html .a.html #a.html ~a.html a.html~ docs/_drafts/a.html docs/.hidden/a.html docs~/a.html'],
  [
    true,
    'Gemfile Gemfile.lock Gemfile.html gemfiles/a.js gemfiles2.js node_modules/a.html node_modules.html',
  ],
  [true, 'vendor/bundle/a.js vendor/gems/a.js .well-known/a .sass-cache.html'],
  [false, 'a.html a_b.html docs/a.html docs/vendor/bundle/a.js a~b.html vendor.html a#b.html vendor2/a.js'],
  [false, 'vendor/a.js vendor/bundle.html vendor/bundler/a.js docs/Gemfile docs/node_modules/a.js'],
  [false, '.htaccess docs/.htaccess'],
])('isLeftOutByJekyll is %s for %s', (expected, paths) => {
  expect(paths.split(' ').filter((path) => isLeftOutByJekyll(path) !== expected)).toEqual([]);
});

describe('refuseSpecialFile', () => {
  test.each<[RegExp | null, string | null, string]>([
    [/domain/, '', 'CNAME cname'],
    [/domain/, 'docs/', 'docs/CNAME'],
    [/Jekyll/, '', '_config.yml _config.yaml _config.toml .nojekyll'],
    [/Jekyll/, 'docs/', 'docs/_config.yml'],
    [/git/, '', '.lfsconfig .gitattributes deep/folder/.gitattributes previews/.gitignore'],
    [/repositories/, '', '.gitmodules'],
    [/approve/, '', 'CODEOWNERS docs/CODEOWNERS .github/CODEOWNERS'],
    [null, '', 'previews/pr-1/CNAME docs/CNAME reports/_config.yml vendor/CODEOWNERS CNAME.html page.html'],
    [null, '', 'modules/.gitmodules'],
    [null, 'docs/', 'CNAME'],
    [null, null, 'CNAME _config.yml .nojekyll'],
    [/git/, null, '.gitattributes'],
  ])('has the reason %s on a site in the folder %j for %s', (effect, siteRoot, paths) => {
    for (const path of paths.split(' ')) {
      const refuse = () => refuseSpecialFile(path, siteRoot);
      if (effect === null) expect(refuse).not.toThrow();
      else expect(refuse).toThrow(effect);
    }
  });
});
