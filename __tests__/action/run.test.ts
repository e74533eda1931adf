import { describe, expect, test } from '@jest/globals';
import { run } from '../../src/action/run.ts';
import { inStep } from './runner.ts';

const TOKEN = 'ghs_0123456789abcdef';

/** Runs the action; the message that the step failed with, or `null`. */
async function runStep(env: NodeJS.ProcessEnv): Promise<string | null> {
  const messages: string[] = [];
  await run(env, (message) => messages.push(message));
  expect(messages.length).toBeLessThanOrEqual(1);
  return messages[0] ?? null;
}

describe('run, when an input is refused', () => {
  test('fails the step in English first, still writes every output, and touches no comment', async () => {
    const inputs = { INPUT_FILE: 'page.html', INPUT_COMMENT: 'true', INPUT_TIMEOUT: '3000' };
    await inStep({ ...inputs, INPUT_TOKEN: TOKEN }, async (step) => {
      await expect(runStep(step.env)).resolves.toMatch(
        /^page\.html is not ready \(step check\)\. To fix: .*`timeout: 1800`$/,
      );
      await expect(step.outputs()).resolves.toMatchObject({ url: '', result: 'not-ready' });
      await expect(step.summary()).resolves.toContain('НЕ ГОТОВО');
      expect(step.printed()).toContain('RESULT: НЕ ГОТОВО → ');
      expect(step.printed()).toMatch(`::add-mask::${TOKEN}`);
      expect(step.printed()).not.toMatch(/comment on|No comment/);
    });
  });

  test('blames the line of `file` that matches nothing, not the first one', async () => {
    const inputs = { INPUT_FILE: 'package.json\nout/*.pdf', INPUT_CHANNEL: 'K3', INPUT_TOKEN: '' };
    await inStep(inputs, async ({ env }) => {
      const annotations: [string, string | undefined][] = [];
      await run(env, (message, title) => annotations.push([message, title]));
      expect(annotations).toEqual([
        [expect.stringMatching(/^out\/\*\.pdf is not ready/), 'input `file` matches no file: out/*.pdf'],
      ]);
    });
  });

  test('fails the step whose outputs could not be written, whatever `fail-on-not-ready` says', async () => {
    const env = { INPUT_CHANNEL: 'K9', INPUT_FILE: 'a', 'INPUT_FAIL-ON-NOT-READY': 'false' };
    await inStep({ ...env, GITHUB_OUTPUT: '/nowhere/output' }, async (step) => {
      await expect(runStep(step.env)).resolves.toMatch(/^Could not write the outputs of this step/);
    });
  });

  test.each([
    ['False', null],
    ['never', expect.stringContaining('To fix: set `fail-on-not-ready: true`')],
  ])('fails the step, or not, with fail-on-not-ready: %s', async (value, message) => {
    const env = { INPUT_FILE: 'a', INPUT_CHANNEL: value === 'never' ? 'K1' : 'K9' };
    await inStep({ ...env, 'INPUT_FAIL-ON-NOT-READY': value }, async (step) => {
      expect(await runStep(step.env)).toEqual(message);
      await expect(step.outputs()).resolves.toMatchObject({ result: 'not-ready' });
    });
  });

  test('removes its signal handlers', async () => {
    const counts = (): number[] => [process.listenerCount('SIGINT'), process.listenerCount('SIGTERM')];
    const before = counts();
    await inStep({ INPUT_FILE: 'a', INPUT_CHANNEL: 'K9' }, (step) => runStep(step.env));
    expect(counts()).toEqual(before);
  });
});
