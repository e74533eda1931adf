import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import type { Step } from '../../src/protocol/words.ts';
import { type CorpusPage, fileOf, REPORTED_PAGES } from '../browser/corpus.ts';
import { isSaid } from '../browser/view-pages.ts';
import { findChromium, type StepBrowser } from '../world/chromium.ts';
import { DeployedSite } from '../world/hosts/deployed-site.ts';
import type { TestRepository } from '../world/repository.ts';
import { replyText } from '../world/server/messages.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, MARKER, type ScenarioDelivery, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
let browser: StepBrowser;

beforeAll(async () => {
  browser = await findChromium();
});

/** Delivers `page.html` with a browser on the machine. */
const deliverPage = (repository: TestRepository, page: string, inputs: ScenarioDelivery['inputs'] = {}) =>
  scenario.deliver({
    repository,
    files: { 'page.html': page },
    inputs: { marker: MARKER, ...browser.inputs, ...inputs },
    env: browser.env,
  });

describe('a page in a real browser', () => {
  test('is delivered with its picture and the previous one, and withdrawn with both', async () => {
    const repository = await scenario.repository();
    const first = await deliverPage(repository, createPage('first'), { picture: 'true' });
    await expectReady(scenario, first, { channel: 'K1', shows: createPage('first') });
    expect(first.report.unknown).toEqual([]);
    expect(first.outputs.screen).toBe('shown');
    expect(first.report.lines.TEST).toMatch(/; screen: shown \(\d+ characters; .*HeadlessChrome\/\d/);
    expect(first.report.screen).toMatchObject({ httpCode: 200, isMarkerVisible: true, agreement: 1 });
    const pictureUrl = `${first.outputs.url}.png`;
    expect(first.outputs['picture-url']).toBe(pictureUrl);
    expect((await scenario.fetchPublic(pictureUrl)).subarray(1, 4).toString()).toBe('PNG');
    const commits = (await repository.log()).length;

    const second = await deliverPage(repository, createPage('<h1>second</h1>'), { picture: 'true' });
    const unknown = /^whether a cache still shows the older picture/;
    await expectReady(scenario, second, { channel: 'K1', shows: createPage('<h1>second</h1>'), unknown });
    expect(second.summary).toContain(`src="${pictureUrl}?v=`);
    expect(second.summary).toMatch(/: 0\.\d % of the picture changed/);
    const beforeUrl = `${first.outputs.url}.before.png`;
    expect(second.report.picture).toMatchObject({ url: pictureUrl, beforeUrl });
    await scenario.fetchPublic(beforeUrl);
    // One commit for the page and its pictures.
    expect(await repository.log()).toHaveLength(commits + 1);

    const inputs = { operation: 'withdraw', file: 'page.html', channel: 'K1' };
    const withdrawn = await scenario.deliver({ repository, inputs });
    expect(withdrawn.outputs.result).toBe('withdrawn');
    for (const path of ['page.html', 'page.html.png', 'page.html.before.png']) {
      expect(await repository.read(path)).toBeNull();
    }
  });
});

test('a changed page has pictures of the other folder and of the delivered one', async () => {
  const repository = await scenario.repository();
  const deliverSite = (text: string, inputs: ScenarioDelivery['inputs']) => {
    const files = { 'dist/index.html': createPage(), 'dist/a/index.html': createPage(text) };
    const given = { file: 'dist/', channel: 'K1', nojekyll: 'true', ...browser.inputs, ...inputs };
    return scenario.deliver({ repository, files, inputs: given, env: browser.env });
  };
  await deliverSite('first', { path: './' });
  const wanted = { path: 'previews/pr-1/', compare: './', picture: 'true' };
  const { report, summary } = await deliverSite('<h1>second</h1>', wanted);
  const [changed, ...others] = report.changedPages ?? [];
  expect([changed?.path, others, report.unknown]).toEqual(['a/index.html', [], []]);
  const { beforeUrl = '', url = '' } = changed?.pictures ?? {};
  expect(summary).toContain(`src="${url}"`);
  const [before, after] = await Promise.all([beforeUrl, url].map((one) => scenario.fetchPublic(one)));
  expect(before?.equals(after ?? Buffer.of())).toBe(false);
});

test('a rendered text is shown, and delivered and withdrawn with its source and its picture', async () => {
  const repository = await scenario.repository({ files: { '.nojekyll': '' } });
  const files = { 'report.md': `# Report\n\n${MARKER}\n` };
  const given = { ...browser.inputs, render: 'true', picture: 'true', marker: MARKER };
  const { report } = await scenario.deliver({ repository, files, inputs: given, env: browser.env });
  expect(report).toMatchObject({ notReady: null, unknown: [] });
  expect(report.screen).toMatchObject({ verdict: 'shown', agreement: 1, isMarkerVisible: true });
  const names = ['report.md', 'report.md.html', 'report.md.html.png'];
  for (const name of names) expect(await repository.read(name)).not.toBeNull();
  const inputs = { operation: 'withdraw', file: '', path: 'report.md', channel: 'K1' };
  expect((await scenario.deliver({ repository, inputs })).outputs.result).toBe('withdrawn');
  for (const name of names) expect(await repository.read(name)).toBeNull();
});

/** Whether a browser opens a page of the corpus, because its file alone is no reason to refuse it. */
const isOpened = ({ name, says = '' }: CorpusPage): boolean =>
  !name.includes('.') && !/^refused: \S+(?: line|: it )/.test(says);

describe('files of one step in a real browser', () => {
  test('a picture is shown, a page with only an error is refused, and UNKNOWN names a PDF', async () => {
    const files = {
      'a.svg':
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><circle cx="45" cy="45" r="40"/></svg>\n',
      'b.html': '<!doctype html><title>App</title><p>Cannot GET /app</p>\n',
      'c.pdf': '%PDF-1.4\n',
    };
    const inputs = { ...browser.inputs, file: Object.keys(files).join('\n') };
    const { reports } = await scenario.deliver({ files, inputs, env: browser.env });
    const [picture, page, document] = reports;
    expect(picture).toMatchObject({ ready: true, unknown: [], screen: { verdict: 'shown' } });
    expect(picture?.lines.TEST).toMatch(/; screen: shown \(1 drawing; /);
    expect(page).toMatchObject({ ready: false, notReady: { code: 'NOT_SHOWN', step: 'check' } });
    expect(page?.notReady?.reason).toMatch(/the page shows an error: Cannot GET \/app/);
    expect(document).toMatchObject({ ready: true, screen: null });
    expect(document?.unknown).toEqual([
      'whether a browser shows the page: a file for a viewer or player is not opened in a browser',
    ]);
  });

  test.each(['enforce', 'warn'])(
    'pages are refused or reported as the corpus says, with `%s`',
    async (mode) => {
      const pages = REPORTED_PAGES.filter((page) => page.mode === mode && isOpened(page));
      for (const host of ['api.weather.dev', 'cdn.dev', 'data.dev', 'unpkg.com']) {
        scenario.world.host(host, ({ path }) => {
          const [, name, file = ''] = path.split('/');
          const answer = pages.find((page) => page.name === name)?.files?.[file];
          if (answer === undefined || typeof answer === 'string') return { status: 404, body: 'not found' };
          const { type = 'text/html', headers, body = '' } = answer;
          return { status: 200, headers: { 'content-type': type, ...headers }, body };
        });
      }
      const files = Object.fromEntries(pages.map((page) => [`${page.name}.html`, String(fileOf(page)[1])]));
      const names = Object.keys(files);
      const reports: Report[] = [];
      // A step opens at most ten pages.
      for (let from = 0; from < names.length; from += 10) {
        const inputs = {
          ...browser.inputs,
          file: names.slice(from, from + 10).join('\n'),
          'self-contained': mode,
        };
        reports.push(...(await scenario.deliver({ files, inputs, env: browser.env })).reports);
      }
      const said = reports.map(({ notReady, unknown }) =>
        notReady === null
          ? `unknown: ${unknown.join('; ')}`
          : `refused: ${notReady.reason} (${notReady.hint})`,
      );
      const wanted = pages.map(({ name, says }) => says?.replaceAll('page.html', `${name}.html`));
      const found = wanted.map((says, at) => (isSaid(says, said[at]) ? says : said[at]));
      expect(found).toEqual(wanted);
    },
  );
});

const APP = `<!doctype html><html><head><title>App</title></head><body><div id="app"></div><script type="module" src="./app.js"></script></body></html>`;
const ROUTER =
  "const { pathname } = location;\napp.innerHTML = pathname === '/' ? '<h1>Bericht</h1>' : `<p>404 Seite ${pathname} gibt es nicht</p>`;\n";
const BLANK_ONLINE = `<!doctype html><title>App</title><p id="app">${MARKER}</p>
<script>fetch('data.json').then((answer) => answer.ok && document.getElementById('app').remove())</script>\n`;
const WAITS =
  "<h1>Sales dashboard</h1><p id=s>Loading…</p><footer>Made by the sales team</footer><script>fetch('sales.json').then((answer) => answer.json()).then((data) => { s.textContent = data.total }, () => 0)</script>";
const DEPLOYED = { 'dist/index.html': createPage(MARKER), 'dist/about.html': createPage('About') };
const LINK = { file: 'dist/', url: 'https://site.deployed.dev/' };
const EMPTIES = '<script>document.body.replaceChildren()</script>';

/** Files, inputs, what the host of a link adds to the page, and the step that refuses the delivery, if one does. */
test.each<[string, Record<string, string>, Record<string, string>, string, Step | null, RegExp]>([
  ['a folder that another tool deployed looks as it does here', DEPLOYED, LINK, '', null, /./],
  ['a page that its host emptied is not shown', DEPLOYED, LINK, EMPTIES, 'verify', /does not show the page/],
  [
    'a page that is blank only at its URL is not ready, although its bytes match',
    { 'page.html': BLANK_ONLINE },
    { channel: 'K1' },
    '',
    'verify',
    /does not show the page/,
  ],
  [
    'a page that waits for data that its host lacks is refused',
    { 'page.html': createPage(WAITS) },
    { channel: 'K1' },
    '',
    'check',
    /shows only "\S+ Sales dashboard Loading… Made by the sales team.*": 404 \/.*sales\.json/,
  ],
  [
    'a page that tells that its host lacks its data is refused',
    { 'page.html': createPage(WAITS.replace('() => 0', "() => { s.textContent = 'Error: HTTP 404' }")) },
    { channel: 'K1' },
    '',
    'check',
    /shows only "\S+ Sales dashboard Error: HTTP 404 Made by the sales team.*": 404 \/.*sales\.json/,
  ],
  [
    'a folder whose router does not know its URL is refused, in any language',
    { 'dist/index.html': APP, 'dist/app.js': ROUTER },
    { channel: 'K1', file: 'dist/', path: 'previews/pr-1/' },
    '',
    'check',
    /the page shows only what it shows at any wrong path/,
  ],
])('%s', async (_, files, inputs, added, step, reason) => {
  const local = { 'index.html': DEPLOYED['dist/index.html'], 'about.html': DEPLOYED['dist/about.html'] };
  const alter = (page: string, path: string): string => (path === 'index.html' ? page + added : page);
  scenario.world.host('site.deployed.dev', new DeployedSite(local, { alter }).answer);
  const repository = await scenario.repository({ files: { 'data.json': '{}' } });
  const given = { repository, files, inputs: { ...inputs, ...browser.inputs }, env: browser.env };
  const delivered = await scenario.deliver(given);
  if (step === null) {
    expect(delivered.report).toMatchObject({ notReady: null, screen: { verdict: 'shown', agreement: 1 } });
  } else {
    expectNotReady(delivered, step, reason, step === 'verify' ? { httpCode: 200 } : {});
  }
});

test.each<[string, string, string, string[]]>([
  ['no browser opens', 'off', '<h1>{{ title }}</h1>', ['{{ title }}']],
  ['a browser opens', 'auto', '<h1>{{ title }}</h1>', ['{{ title }}']],
  [
    'a browser opens, and a script fills in',
    'auto',
    '<h1 id=t>{{ title }}</h1><p>{% if a %}</p><script>t.textContent = "Report"</script>',
    ['{% if a %}'],
  ],
  ['no browser opens, and a script may fill in', 'off', '<h1>{{ title }}</h1><script>fill()</script>', []],
])('the template tags of a page that %s are in UNKNOWN', async (_, screen, body, tags) => {
  const { report } = await deliverPage(await scenario.repository(), createPage(body + MARKER), { screen });
  expect(report).toMatchObject({ ready: true });
  const unknown = report.unknown.filter((line) => !/^whether a browser shows/.test(line));
  expect(unknown).toEqual(tags.map((tag) => `template tag that nothing filled in: ${tag}`));
});

describe('a page that is made self-contained', () => {
  const head =
    '<link rel="stylesheet" href="https://cdn.octo.dev/a.css"><script src="https://cdn.octo.dev/a.js"></script>';
  const inline = { 'self-contained': 'inline' };
  const serve = (script: string): void =>
    scenario.world.host('cdn.octo.dev', ({ path }) =>
      path === '/a.js'
        ? replyText(200, script, { 'content-type': 'text/javascript' })
        : replyText(200, 'h1 { color: teal }', { 'content-type': 'text/css' }),
    );

  test('is shown, and UNKNOWN names the hosts that its scripts request', async () => {
    serve('fetch("https://tiles.octo.dev/1.png").catch(() => undefined)');
    scenario.world.host('tiles.octo.dev', () => replyText(200, 'x', { 'access-control-allow-origin': '*' }));
    const repository = await scenario.repository();
    const { report } = await deliverPage(repository, createPage(`${head}<h1>1</h1>`), inline);
    expect(report).toMatchObject({ notReady: null, screen: { verdict: 'shown' } });
    expect(report.unknown).toEqual(['requests to other hosts: tiles.octo.dev (1)']);
    expect(report.inlined).toHaveLength(2);
  });

  test('is refused if its scripts fetch what it shows', async () => {
    serve('fetch("https://gone.octo.dev/1").then(() => document.body.append("shown"))');
    const page = `<!doctype html><title>App</title>${head}<body></body>\n`;
    const refused = await deliverPage(await scenario.repository(), page, { ...inline, marker: '' });
    expectNotReady(refused, 'check', /does not show the page/);
  });
});

describe('a step that is stopped while a browser runs', () => {
  test('leaves no process and no profile behind', async () => {
    const repository = await scenario.repository();
    const folder = await mkdtemp(join(scenario.world.folder, 'temp-'));
    let pid = 0;
    const stepping = scenario.deliver({
      repository,
      files: { 'page.html': '<!doctype html><title>App</title><script>for (;;);</script>\n' },
      inputs: browser.inputs,
      env: { ...browser.env, RUNNER_TEMP: folder },
      onStart: (started) => {
        pid = started;
      },
    });
    const find = async (): Promise<string[]> =>
      (await readdir(folder)).filter((name) => /browser/.test(name));
    let group: string | undefined;
    while (group === undefined || (await listGroup(group)).length < 3) {
      await sleep(20);
      group = await findBrowser(folder);
    }
    expect(await find()).toHaveLength(1);
    process.kill(pid, 'SIGTERM');
    const delivered = await stepping;
    expect(delivered.report.notReady?.code).toBe('ABORTED');
    expect(await find()).toEqual([]);
    // They were killed; the system may need a moment to clear them away.
    while ((await listGroup(group)).length > 0) await sleep(20);
    expect(await repository.log()).toHaveLength(1);
  });
});

/** All processes, including ended ones that were not reaped. */
const listProcesses = async (): Promise<string[]> =>
  (await readdir('/proc')).filter((name) => /^\d+$/.test(name));

/** The process whose command line names a folder. */
async function findBrowser(folder: string): Promise<string | undefined> {
  for (const pid of await listProcesses()) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(folder)) return pid;
  }
  return undefined;
}

/** The processes of a group, which has the number of its first one. */
async function listGroup(group: string | undefined): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await listProcesses()) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (stat.slice(stat.lastIndexOf(')')).split(' ')[3] === group) found.push(pid);
  }
  return found;
}
