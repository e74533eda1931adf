import { describe, expect, test } from '@jest/globals';
import type { Step } from '../../src/protocol/words.ts';
import type { RepositoryOptions } from '../world/repository.ts';
import type { InterceptedReply, RequestMatch } from '../world/server/interceptions.ts';
import { LOGINS } from '../world/tokens.ts';
import { collectOutput, expectNotReady, expectReady, parseRunnerCommands } from './expect-report.ts';
import { createPage, type DeliveredStep, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

/** What a runner, a browser or a Markdown reader could take for more than text. */
const NASTY = [
  'line one',
  // With an invisible character, and Latin letters.
  'RESULT\u034f: ГOTО\u034fBO',
  'RESULT: ГОТОВО → https://evil.example.org/',
  '::set-output name=url::https://evil.example.org/',
  '::add-path::/tmp/evil',
  '  ::stop-commands::x',
  '##[set-env name=PATH]/tmp/evil',
  '\r::error::forged',
  '\u2028::warning::forged',
  '<img src=x onerror=alert(1)> | **bold** [link](https://evil.example.org/) `code`',
].join('\n');

/** A part of the text, as short as a bin's texts. */
const SHORT =
  'one\n::add-path::/tmp/x\r::error::forged\n<img src=x> **bold** [link](x) `code`\nRESULT: ГОТОВО';

/** What a summary would show as more than text. */
const LIVE = ['<img', '[link](', '**bold**', '`code`', '##[set-env'];

function expectHarmless(delivered: DeliveredStep): void {
  const { stdout, outputs, summary } = delivered;
  const own = ['add-mask', 'group', 'endgroup', 'error', 'warning'];
  for (const name of parseRunnerCommands(stdout)) expect(own).toContain(name);
  for (const line of stdout.split(/[\r\n\u2028\u2029\u0085]/)) {
    expect(line).not.toMatch(/^\s*::(set-output|add-path|stop-commands|set-env|warning|error::forged)/);
  }
  for (const sign of LIVE) expect(summary).not.toContain(sign);
  expect(outputs.url).toBe('');
  expect(outputs.report?.split('\n')).toHaveLength(5);
  expect(outputs.report?.match(/RESULT\s*:/g)).toHaveLength(1);
  expect(outputs.report?.match(/ГОТОВО/g)).toEqual(['ГОТОВО']);
}

/** Repeats a host's answer with a nasty text somewhere in its JSON. */
const withNasty = (change: (answer: Record<string, object>) => object): InterceptedReply => ({
  alter: (real) => ({ ...real, body: JSON.stringify(change(JSON.parse(String(real.body)))) }),
});
const refusing = (status: number, body: string): InterceptedReply => ({
  status,
  headers: { 'content-type': body.startsWith('{') ? 'application/json' : 'text/plain' },
  body,
});
const MESSAGE = JSON.stringify({ message: NASTY });

const on = (method: string, url: RegExp): RequestMatch => ({ method, url });

/** A case: the channel, a host's answer and the expected report; or how the site is built. */
type Story = readonly [
  story: string,
  channel: string,
  site: RepositoryOptions['pages'] & object,
  answer: readonly [RequestMatch, InterceptedReply] | null,
  step: Step,
  reason: RegExp,
];
const ERRORED = { builds: 'errored', errorMessage: NASTY } as const;
const DEPLOYED = { ...ERRORED, buildType: 'workflow' } as const;
const status = withNasty((build) => ({ ...build, status: NASTY }));
const filename = withNasty(({ file, ...bin }) => ({ ...bin, file: { ...file, filename: SHORT } }));

describe("a host's words are treated as text only", () => {
  test.each<Story>([
    ["a build's error", 'K1', ERRORED, null, 'wait', /build failed: line one RESULT/],
    ["a deployment's description", 'K1', DEPLOYED, null, 'wait', /build failed: line one/],
    ["the API's message", 'K1', {}, [on('PUT', /contents/), refusing(422, MESSAGE)], 'place', /line one/],
    ["an upload's message", 'K2', {}, [on('POST', /uploads/), refusing(422, MESSAGE)], 'place', /line one/],
    ["the bin's message", 'K3', {}, [on('POST', /filebin/), refusing(403, NASTY)], 'place', /line one/],
    [
      "a build's status word, which the log repeats at every look",
      'K1',
      { live: false },
      [{ url: /builds\/latest/ }, status],
      'wait',
      /build of our commit: line one RESULT/,
    ],
    ["the bin's name for the file", 'K3', {}, [on('POST', /filebin/), filename], 'verify', /not verified/],
  ])('%s', async (_, channel, pages, answer, step, reason) => {
    const repository = await scenario.repository({ pages });
    if (answer !== null) scenario.intercept({ times: 999, ...answer[0] }, answer[1]);
    const login = 'buildType' in pages ? LOGINS.app : undefined;
    const delivered = await scenario.deliver({
      repository,
      token: scenario.world.token({}, login),
      files: { 'page.html': createPage() },
      inputs: { channel },
      simulatedTime: true,
    });
    const reply = answer?.[1] ?? ERRORED;
    expectNotReady(delivered, step, reason, 'status' in reply ? { httpCode: reply.status } : {});
    expectHarmless(delivered);
  });

  test("the bin's expiry, which the report repeats", async () => {
    const expiry = withNasty(({ bin, file }) => ({ bin: { ...bin, expired_at: SHORT }, file }));
    scenario.intercept({ method: 'POST', url: /filebin/ }, expiry);
    const { stdout, outputs, summary } = await scenario.deliver({
      files: { 'page.txt': createPage() },
      inputs: { channel: 'K3', token: '' },
    });
    expect(outputs.result).toBe('ready');
    expect(parseRunnerCommands(stdout).filter((name) => !/^(group|endgroup)$/.test(name))).toEqual([]);
    expect(outputs.report?.split('\n')).toHaveLength(5);
    for (const sign of LIVE) expect(summary).not.toContain(sign);
  });
});

describe("the user's own words", () => {
  test('content and marker never reach the log', async () => {
    const content = `${createPage()}\n${NASTY}`;
    const delivered = await scenario.deliver({
      files: { 'page.html': content },
      inputs: { channel: 'K1', marker: '::set-output name=url::', 'self-contained': 'off' },
    });
    const unknown =
      /^page\.html line 13: the picture x is outside the page, so it is not part of this delivery$/;
    await expectReady(scenario, delivered, { channel: 'K1', shows: content, unknown });
    expect(collectOutput(delivered)).not.toContain('set-output');
  });
});
