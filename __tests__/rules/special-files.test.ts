import { describe, expect, test } from '@jest/globals';
import { refuseSpecialFile } from '../../src/rules/jekyll.ts';

describe('refuseSpecialFile', () => {
  test.each([
    ['CNAME', '', /domain/],
    ['cname', '', /domain/],
    ['docs/CNAME', 'docs', /domain/],
    ['_config.yml', '', /Jekyll/],
    ['docs/_config.yml', 'docs', /Jekyll/],
    ['_config.yaml', '', /Jekyll/],
    ['_config.toml', '', /Jekyll/],
    ['.nojekyll', '', /Jekyll/],
    ['.lfsconfig', '', /git/],
    ['.gitattributes', '', /git/],
    ['deep/folder/.gitattributes', '', /git/],
    ['previews/.gitignore', '', /git/],
    ['.gitmodules', '', /repositories/],
    ['CODEOWNERS', '', /approve/],
    ['docs/CODEOWNERS', '', /approve/],
    ['.github/CODEOWNERS', '', /approve/],
  ])('refuses %s on a site in the folder %j, with the reason', (path, siteFolder, effect) => {
    expect(() => refuseSpecialFile(path, siteFolder)).toThrow(effect);
  });

  test.each([
    ['previews/pr-1/CNAME', ''],
    ['CNAME', 'docs'],
    ['docs/CNAME', ''],
    ['reports/_config.yml', ''],
    ['vendor/CODEOWNERS', ''],
    ['modules/.gitmodules', ''],
    ['CNAME.html', ''],
    ['page.html', ''],
  ])('accepts %s on a site in the folder %j', (path, siteFolder) => {
    expect(() => refuseSpecialFile(path, siteFolder)).not.toThrow();
  });
});
