import { describe, expect, test } from '@jest/globals';
import { checkPages, checkSite } from '../../src/delivery/check-site.ts';
import { type Delivery, newDelivery } from '../../src/delivery/delivery.ts';
import { DeliveryError } from '../../src/errors.ts';
import { createMemoryFile } from '../../src/rules/inspect.ts';
import { siteOfFile } from '../../src/rules/local-site.ts';
import { memoryFile, memorySite } from '../channels/pages/site/memory-files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../support/ports.ts';
import { deliveryWith, PAGE, plannedAttempt, requestWith, taskWith } from './builders.ts';

const SERVED = {
  url: new URL('https://octo.github.io/site/p/1/'),
  sitePath: '/site/p/1/',
  display: 'page',
  isServedAsIs: true,
  pictureUrls: null,
} as const;
const { signal } = new AbortController();

/** A delivery of the folder `dist`, served at an address where there is a host. */
function delivery(isServed = true): Delivery {
  const task = { ...taskWith(), ...(isServed ? { served: SERVED } : {}) };
  return { ...deliveryWith({ subject: 'dist', notes: ['before'] }), attempts: [plannedAttempt(task)] };
}

const check = (contents: Readonly<Record<string, string>>, isServed = true, mode = 'auto') =>
  checkSite(
    { ...delivery(isServed), site: memorySite(contents) },
    { request: requestWith({ repository: '', 'self-contained': mode }), signal },
  );

const page = (body: string): string => `<!doctype html>\n<title>x</title>${body}`;

