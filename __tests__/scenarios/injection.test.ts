import { describe, expect, test } from '@jest/globals';
import { computeBlobSha } from '../world/git/bare-repository.ts';
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

describe("a host's words are text and nothing else", () => {
  test("a build's error", async () => {
    const repository = await scenario.repository({ pages: { builds: 'errored', errorMessage: NASTY } });
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { channel: 'K1' },
    });
    expectNotReady(delivered, { step: 'wait', reason: /build failed: line one RESULT/ });
    expectHarmless(delivered);
    expect(delivered.summary).toContain('&#60;img src=x onerror=alert&#40;1&#41;&#62; &#124; &#42;&#42;bold');
  });

  test("a deployment's description", async () => {
    const repository = await scenario.repository({
      pages: { buildType: 'workflow', builds: 'errored', errorMessage: NASTY },
    });
    const delivered = await scenario.deliver({
      repository,
      token: scenario.world.token({}, LOGINS.app),
      files: { 'page.html': createPage() },
      inputs: { channel: 'K1' },
    });
    expectNotReady(delivered, { step: 'wait', reason: /build failed: line one/ });
    expectHarmless(delivered);
  });

  test.each([
    { story: "the API's message", method: 'PUT', url: /contents/, channel: 'K1', status: 422 },
    { story: "the upload host's message", method: 'POST', url: /uploads\./, channel: 'K2', status: 422 },
  ])('$story', async ({ method, url, channel, status }) => {
    const repository = await scenario.repository();
    scenario.intercept(
      { method, url, times: 9 },
      { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ message: NASTY }) },
    );
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { channel },
    });
    expectNotReady(delivered, { step: 'place', httpCode: status, reason: /line one/ });
    expectHarmless(delivered);
  });

  test("the bin's message", async () => {
    const repository = await scenario.repository();
    scenario.intercept({ method: 'POST', url: /filebin/, times: 9 }, { status: 403, body: NASTY });
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { channel: 'K3', token: '' },
    });
    expectNotReady(delivered, { step: 'place', httpCode: 403, reason: /line one/ });
    expectHarmless(delivered);
  });

  test("a build's status word, which the log repeats at every look", async () => {
    const repository = await scenario.repository({ pages: { live: false } });
    scenario.intercept(
      { url: /builds\/latest/, times: 999 },
      {
        alter: (real) => ({
          ...real,
          body: JSON.stringify({ ...JSON.parse(`${real.body}`), status: NASTY }),
        }),
      },
    );
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { channel: 'K1' },
      simulatedTime: true,
    });
    expectNotReady(delivered, {
      step: 'wait',
      httpCode: 404,
      reason: /build of our commit: line one RESULT/,
    });
    expect(delivered.stdout).toContain('## [set-env');
    expectHarmless(delivered);
  });

  test("the bin's name for the file, which the log repeats as evidence", async () => {
    const repository = await scenario.repository();
    scenario.intercept(
      { method: 'POST', url: /filebin/ },
      {
        alter: (real) => {
          const { bin, file } = JSON.parse(real.body.toString());
          return { ...real, body: JSON.stringify({ bin, file: { ...file, filename: NASTY } }) };
        },
      },
    );
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.txt': createPage() },
      inputs: { channel: 'K3', token: '' },
      simulatedTime: true,
    });
    expectNotReady(delivered, { step: 'verify', httpCode: 404, reason: /not proven/ });
    expectHarmless(delivered);
  });

  test("the bin's expiry, which the report repeats", async () => {
    const repository = await scenario.repository();
    scenario.intercept(
      { method: 'POST', url: /filebin/ },
      {
        alter: (real) => {
          const { bin, file } = JSON.parse(real.body.toString());
          return { ...real, body: JSON.stringify({ bin: { ...bin, expired_at: NASTY }, file }) };
        },
      },
    );
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.txt': createPage() },
      inputs: { channel: 'K3', token: '' },
    });
    const { stdout, outputs, summary } = delivered;
    expect(outputs.result).toBe('ready');
    expect(parseRunnerCommands(stdout).filter((name) => !/^(group|endgroup)$/.test(name))).toEqual([]);
    expect(outputs.report?.split('\n')).toHaveLength(5);
    for (const sign of LIVE) expect(summary).not.toContain(sign);
  });
});

describe("the user's own words", () => {
  test('content and marker never reach the log', async () => {
    const repository = await scenario.repository();
    const content = `${createPage()}\n${NASTY}`;
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': content },
      inputs: { channel: 'K1', marker: '::set-output name=url::', 'self-contained': 'off' },
    });
    await expectReady(scenario, delivered, { channel: 'K1', shows: content });
    expect(collectOutput(delivered)).not.toContain('set-output');
  });

  test.each([
    'channel',
    'repository',
    'tag',
    'timeout',
    'path',
    'file',
    'url',
    'bin',
    'overwrite',
    'api-url',
  ])('a nasty `%s` is refused as text', async (input) => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { channel: 'K4', [input]: NASTY },
    });
    expectNotReady(delivered, { step: 'check', reason: /./ });
    expectHarmless(delivered);
    expect(scenario.world.traffic.lines()).toEqual([]);
  });

  test('a nasty essence becomes one line of the commit message', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': createPage() },
      inputs: { channel: 'K1', message: `essence\n\nDelivered-by: somebody-else\n::error::x` },
    });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    const blob = computeBlobSha(Buffer.from(createPage()));
    expect((await repository.log())[0]?.message).toBe(
      `ADD page.html: essence Delivered-by: somebody-else ::error::x\n\nDelivered-by: screen-delivery\nDelivered-object: ${blob} page.html`,
    );
  });

  test('a nasty file name is shown literally', async () => {
    const name = '##[error]<img src=x>**bold**.html';
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { [name]: createPage() },
      inputs: { channel: 'K1', path: 'page.html' },
    });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    for (const sign of ['<img', '**bold', '##[error]']) expect(delivered.summary).not.toContain(sign);
  });

  test('a file name that starts like a command is shown as text', async () => {
    const name = '::error::x.html';
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({
      repository,
      files: { [name]: '' },
      inputs: { channel: 'K1' },
    });
    expectNotReady(delivered, { step: 'check', reason: /the file ::error::x\.html is empty/ });
    expect(parseRunnerCommands(delivered.stdout).filter((command) => command === 'error')).toHaveLength(1);
  });
});
