import { mkdtemp, open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { expectNotReady } from './expect-report.ts';
import { createPage, MARKER, type ScenarioDelivery, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };

interface Wrong extends Omit<ScenarioDelivery, 'repository'> {
  readonly story: string;
  readonly reason: RegExp;
  /** What to change. */
  readonly hint: RegExp;
}

const WRONG: Wrong[] = [
  {
    story: 'nothing at all',
    reason: /^there is nothing to deliver$/,
    hint: /set `file:`/,
  },
  {
    story: 'a file that is missing',
    inputs: { file: 'nope.html' },
    reason: /^the file nope\.html does not exist$/,
    hint: /relative to the workspace/,
  },
  {
    story: 'an empty file',
    files: { 'page.html': '' },
    reason: /is empty$/,
    hint: /what writes it/,
  },
  {
    story: 'a folder without its page',
    files: { 'reports/page.html': createPage() },
    inputs: { file: 'reports' },
    reason: /^the folder reports has no page index\.html$/,
    hint: /^set `entry: page\.html`$/,
  },
  {
    story: 'one name for several files',
    files: { 'page.html': createPage(), 'other.html': createPage() },
    inputs: { file: 'page.html\nother.html', path: 'one-name.html' },
    reason: /^input `path` is one name for several files$/,
    hint: /`path: one-name\.html\/`/,
  },
  {
    story: 'one name for what a pattern matches',
    files: { 'page.html': createPage(), 'other.html': createPage() },
    inputs: { file: '*.html', path: 'one-name.html' },
    reason: /^input `path` is one name for several files$/,
    hint: /`path: one-name\.html\/`/,
  },
  {
    story: 'a pattern that matches nothing',
    files,
    inputs: { file: 'out/**/*.html' },
    reason: /^input `file` matches no file: out\/\*\*\/\*\.html$/,
    hint: /make sure that the file is there/,
  },
  {
    story: 'more files than a step takes',
    files,
    inputs: { file: 'page.html\n'.repeat(501) },
    reason: /^input `file` has 501 lines$/,
    hint: /at most 500 files/,
  },
  {
    story: 'a marker that the file lacks',
    files,
    inputs: { marker: 'Marker-42' },
    reason: /^the marker was not found in the file page\.html$/,
    hint: /to a text of the file/,
  },
  {
    story: 'an unknown channel',
    files,
    inputs: { channel: 'K5' },
    reason: /names an unknown channel: K5/,
    hint: /K1 \(pages\)/,
  },
  {
    story: 'a channel twice',
    files,
    inputs: { channel: 'K1+pages' },
    reason: /names a channel twice/,
    hint: /K1\+K3/,
  },
  {
    story: 'more than the 240 seconds',
    files,
    inputs: { timeout: '300' },
    reason: /`timeout` is 300, not a number of seconds between 0\.1 and the protocol's ceiling of 240/,
    hint: /timeout: 240/,
  },
  {
    story: 'a pause above the ceiling',
    files,
    inputs: { 'poll-interval': '300' },
    reason: /`poll-interval` is 300/,
    hint: /poll-interval: 5/,
  },
  {
    story: 'a path that climbs',
    files,
    inputs: { path: '../page.html' },
    reason: /\. or \.\. as a folder/,
    hint: /^write it without them/,
  },
  {
    story: 'a path with .. inside',
    files,
    inputs: { path: 'a/../../page.html' },
    reason: /\. or \.\. as a folder/,
    hint: /^write it without them/,
  },
  {
    story: 'a path from the root',
    files,
    inputs: { path: '/a/page.html' },
    reason: /^input `path` starts with a slash$/,
    hint: /^write it without this slash/,
  },
  {
    story: 'a path with a space',
    files,
    inputs: { path: 'my page.html' },
    reason: /contains a space/,
    hint: /^remove it, or write - or _ in its place$/,
  },
  {
    story: 'a path into .git',
    files,
    inputs: { path: '.git/config' },
    reason: /leads into \.git/,
    hint: /^choose another place$/,
  },
  {
    story: 'a workflow as the path',
    files,
    inputs: { path: '.github/workflows/x.yml' },
    reason: /leads into \.github/,
    hint: /^choose another place$/,
  },
  {
    story: 'a repository without an owner',
    files,
    inputs: { repository: 'demo' },
    reason: /`repository` is not of the form <owner>\/<repo>: demo/,
    hint: /owner\/name/,
  },
  {
    story: 'a tag that git refuses',
    files,
    inputs: { tag: 'a..b', channel: 'K2' },
    reason: /`tag` is not a valid git name/,
    hint: /`tag:`/,
  },
  {
    story: 'a branch that git refuses',
    files,
    inputs: { branch: 'my branch' },
    reason: /`branch` is not a valid git name/,
    hint: /`branch:`/,
  },
  {
    story: 'a bin that is too short',
    files,
    inputs: { bin: 'short', channel: 'K3' },
    reason: /`bin`/,
    hint: /8 to 60/,
  },
  {
    story: 'a yes that is no yes',
    files,
    inputs: { overwrite: 'yes' },
    reason: /`overwrite` is neither true nor false/,
    hint: /overwrite: true/,
  },
  {
    story: 'an answer about failing that is neither',
    files,
    inputs: { 'fail-on-not-ready': 'maybe' },
    reason: /`fail-on-not-ready` is neither true nor false/,
    hint: /fail-on-not-ready: true/,
  },
  {
    story: 'an API that is not https',
    files,
    inputs: { 'api-url': 'http://api.github.com' },
    reason: /`api-url` is not an https address/,
    hint: /https:/,
  },
  {
    story: 'K4 without a link',
    files,
    inputs: { channel: 'K4' },
    reason: /K4 needs the link/,
    hint: /set `url:`/,
  },
  {
    story: 'a link with nothing to prove it by',
    inputs: { url: 'https://preview.agent-host.com/x' },
    reason: /a link alone can.t be proven/,
    hint: /set `marker:`/,
  },
];

describe('what was asked can not be done, so no host is asked anything', () => {
  test.each(WRONG)('$story', async ({ story: _, reason, hint, ...delivery }) => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({ repository, ...delivery });
    expectNotReady(delivered, { step: 'check', httpCode: null, reason, hint });
    expect(delivered.report.lines.RESULT).toContain('). To change: ');
    // One sentence: it fits on one line, and has no full stop of its own.
    expect(delivered.report.notReady?.reason).not.toMatch(/\n|\. [A-Z]|\.$/);
    expect(delivered.report.lines.UNKNOWN).toContain('nothing was published');
    expect(scenario.world.traffic.lines()).toEqual([]);
  });

  test.each(['K1', 'K1+K3'])('a file above 95 MB with channel %s', async (channel) => {
    const repository = await scenario.repository();
    const workspace = await mkdtemp(join(scenario.world.folder, 'large-'));
    const handle = await open(join(workspace, 'large.bin'), 'w');
    await handle.truncate(95 * 1024 * 1024 + 1);
    await handle.close();
    const delivered = await scenario.deliver({
      repository,
      workspace,
      inputs: { file: 'large.bin', channel },
    });
    expectNotReady(delivered, {
      step: 'check',
      httpCode: null,
      reason: /has 99614721 bytes, and K1 takes at most 95 MB/,
      hint: /channel: K2 or K3/,
    });
    expect(scenario.world.traffic.lines()).toEqual([]);
  });
});

