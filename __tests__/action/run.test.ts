import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { run } from '../../src/action/run.ts';
import { drawn } from '../rules/secrets/fake-secrets.ts';
import { type GitHubWorld, startWorld } from '../world/world.ts';
import { inStep, shown } from './runner.ts';

const TOKEN = 'ghs_0123456789abcdef';

/** Runs the action; the message that the step failed with, or `null`. */
async function runStep(env: NodeJS.ProcessEnv): Promise<string | null> {
  const messages: string[] = [];
  await run(env, (message) => messages.push(message));
  expect(messages.length).toBeLessThanOrEqual(1);
  return messages[0] ?? null;
}

describe('run, when an input is refused', () => {
  test('fails the step in English first and still writes every output', async () => {
    await inStep({ INPUT_FILE: 'page.html', INPUT_TIMEOUT: '3000', INPUT_TOKEN: TOKEN }, async (step) => {
      await expect(runStep(step.env)).resolves.toMatch(
        /^Not ready \(НЕ ГОТОВО\): input `timeout` is 3000, .*`timeout: 240`$/,
      );
      await expect(step.outputs()).resolves.toMatchObject({ url: '', result: 'not-ready' });
      await expect(step.summary()).resolves.toContain('НЕ ГОТОВО');
      expect(step.printed()).toContain('RESULT: НЕ ГОТОВО → ');
      expect(step.printed()).toMatch(`::add-mask::${TOKEN}`);
    });
  });

  test('blames the line of `file` that matches nothing, not the first one', async () => {
    const inputs = { INPUT_FILE: 'package.json\nout/*.pdf', INPUT_CHANNEL: 'K3', INPUT_TOKEN: '' };
    await inStep(inputs, async ({ env }) => {
      const annotations: [string, string | undefined][] = [];
      await run(env, (message, title) => annotations.push([message, title]));
      expect(annotations).toEqual([[expect.stringContaining('matches no file: out/*.pdf'), 'out/*.pdf']]);
    });
  });

  test('refuses a well-known secret in an input, and prints it nowhere', async () => {
    const secret = `ghp_${drawn(36)}`;
    await inStep({ INPUT_FILE: 'page.html', INPUT_MESSAGE: `by ${secret}` }, async (step) => {
      await expect(runStep(step.env)).resolves.toMatch(/input `message` contains what looks like a secret/);
      expect(step.printed().replaceAll(`::add-mask::${secret}`, '')).not.toContain(secret);
    });
  });

  test('names the given file or the link in the report', async () => {
    await inStep({ INPUT_FILE: 'page.html', INPUT_CHANNEL: 'K9' }, async (step) => {
      await runStep(step.env);
      const {
        reports: [report],
      } = JSON.parse((await step.outputs())['report-json'] ?? '');
      expect(report).toMatchObject({
        file: { path: 'page.html' },
        notReady: { step: 'check', code: 'BAD_INPUT' },
      });
    });
    await inStep({ INPUT_URL: 'sandbox:/mnt/data/a.html' }, async (step) => {
      await runStep(step.env);
      const {
        reports: [report],
      } = JSON.parse((await step.outputs())['report-json'] ?? '');
      expect(report).toMatchObject({ file: null, notReady: { step: 'check', code: 'NOT_EXTERNAL' } });
    });
  });

  test('fails the step whose outputs could not be written, whatever `fail-on-not-ready` says', async () => {
    const env = { INPUT_CHANNEL: 'K9', INPUT_FILE: 'a', 'INPUT_FAIL-ON-NOT-READY': 'false' };
    await inStep({ ...env, GITHUB_OUTPUT: '/nowhere/output' }, async (step) => {
      await expect(runStep(step.env)).resolves.toMatch(/^Could not write the outputs of this step/);
    });
  });

  test('does not fail the step with fail-on-not-ready: False', async () => {
    const env = { INPUT_CHANNEL: 'K9', INPUT_FILE: 'a', 'INPUT_FAIL-ON-NOT-READY': 'False' };
    await inStep(env, async (step) => {
      await expect(runStep(step.env)).resolves.toBeNull();
      await expect(step.outputs()).resolves.toMatchObject({ result: 'not-ready' });
    });
  });

  test('fails the step when fail-on-not-ready itself is neither true nor false', async () => {
    await inStep({ INPUT_FILE: 'page.html', 'INPUT_FAIL-ON-NOT-READY': 'never' }, async (step) => {
      await expect(runStep(step.env)).resolves.toContain(
        'input `fail-on-not-ready` is neither true nor false',
      );
    });
  });

  test('fails the step when an input can not be read, and does not touch the comment', async () => {
    await inStep({ INPUT_FILE: 'page.html', INPUT_COMMENT: 'tRUE', INPUT_TOKEN: TOKEN }, async (step) => {
      await expect(runStep(step.env)).resolves.toMatch(
        /^Not ready \(НЕ ГОТОВО\): input `comment` is neither true nor false \(step check\)/,
      );
      await expect(step.outputs()).resolves.toMatchObject({ url: '', result: 'not-ready' });
      expect(step.printed()).not.toMatch(/comment on|No comment/);
    });
  });

  test('shows the token nowhere, not even when an input contains it', async () => {
    await inStep({ INPUT_FILE: `${TOKEN}.html`, INPUT_TOKEN: TOKEN }, async (step) => {
      const message = await runStep(step.env);
      expect(message).toContain('input `file` holds the token');
      const all = [message, JSON.stringify(await step.outputs()), shown(await step.summary())].join('\n');
      expect(all).not.toContain(TOKEN);
      expect(step.printed().replace(`::add-mask::${TOKEN}`, '')).not.toContain(TOKEN);
    });
  });

  test('removes its signal handlers', async () => {
    const counts = (): number[] => [process.listenerCount('SIGINT'), process.listenerCount('SIGTERM')];
    const before = counts();
    await inStep({ INPUT_FILE: 'a', INPUT_CHANNEL: 'K9' }, (step) => runStep(step.env));
    expect(counts()).toEqual(before);
  });
});

