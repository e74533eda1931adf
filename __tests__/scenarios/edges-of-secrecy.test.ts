import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { ENCODINGS } from '../support/encodings.ts';
import { collectOutput, expectNotReady } from './expect-report.ts';
import { createPage, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };

describe('the token', () => {
  test('goes nowhere after a refusal, and to no other instance for a comment', async () => {
    const repository = await scenario.repository();
    const repo = { full_name: repository.fullName };
    const pull_request = { number: 1, head: { sha: 'c0ffee0123456789', repo }, base: { repo } };
    const event = { name: 'pull_request', payload: { pull_request, repository: repo } };
    const foreign = { 'api-url': 'https://evil.octo.dev/api/v3' };
    for (const inputs of [foreign, { ...foreign, 'auth-url': 'https://evil.octo.dev' }]) {
      const token = scenario.world.token();
      await scenario.deliver({
        repository,
        files,
        token,
        event,
        inputs: { ...inputs, channel: 'K3', comment: 'true', file: 'absent.html' },
      });
    }
    const asked = scenario.world.traffic.exchanges().filter(({ host }) => host.includes('evil'));
    expect(asked).toEqual([]);
  });

  test('is found in a file as what ordinary programs make of it', async () => {
    const token = scenario.world.token();
    const leaks = ENCODINGS.map(([name, encode], nth) => [
      `out/${nth}-${name.replaceAll(/[^a-z0-9]+/gi, '-')}.txt`,
      Buffer.from(`a ${encode(token)} b`, 'latin1'),
    ]);
    const delivered = await scenario.deliver({
      token,
      files: Object.fromEntries(leaks),
      inputs: { channel: 'K3', file: 'out/*.txt' },
    });
    expect(delivered.reports).toHaveLength(leaks.length);
    for (const { notReady } of delivered.reports) {
      expect(notReady).toMatchObject({
        step: 'check',
        reason: expect.stringMatching(/contains a credential of this environment/),
      });
    }
    expect(collectOutput(delivered)).not.toContain(token);
  });
});

test('a file that a pattern finds is not delivered if its name is a secret, which is printed nowhere', async () => {
  const secret = ['ghp', 'R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m'].join('_');
  const delivered = await scenario.deliver({
    files: { [`out/${secret}.html`]: createPage() },
    inputs: { channel: 'K3', file: 'out/*.html' },
  });
  expectNotReady(delivered, 'check', /the name of a file contains what looks like a secret/);
  expect(collectOutput(delivered).replaceAll(`::add-mask::${secret}`, '')).not.toContain(secret);
});

describe('the step ends with outputs and a report', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    [
      'a proxy that is no URL',
      { HTTPS_PROXY: 'not a url', https_proxy: 'not a url' },
      /`https_proxy` or `http_proxy` is not a URL/,
    ],
    [
      'certificates that are not checked',
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      /NODE_TLS_REJECT_UNAUTHORIZED turns off/,
    ],
  ])('with %s', async (_, env, reason) => {
    const delivered = await scenario.deliver({
      files,
      env,
      inputs: { channel: 'K3' },
    });
    expect(delivered.exitCode).toBe(1);
    expect(delivered.outputs).toMatchObject({ result: 'not-ready', url: '' });
    expect(delivered.report.notReady?.reason).toMatch(reason);
    expect(delivered.stdout + delivered.stderr).not.toMatch(/^\s+at /m);
  });

  test('with a token with a line break, which is printed nowhere', async () => {
    const token = `${scenario.world.token()}\n${scenario.world.token()}`;
    const delivered = await scenario.deliver({
      files,
      token,
      inputs: {},
    });
    expectNotReady(delivered, 'check', /input `token` contains a space, a line break/);
    expect(delivered.outputs.result).toBe('not-ready');
  });

  test('without a file for the summary', async () => {
    const delivered = await scenario.deliver({
      files,
      env: { GITHUB_STEP_SUMMARY: '/nowhere/summary.md' },
      inputs: { channel: 'K3' },
    });
    expect(delivered.exitCode).toBe(0);
    expect(delivered.outputs.result).toBe('ready');
    expect(delivered.stdout).toContain('Could not write the job summary');
  });

  test.each(['ready'])('with GH_TOKEN=%s, and hands over the proven address', async (value) => {
    const delivered = await scenario.deliver({
      files,
      env: { GH_TOKEN: value },
      inputs: { channel: 'K3' },
    });
    expect(delivered.outputs).toMatchObject({ result: 'ready', url: delivered.report.url });
    expect(String(await scenario.fetchPublic(delivered.outputs.url ?? ''))).toBe(createPage());
  });
});

describe('on the command line, a file of a private repository', () => {
  const git = (cwd: string, ...args: string[]) => promisify(execFile)('git', args, { cwd });
  const uploads = (): number =>
    scenario.world.traffic
      .exchanges()
      .filter(({ host, method }) => host === 'filebin.net' && method === 'POST').length;

  test.each(['another folder', 'no git', 'the runner'])(
    'does not reach the public bin unasked: %s',
    async (name) => {
      const folder = await mkdtemp(join(scenario.world.folder, 'private-'));
      const elsewhere = await mkdtemp(join(scenario.world.folder, 'elsewhere-'));
      await writeFile(join(folder, 'page.html'), createPage());
      if (name !== 'the runner') {
        await git(folder, 'init', '--quiet');
        await git(folder, 'remote', 'add', 'company', 'git@github.com:octo/secret.git');
      }
      const env: Record<string, Record<string, string>> = {
        'no git': { PATH: folder },
        'the runner': { GITHUB_REPOSITORY: 'octo/secret' },
      };
      const cwd = name === 'another folder' ? elsewhere : folder;
      const args = ['deliver', join(folder, 'page.html')];
      const { exitCode, stdout, stderr } = await scenario.runCli(cwd, args, env[name]);
      expect(exitCode).toBe(1);
      expect(stdout).toContain('allow-public-bin');
      expect(stderr).toContain('repository: ');
      expect(uploads()).toBe(0);
    },
  );
});
