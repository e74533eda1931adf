import { expect, test } from '@jest/globals';
import { writeFiles } from '../world/runner.ts';
import { type ConnectedServer, connectClient } from './mcp-clients.ts';
import { createPage, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

const HTML = { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } };
const APP = (base: string): string =>
  `<!doctype html><title>App</title><script type="module" src="${base}assets/app.js"></script><div id="app"></div>\n`;
const FILES = {
  'plan.html': createPage('first'),
  'chart.html': `<!doctype html><title>Chart</title><script src="https://cdn.example.dev/chart.js"></script><p>marker-42</p>\n`,
  'answer.md': '# An answer\n\nHello **world**\n',
  'dist/index.html': APP('/'),
  'dist/assets/app.js': 'document.getElementById("app").textContent = "marker-42";\n',
  'big.zip': Buffer.alloc(30 * 1_048_576, 7),
  'secret.html': createPage(`ghp_${'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'}`),
};

/** What no human knows: the protocol's words, and the flags of the server. */
const JARGON =
  /\bK[1-4]\b|UNKNOWN|\bmarker\b|\bgates?\b|G[1-4]_|self-contained:|other_hosts|overwrite|allow-|fingerprint|(?<!html)\?v=/;

test('an agent that knows only the server does ten tasks, and its human is told what is so', async () => {
  const { world } = scenario;
  const repository = await scenario.repository();
  repository.pages.beforeAnswer = () => repository.pages.whenBuilt();
  world.host('cdn.example.dev', async () => ({
    ...HTML,
    headers: { 'content-type': 'text/javascript' },
    body: 'window.Chart = class {};\n',
  }));
  world.host('good.example.dev', async () => ({ ...HTML, body: createPage('good') }));
  const wall = '<title>Sign in</title><form action="/login"><input type="password"></form>';
  world.host('wall.example.dev', async () => ({ ...HTML, body: wall }));
  const start = {
    files: FILES,
    env: { GITHUB_TOKEN: world.token() },
    flags: ['--repository', repository.fullName],
  };
  const server = await connectClient('2026', world, start);
  const bare = await connectClient('2025', world, { files: FILES });
  expect(JSON.stringify({ tools: await server.listTools() }).length).toBeLessThan(10_000);

  const rows: string[] = [];
  const call = async (task: string, tool: string, args: object, to: ConnectedServer = server) => {
    const { text, answer } = await to.call(tool, { ...args });
    const bytes = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(answer));
    rows.push(`${task} | ${tool} | ${bytes} | ${answer.result} | ${answer.say.replaceAll('\n', ' / ')}`);
    expect([answer.say, JARGON.test(answer.say)]).toEqual([answer.say, false]);
    expect([task, bytes > 1_500]).toEqual([task, false]);
    return answer;
  };

  const page = await call('a page', 'deliver', { file: 'plan.html' });
  expect(page).toMatchObject({ result: 'ready', opens: 'page' });
  const chart = await call('a Chart.js page', 'deliver', { file: 'chart.html', other_hosts: 'inline' });
  expect(chart).toMatchObject({ result: 'ready', opens: 'page' });
  const answer = await call('a Markdown answer', 'deliver', { file: 'answer.md' });
  expect(answer).toMatchObject({ result: 'ready', opens: 'page', url: expect.stringMatching(/\.html$/) });
  const wrong = await call('a folder with a wrong base', 'deliver', { file: 'dist' });
  expect(wrong).toMatchObject({ code: 'BAD_FILE', hint: expect.stringContaining('`./assets/…`') });
  await writeFiles(server.folder, { 'dist/index.html': APP('./') });
  const site = await call('a folder with a wrong base', 'deliver', { file: 'dist' });
  expect(site).toMatchObject({ result: 'ready', opens: 'page' });
  const zip = await call('a zip of 30 MB', 'deliver', { file: 'big.zip' });
  expect(zip).toMatchObject({ result: 'ready', opens: 'download' });
  const asked = await call('no token', 'deliver', { file: 'plan.html' }, bare);
  expect(asked).toMatchObject({ result: 'planned', say: expect.stringMatching(/^Nothing is uploaded yet/) });
  await writeFiles(server.folder, { 'plan.html': createPage('second') });
  const corrected = await call('a correction', 'deliver', { file: 'plan.html' });
  expect(corrected).toMatchObject({ result: 'ready', url: page.url, replaced: true });
  const seen = await call('do you see the new one?', 'verify', { url: page.url, marker: 'second' });
  expect(seen).toMatchObject({ result: 'ready', url: page.url });
  expect(await call('remove it', 'withdraw', { url: page.url })).toMatchObject({ result: 'withdrawn' });
  const link = { marker: 'marker-42' };
  const blocked = await call('a wall', 'verify', { ...link, url: 'https://wall.example.dev/' });
  expect(blocked).toMatchObject({ result: 'not-ready', say: expect.stringContaining('a sign-in page') });
  const good = await call('a good link', 'verify', { ...link, url: 'https://good.example.dev/' });
  expect(good).toMatchObject({ result: 'ready', url: 'https://good.example.dev/' });
  const secret = await call('a page with a token', 'deliver', { file: 'secret.html' });
  expect(secret).toMatchObject({ code: 'BAD_FILE', hint: 'remove it from the file and revoke it' });
  expect(rows).toHaveLength(13);
  await Promise.all([server.close(), bare.close()]);
});