describe('checking the references of a site', () => {
  test.each<[string, Record<string, string>, boolean]>([
    ['the site', {}, true],
    ['a named tag', { tag: 'v1' }, false],
    ['a named bin', { bin: 'octo-bin-12345678' }, false],
  ])('checks a page for `auto` and %s', async (_, inputs, isChecked) => {
    const request = requestWith({ repository: '', ...inputs });
    const site = siteOfFile(
      createMemoryFile('a.html', Buffer.from(page('<script src="https://a.io/b.js"></script>'))),
    );
    const checked = checkSite(
      { ...newDelivery('deliver', 'a.html'), name: 'a.html', site },
      { request, signal },
    );
    await (isChecked
      ? expect(checked).rejects.toThrow('self-contained')
      : expect(checked).resolves.toBeDefined());
  });

  test('changes nothing of a delivery whose folder is complete', async () => {
    const contents = { 'index.html': page('<script src="app.js"></script>'), 'app.js': 'document.title = 1' };
    const checked = await check(contents);
    const { site } = checked;
    expect(checked).toEqual({ ...delivery(), site, routerSetting: expect.stringContaining('base path') });
  });

  test('keeps the URLs of pictures that the entry misses, as a browser requests them', async () => {
    const { missingUrls, unknown } = await check({ 'index.html': page('<img src="img/B%20.PNG?v=1">') });
    expect([missingUrls, unknown]).toEqual([
      [expect.stringMatching(/^\/.*\/img\/B%20\.PNG\?v=1$/)],
      [expect.stringContaining('is missing')],
    ]);
  });

  test('refuses what a page misses, all of it together', async () => {
    const contents = { 'index.html': page('<script src="a.js"></script><link rel=stylesheet href=b.css>') };
    const hint = 'add the file to the folder, or remove the reference';
    await expect(check(contents)).rejects.toMatchObject({
      code: 'BAD_FILE',
      about: 'the folder dist is not complete',
      findings: [expect.stringMatching(/^index\.html line 2: .*a\.js/), expect.stringContaining('b.css')],
      hint,
      leftBehind: [],
    });
    await expect(check(contents)).rejects.not.toMatchObject({ message: expect.stringContaining(hint) });
  });

  test('says a hint that not all findings share at the first one that has it', async () => {
    const other = '<script src="https://a.example/a.js"></script><img src="https://a.example/b.png" alt="">';
    const refused = check({ 'index.html': page(`<script src="c.js"></script>${other}`) }, true, 'enforce');
    const { findings } = (await refused.catch((thrown: unknown) => thrown)) as DeliveryError;
    expect(findings).toHaveLength(3);
    const told = findings.filter((line) => `${line}`.includes('deliver a copy of it'));
    expect(told).toEqual([expect.stringContaining('a.example/a.js')]);
  });

  test('refuses what the host would not show, together with what a page misses', async () => {
    const refusal = new DeliveryError('BAD_INPUT', 'Jekyll leaves out _a.js', { hint: 'set `nojekyll`' });
    const checkAt = (contents: Readonly<Record<string, string>>) => {
      const task = { ...taskWith(), served: { ...SERVED, refusal } };
      const given = { ...delivery(), attempts: [plannedAttempt(task)] };
      return checkSite({ ...given, site: memorySite(contents) }, { request: requestWith(), signal });
    };
    await expect(checkAt({ 'index.html': page('') })).rejects.toBe(refusal);
    await expect(checkAt({ 'index.html': page('<script src="a.js"></script>') })).rejects.toMatchObject({
      code: 'BAD_FILE',
      findings: [expect.stringContaining('a.js'), 'Jekyll leaves out _a.js'],
      hint: expect.stringMatching(/; set `nojekyll`$/),
    });
  });

  test.each(['auto', 'warn'])('names in UNKNOWN what it needs of other hosts, with `%s`', async (mode) => {
    const other = page('<script src="https://a.example/a.js"></script>');
    const checked = await check({ 'index.html': other }, true, mode);
    expect(checked.notes).toEqual(['before']);
    expect(checked.unknown).toEqual([
      'index.html line 2: script https://a.example/a.js is loaded from another host (deliver a copy of it in the folder)',
    ]);
  });

  test.each(['auto', 'enforce', 'warn', 'off'])(
    'refuses a missing file of its own with `%s`',
    async (mode) => {
      const contents = { 'index.html': page('<link rel="stylesheet" href="a.css">') };
      await expect(check(contents, true, mode)).rejects.toMatchObject({ code: 'BAD_FILE' });
    },
  );

  describe('without a host', () => {
    const checkUnder = (contents: Readonly<Record<string, string>>, inputs = {}) =>
      checkSite(
        { ...delivery(false), name: 'previews/x', site: memorySite(contents) },
        { request: requestWith({ repository: 'octo/site', ...inputs }), signal },
      );
    const FULL = 'https://octo.github.io/site/previews/x/';

    test.each([['/site/previews/x/'], [FULL], ['//octo.github.io/site/previews/x/']])(
      'expects the usual place of the folder, and says that the addresses need it: %s',
      async (base) => {
        const checked = await checkUnder({
          'index.html': page(`<script src="${base}assets/app.js"></script>`),
          'assets/app.js': 'document.title = 1',
        });
        expect(checked.unknown).toEqual([
          `whether the folder will be at ${FULL}, as its absolute URLs assume`,
        ]);
        expect(checked.notes).toEqual(['before']);
      },
    );

    test.each([
      ['/', {}, '`/site/previews/x/`'],
      ['/site/', {}, '`/site/previews/x/`'],
      ['/', { 'pages-base': 'https://docs.example.org/' }, '`/previews/x/`'],
      ['https://docs.example.org/previews/x/', {}, `build the site for ${FULL}`],
      ['https://docs.example.org/', {}, `build the site for ${FULL}`],
    ])(
      'leaves open whether an address with the base %s is wrong, and names the base: %j',
      async (base, inputs, hint) => {
        const contents = { 'index.html': page(`<script src="${base}a/app.js"></script>`), 'a/app.js': '' };
        const { unknown } = await checkUnder(contents, inputs);
        expect(unknown).toEqual([expect.stringContaining(`${base}a/app.js`)]);
        expect(unknown).toEqual([expect.stringContaining(hint)]);
      },
    );

    test('says first of all to name the repository where none is known and the base may be wrong', async () => {
      const contents = { 'index.html': page('<script src="/a/app.js"></script>'), 'a/app.js': '' };
      const [first, ...others] = (await checkUnder(contents, { repository: '' })).unknown;
      expect(first).toMatch(/: name the repository to check this$/);
      expect(others).toEqual([expect.stringContaining('/a/app.js')]);
      const { unknown } = await checkUnder({ 'index.html': page('') }, { repository: '' });
      expect(unknown).toEqual([]);
    });

    test('refuses what the folder lacks, and what the own machine serves', async () => {
      for (const src of ['app2.js', 'http://localhost:3000/app.js']) {
        const contents = { 'index.html': page(`<script src="${src}"></script>`), 'app.js': '' };
        await expect(checkUnder(contents)).rejects.toMatchObject({ code: 'BAD_FILE' });
      }
    });
  });
});

