import { describe, expect, test } from '@jest/globals';
import { inspect } from './sites.ts';

/** Extracts of what Vite made of apps with `base: './'`. */
const PAGE = '<title>R</title><script type="module" crossorigin src="./assets/index-B0-gaXsw.js"></script>';
const REACT_ROUTER =
  'let{pathname:r,search:i,hash:a}=e.location;c.pushState(l,``,d);s.addEventListener(`popstate`,f);new URL(i).pathname';
const VUE_ROUTER =
  'r=n.createWebHistory("./");let{pathname:n}=t;n=t.pathname;history.pushState(e,``,u);window.addEventListener(`popstate`,l)';

const settingOf = async (script: string, options = {}, page = PAGE) =>
  (await inspect({ 'index.html': page, 'assets/index-B0-gaXsw.js': script }, options)).routerSetting;

describe('a script that may have a router', () => {
  test.each([
    ['React Router', REACT_ROUTER],
    ['Vue Router', VUE_ROUTER],
  ])('is found with what to set where nothing names the folder: %s', async (_, script) => {
    const files = { 'index.html': PAGE, 'assets/index-B0-gaXsw.js': script };
    expect((await inspect(files)).routerSetting).toBe(
      'the base path of the build and of its router to `/repo/previews/pr-12/`',
    );
    expect((await inspect({ ...files, '_astro/a.svg': '' })).routerSetting).toBe(
      "`base: '/repo/previews/pr-12/'` in astro.config, and give the router the same base",
    );
  });

  test('is found in a page that has its script in itself, and in what is imported', async () => {
    expect(await settingOf('', {}, `<script type=module>${REACT_ROUTER}</script>`)).not.toBeNull();
    const imported = { 'index.html': '<script type=module>import "./r.js"</script>', 'r.js': VUE_ROUTER };
    expect((await inspect(imported)).routerSetting).toBe(
      'the base path of the build and of its router to `/repo/previews/pr-12/`',
    );
  });

  test.each([
    ['the script names the folder', `${REACT_ROUTER};basename:\`/repo/previews/pr-12/\``, PAGE],
    ['the page names it', VUE_ROUTER, `<base href=/repo/previews/pr-12/>${PAGE}`],
    ['no address is ever changed', 'location.pathname', PAGE],
    ['only the fragment counts', 'addEventListener(`hashchange`,f);history.pushState(l,``,`#/a`)', PAGE],
    ['the script is not loaded at the start', VUE_ROUTER, '<a href=assets/index-B0-gaXsw.js>code</a>'],
  ])('is not found where %s', async (_, script, page) => {
    expect(await settingOf(script, {}, page)).toBeNull();
  });

  test('needs nothing at the root of a host', async () => {
    expect(await settingOf(REACT_ROUTER, { sitePath: '/', rootPath: '/' })).toBeNull();
  });
});
