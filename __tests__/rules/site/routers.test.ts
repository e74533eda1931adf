import { describe, expect, test } from '@jest/globals';
import { inspect } from './sites.ts';

const PAGE = '<title>R</title><script type="module" crossorigin src="./assets/index-B0-gaXsw.js"></script>';

const settingOf = async (script: string, options = {}, page = PAGE) =>
  (await inspect({ 'index.html': page, 'assets/index-B0-gaXsw.js': script }, options)).routerSetting;

describe('a page with a script that no text tells its place', () => {
  test('has what to set if a browser sees something else at the root of a host', async () => {
    expect(await settingOf('createRoot(a)')).toBe(
      'the base path of the build to `/repo/previews/pr-12/`, and the same for its router and for addresses in its scripts',
    );
    expect(await settingOf('', {}, '<script>fetch("/a.json")</script>')).not.toBeNull();
    const slidev = {
      'index.html': PAGE,
      'assets/index-B0-gaXsw.js': '',
      'assets/slidev/shortcuts-DlL240M5.js': '',
    };
    expect((await inspect(slidev)).routerSetting).toBe(
      'the base with `slidev build --base /repo/previews/pr-12/`, and the same for its router and for addresses in its scripts',
    );
  });

  test.each([
    ['the script names the folder', 'basename:`/repo/previews/pr-12/`', PAGE],
    ['the page names it', '', `<base href=/repo/previews/pr-12/>${PAGE}`],
    ['an imported script names it', 'import "./r.js"', PAGE],
    ['there is no script', '', '<a href=assets/index-B0-gaXsw.js>code</a>'],
  ])('has nothing to set where %s', async (_, script, page) => {
    const files = {
      'index.html': page,
      'assets/index-B0-gaXsw.js': script,
      'assets/r.js': "'/repo/previews/pr-12/'",
    };
    expect((await inspect(files)).routerSetting).toBeNull();
  });

  test('has nothing to set at the root of a host', async () => {
    expect(await settingOf('', { sitePath: '/', rootPath: '/' })).toBeNull();
  });
});
