import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { runChild } from './child.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NODE = join(ROOT, 'node_modules/.bin/node');
const DELIVERERS = 4;
/** The most requests to the API for each delivery, and for each attempt to write: how many there are depends on load. */
const MOST_CALLS = { delivery: 12, attempt: 4 };

test('the load test counts the delivered files in a small run', async () => {
  const sizes = ['--deliverers', String(DELIVERERS), '--assets', '3', '--sequence', '8'];
  const { exitCode, stdout, stderr } = await runChild(NODE, {
    args: [join(ROOT, '__tests__/world/soak.ts'), ...sizes],
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '' },
    timeoutMs: 280_000,
  });
  expect(stderr).toBe('');
  expect(stdout.match(/files landed .*/g)).toEqual([
    expect.stringMatching(/ 4, lost 0$/),
    expect.stringMatching(/ 3, lost 0$/),
    expect.stringMatching(/ 3, lost 0$/),
    expect.stringMatching(/ 8, lost 0$/),
  ]);
  const [, attempts] = /attempts +(\d+):/.exec(stdout) ?? [];
  const [, calls] = /API calls +(\d+),/.exec(stdout) ?? [];
  const most = MOST_CALLS.delivery * DELIVERERS + MOST_CALLS.attempt * Number(attempts);
  expect(Number(calls)).toBeLessThanOrEqual(most);
  expect(stdout).toMatch(/held after 8 +heap [\d.]+ MB, RSS [\d.]+ MB/);
  expect(stdout).toMatch(/^Nothing was lost/m);
  expect(exitCode).toBe(0);
}, 300_000);
