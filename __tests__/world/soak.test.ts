import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { runChild } from './child.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NODE = join(ROOT, 'node_modules/.bin/node');
/** The most requests to the API that a job may need on average, with others writing to the branch. */
const MOST_CALLS = 15;

test('the load test counts the delivered files in a small run', async () => {
  const sizes = ['--deliverers', '4', '--assets', '3', '--sequence', '8'];
  const { exitCode, stdout, stderr } = await runChild(NODE, {
    args: [join(ROOT, '__tests__/world/soak.ts'), ...sizes],
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '' },
    timeoutMs: 280_000,
  });
  // Mockttp tells of each client that leaves an open connection behind.
  expect(stderr.replace(/^Failed to handle request: (aborted|socket hang up)\n/gm, '')).toBe('');
  expect(stdout.match(/files landed .*/g)).toEqual([
    expect.stringMatching(/ 4, lost 0$/),
    expect.stringMatching(/ 3, lost 0$/),
    expect.stringMatching(/ 3, lost 0$/),
    expect.stringMatching(/ 8, lost 0$/),
  ]);
  const [, calls] = /API calls +\d+, ([\d.]+) a delivery/.exec(stdout) ?? [];
  expect(Number(calls)).toBeLessThanOrEqual(MOST_CALLS);
  expect(stdout).toMatch(/held after 8 +heap [\d.]+ MB, RSS [\d.]+ MB/);
  expect(stdout).toMatch(/^Nothing was lost/m);
  expect(exitCode).toBe(0);
}, 300_000);