describe('`fail-on-not-ready: false`', () => {
  test.each([
    { story: 'a wrong input', inputs: { file: 'nope.html' }, step: 'check', reason: /does not exist/ },
    { story: 'a refusal of a host', inputs: { channel: 'K1' }, step: 'place', reason: /HTTP 401/ },
  ] as const)('$story: exit 0 with the very same outputs', async ({ inputs, step, reason }) => {
    const repository = await scenario.repository();
    scenario.intercept(
      { method: 'PUT', url: /contents/, times: 9 },
      { status: 401, body: '{"message":"Bad credentials"}' },
    );
    const strict = await scenario.deliver({ repository, files, inputs });
    const lenient = await scenario.deliver({
      repository,
      files,
      inputs: { ...inputs, 'fail-on-not-ready': 'false' },
    });
    expectNotReady(strict, { step, reason });
    expectNotReady(lenient, { step, reason, exitCode: 0 });
    const { 'report-json': _, ...outputs } = lenient.outputs;
    expect(strict.outputs).toMatchObject(outputs);
  });
});

test('a name with spaces on disk is given without them', async () => {
  const repository = await scenario.repository();
  const delivered = await scenario.deliver({
    repository,
    files: { 'my report.html': createPage() },
    inputs: { channel: 'K1', marker: MARKER },
  });
  expect(delivered.outputs.url).toBe(`${repository.pages.url}my-report.html`);
});