/** A file that K1 will serve beside `PAGE`. */
function planned(name: string, content: string): Delivery {
  const served = { ...SERVED, url: new URL(name, PAGE), sitePath: '/site/' };
  const site = siteOfFile(memoryFile(content, name));
  const attempts = [plannedAttempt({ ...taskWith(), served })];
  return { ...newDelivery('deliver', name), name, site, attempts };
}

const PAGE_WITH_STYLE = planned('page.html', '<link rel=stylesheet href=style.css>');

/** What becomes of the first delivery, and what its host was asked. */
async function checkAlone(mode: string, deliveries: readonly Delivery[], host: Scripted | Error = {}) {
  const { http, seen } = new FakeHttp(() => host);
  const request = requestWith({ 'self-contained': mode });
  const [checked] = await checkPages(deliveries, { ...fakePorts(http), request });
  return { code: checked?.failure?.code ?? null, asked: seen.map(({ url }) => url) };
}

describe('a page that is delivered alone', () => {
  const asked = [expect.stringMatching(/\/site\/style\.css\?v=/)];

  test.each([
    ['auto', 'BAD_FILE', []],
    ['enforce', 'BAD_FILE', []],
    ['warn', null, asked],
    ['off', null, asked],
  ])('with `self-contained: %s` and a style sheet that its host has: %s', async (mode, code, requests) => {
    expect(await checkAlone(mode, [PAGE_WITH_STYLE])).toEqual({ code, asked: requests });
  });

  test.each(['warn', 'off'])('is refused with `%s` where its style sheet is missing', async (mode) => {
    expect(await checkAlone(mode, [PAGE_WITH_STYLE], { status: 404 })).toEqual({ code: 'BAD_FILE', asked });
  });

  const INLINE = 'set `self-contained: inline`';
  const CDN = '<script src="https://cdn.example/a.js"></script>';
  const PANDOC = '<meta content="pandoc" name="generator">';
  test.each([
    [CDN, `${INLINE}, or set \`self-contained: warn\` to publish it as it is`],
    [`${PANDOC}${CDN}`, `${INLINE}, or use \`--embed-resources\` of pandoc`],
    [
      '<link rel=stylesheet href="a_files/a.css">',
      `${INLINE}, or deliver the folder site/out/, with \`entry: a.html\``,
    ],
    [`${PANDOC}<link rel=stylesheet href="a.css">`, `${INLINE}, or use \`--embed-resources\` of pandoc`],
    [
      '<script src="../../b.js"></script><script src="c.js"></script>',
      'deliver a folder that has the page and these files, with `entry: site/out/a.html`',
    ],
    [
      `<script src="../b.js"></script><script src="c.js"></script>${CDN}`,
      'deliver the folder site/, with `entry: out/a.html`',
    ],
    ['<script src="/a.js"></script>', 'write everything that it needs into the page'],
    ['<script src="http://cdn.example/a.js"></script>', 'begin its URL with `https:`'],
    ['<script src="http://localhost/a.js"></script>', 'write everything that it needs into the page'],
    [`${PANDOC}<script src="/a.js"></script>`, 'use `--embed-resources` of pandoc'],
    [`${PANDOC}<meta charset=windows-1251>\xcf\xf0\xe8\xe2\xe5\xf2`, 'save it as UTF-8'],
  ])('leads out of %s', async (html, hint) => {
    const file = createMemoryFile('a.html', Buffer.from(html, 'latin1'));
    const given = { ...newDelivery('deliver', 'site/out/a.html'), site: siteOfFile(file) };
    await expect(checkSite(given, { request: requestWith(), signal })).rejects.toMatchObject({
      code: 'BAD_FILE',
      hint,
    });
  });

  test('is not refused where nobody knows whether the host has it', async () => {
    expect(await checkAlone('warn', [PAGE_WITH_STYLE], new Error('none'))).toEqual({ code: null, asked });
    const notPlanned = { ...PAGE_WITH_STYLE, attempts: [] };
    expect(await checkAlone('warn', [notPlanned])).toEqual({ code: null, asked: [] });
  });

  test('may need what the same step delivers', async () => {
    const both = [PAGE_WITH_STYLE, planned('style.css', 'a {}')];
    expect(await checkAlone('warn', both, { status: 404 })).toEqual({ code: null, asked: [] });
  });
});
