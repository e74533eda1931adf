import { expect, test } from '@jest/globals';
import { listOnRequest } from '../../src/context.ts';
import { createRedactor } from '../../src/credentials.ts';
import { formatList, formatListPage } from '../../src/delivery/list.ts';
import type { Report, ReportDocument } from '../../src/delivery/report.ts';
import { composeAnswer } from '../../src/mcp/tool-answer.ts';
import { NOON } from '../support/ports.ts';
import type { TestRepository } from '../world/repository.ts';
import { addCommits } from './branch-of-others.ts';
import { type PlayedDelivery, proven, requestsOf, setUpPlay, writesOf } from './play.ts';
import { parseDocument } from './report-documents.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const SITE = { 'dist/index.html': createPage('site'), 'dist/app.js': 'first\n' };
const around = { deliverer: { name: 'octo/app/.github/workflows/preview.yml', run: '4242/1' } };

const put = (repository: TestRepository, path: string, more: Partial<PlayedDelivery> = {}) => {
  const inputs = { channel: 'K1', path, ...(path.endsWith('/') && { file: 'dist/', nojekyll: 'true' }) };
  const files = path.endsWith('/') ? SITE : { 'page.html': createPage(path) };
  return proven(play.deliver({ repository, files, around, ...more, inputs: { ...inputs, ...more.inputs } }));
};

/** Lists in this process. */
async function list(repository: TestRepository, inputs: object = {}) {
  let document: ReportDocument | undefined;
  const played = await play.deliver({
    repository,
    inputs: { operation: 'audit', ...inputs },
    async perform(request, ports) {
      const parts = { asked: { operation: 'list' }, redactor: createRedactor() };
      document = await listOnRequest(Promise.resolve(request), ports, parts);
      return document.reports.length > 0 ? document.reports : [{} as Report];
    },
  });
  if (document === undefined) throw new Error('nothing was listed');
  expect(parseDocument(JSON.stringify(document))).toEqual(document);
  const { deliveries = [], ...others } = document;
  return { ...played, document: { deliveries, ...others } };
}

test('a list has every delivery with its place, URL, time, run, files and size, in ten requests', async () => {
  const repository = await play.repository();
  repository.now = () => new Date(NOON);
  await put(repository, 'previews/pr-1/');
  await put(repository, 'one.html');
  await put(repository, 'two.html', { around: {} });
  await repository.commit('two.html', 'changed by a person');
  const kept = { channel: 'K2', tag: 'v1.0.0' };
  await proven(play.deliver({ repository, files: { 'a.zip': 'zip' }, inputs: kept }));
  await put(repository, 'gone/');
  await play.deliver({ repository, inputs: { channel: 'K1', path: 'gone/', operation: 'withdraw' }, around });
  for (let nth = 0; nth < 12; nth += 1) await put(repository, `more/${nth}.html`);
  await repository.commit('of-a-person.html', 'mine');
  const { document, ...played } = await list(repository);
  const { url } = repository.pages;
  const time = new Date(NOON).toISOString();
  expect(document).toMatchObject({ result: 'listed', url: '', unlisted: [] });
  expect(document.reason).toBe('16 deliveries; nothing was verified');
  const found = new Map(document.deliveries.map((item) => [item.path, item]));
  const run = 'https://github.com/octo/app/actions/runs/4242';
  const by = around.deliverer.name;
  expect(found.get('previews/pr-1/')).toEqual({
    ...{ channel: 'K1', place: 'branch main', path: 'previews/pr-1/', url: `${url}previews/pr-1/` },
    ...{
      by,
      run,
      files: 2,
      size: Buffer.byteLength(Object.values(SITE).join('')),
      picture: null,
      changed: false,
    },
    time: expect.stringContaining(time.slice(0, 19)),
  });
  expect(found.get('two.html')).toMatchObject({ by: null, run: null, changed: true });
  expect(found.get('a.zip')).toMatchObject({ channel: 'K2', place: 'release v1.0.0', files: 1, size: 3 });
  expect(found.has('gone/')).toBe(false);
  expect(requestsOf(played, /./).length).toBeLessThanOrEqual(10);
  expect(writesOf(played)).toEqual([]);
  expect(formatList(document)).toMatch(/nothing was verified. To verify them, run audit.$/);
});