describe('run, with the local GitHub', () => {
  const authorities = tls.getCACertificates();
  let world: GitHubWorld;

  beforeAll(async () => {
    world = await startWorld();
    tls.setDefaultCACertificates([...authorities, world.ca]);
  });

  afterAll(async () => {
    tls.setDefaultCACertificates(authorities);
    await world.stop();
  });

  const inputs = (more: Record<string, string>) => ({
    HTTPS_PROXY: world.proxyUrl,
    INPUT_FILE: 'page.html',
    'INPUT_POLL-INTERVAL': '0.1',
    INPUT_TIMEOUT: '20',
    ...more,
  });

  test('delivers a page, proves it and passes the step', async () => {
    const repository = await world.repository({ owner: 'octo', name: 'pages-demo' });
    const page = '<!doctype html><p>It works</p>';
    await inStep(inputs({ INPUT_TOKEN: world.token(), INPUT_MARKER: 'It works' }), async (step) => {
      await writeFile(join(step.workspace, 'page.html'), page);
      await expect(runStep(step.env)).resolves.toBeNull();
      await expect(step.outputs()).resolves.toMatchObject({
        url: 'https://octo.github.io/pages-demo/page.html',
        'raw-url': 'https://raw.githubusercontent.com/octo/pages-demo/main/page.html',
        result: 'ready',
        channel: 'K1',
        'commit-sha': await repository.head(),
      });
      await expect(step.summary()).resolves.toContain('**Ready · ГОТОВО**');
      expect(String(await repository.read('page.html'))).toBe(page);
      expect((await repository.log())[0]?.message).toMatch(/^ADD page\.html: from run 7 of Deliver\n/);
    });
  });

  test('stops at SIGTERM and reports what was already uploaded', async () => {
    await inStep(inputs({ INPUT_CHANNEL: 'K3' }), async (step) => {
      await writeFile(join(step.workspace, 'page.html'), 'x');
      const alter = <T>(answer: T): T => {
        process.emit('SIGTERM', 'SIGTERM');
        return answer;
      };
      world.intercept({ method: 'POST', url: /filebin\.net/ }, { alter });
      await expect(runStep(step.env)).resolves.toMatch(
        /^Not ready \(НЕ ГОТОВО\): .*was stopped.*\(step verify\)/,
      );
      const { report, ...outputs } = await step.outputs();
      expect(outputs).toMatchObject({ url: '', result: 'not-ready' });
      expect(report).toMatch(/^UNKNOWN: .*it is placed \(bin .* holds these bytes/m);
    });
  });
});
