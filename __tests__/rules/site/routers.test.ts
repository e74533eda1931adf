import { describe, expect, test } from '@jest/globals';
import { inspect } from './sites.ts';

const PAGE = '<title>R</title><script type="module" crossorigin src="./assets/index-B0-gaXsw.js"></script>';

const settingOf = async (script: string, options = {}, page = PAGE) =>
  (await inspect({ 'index.html': page, 'assets/index-B0-gaXsw.js': script }, options)).routerSetting;

describe('a page with a script', () => {
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

  test('has nothing to set where there is no script', async () => {
    expect(await settingOf('', {}, '<a href=assets/index-B0-gaXsw.js>code</a>')).toBeNull();
  });

  test('has nothing to set at the root of a host', async () => {
    expect(await settingOf('', { sitePath: '/', rootPath: '/' })).toBeNull();
  });
});