test('a list below a path reads only that, and a long history is cut and said', async () => {
  const repository = await play.repository();
  for (const path of ['previews/pr-1/', 'other/']) await put(repository, path);
  addCommits(repository, 2_000);
  await put(repository, 'previews/pr-2/');
  const below = await list(repository, { path: 'previews/' });
  expect(below.document.deliveries.map(({ path }) => path)).toEqual(['previews/pr-2/', 'previews/pr-1/']);
  const { document, ...played } = await list(repository);
  expect(document.deliveries.map(({ path }) => path)).toEqual(['previews/pr-2/']);
  expect(document.unlisted).toEqual([expect.stringContaining('before the newest 300 commits')]);
  expect(requestsOf(played, /./).length).toBeLessThanOrEqual(10);
});

test("the list as a page can be delivered, shows pictures of its own site, and escapes strangers' text", async () => {
  const repository = await play.repository();
  await put(repository, 'previews/pr-1/');
  await repository.commit('previews/pr-1/index.html.png', 'png');
  const evil = '"><script>alert(1)</script>.html';
  const deliverer = { name: 'octo/<img src=x onerror=alert(1)>/.github/workflows/p.yml', run: '1/1' };
  await put(repository, 'x.html', { around: { deliverer } });
  const { document } = await list(repository);
  const [first] = document.deliveries;
  if (first === undefined) throw new Error('nothing was listed');
  const named = {
    ...first,
    path: evil,
    url: `https://octo.github.io/${encodeURI(evil)}`,
    place: `branch ${evil}`,
  };
  const page = formatListPage({ ...document, deliveries: [...document.deliveries, named] }, NOON);
  expect(page.match(/<script|<img[^>]*>/g)).toEqual([
    `<img alt="" src="${repository.pages.url}previews/pr-1/index.html.png">`,
  ]);
  expect(page).not.toContain('onerror=alert(1)>');
  expect(page).toContain('nothing was verified');
  const delivered = { channel: 'K1', file: 'list/', path: './', nojekyll: 'true' };
  const { report } = await proven(
    play.deliver({ repository, files: { 'list/index.html': page }, inputs: delivered }),
  );
  expect(report.url).toBe(repository.pages.url);
  const below = formatListPage((await list(repository, { path: 'previews/' })).document, NOON);
  expect(below).toContain(`src="${repository.pages.url}previews/pr-1/index.html.png"`);
  const overview = { channel: 'K1', file: 'overview/', path: 'previews/', nojekyll: 'true' };
  const again = await proven(
    play.deliver({ repository, files: { 'overview/index.html': below }, inputs: overview }),
  );
  expect(JSON.stringify(again.report)).not.toContain('is missing');
  const alone = { channel: 'K1', path: 'list.html' };
  const plain = formatListPage((await list(repository, { path: 'x.html' })).document, NOON);
  await proven(play.deliver({ repository, files: { 'list.html': plain }, inputs: alone }));
});

test('a list names no URL of a site that is switched off', async () => {
  const repository = await play.repository();
  await put(repository, 'one.html');
  repository.site = null;
  const { document } = await list(repository);
  expect(document.deliveries).toMatchObject([{ path: 'one.html', url: null, picture: null }]);
  expect(formatList(document)).toContain('branch main  not served');
});

test('a list that can’t be read is not ready, and nothing to list is said', async () => {
  const repository = await play.repository();
  expect((await list(repository)).document).toMatchObject({
    result: 'listed',
    reason: '0 deliveries; nothing was verified',
  });
  play.intercept({ url: /\/git\/ref/, times: 99 }, { status: 403, body: '{"message":"no"}' });
  const { document } = await list(repository);
  expect(document).toMatchObject({ result: 'not-ready', code: 'NO_PERMISSION', deliveries: [] });
  expect(composeAnswer(document, 'r', { tool: 'list', ways: [] }).say).toMatch(
    /^I couldn't list the deliveries: /,
  );
});

test('an agent gets the newest deliveries, and no URL to hand over', async () => {
  const repository = await play.repository();
  await put(repository, 'one.html');
  const { document } = await list(repository);
  const [item] = document.deliveries;
  const deliveries = Array.from({ length: 60 }, () => item as NonNullable<typeof item>);
  const answer = composeAnswer(
    { ...document, deliveries, reason: '60 deliveries; nothing was verified' },
    'r',
    { tool: 'list', ways: [] },
  );
  expect(answer).not.toHaveProperty('url');
  expect(Object(answer).deliveries).toHaveLength(50);
  expect(answer.say).toBe('I found 60 deliveries; nothing was verified. The answer has the newest 50.');
});
