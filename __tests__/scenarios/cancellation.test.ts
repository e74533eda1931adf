import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { RequestMatch } from '../world/server/interceptions.ts';
import { collectOutput } from './expect-report.ts';
import { createPage, setUpScenario } from './scenario.ts';

const SIGNAL_PRELOAD = new URL('../world/signal-file.ts', import.meta.url).href;
const scenario = setUpScenario();
const UNSURE = /whether a part of the file has arrived/;

// stops.test.ts has every request, in this process; here the signal itself, and what is cleaned up after it.
test.each<[string, string, RequestMatch, RegExp, number]>([
  ['method A has arrived', 'K1', { method: 'PUT', url: /contents/ }, UNSURE, 2],
  ['the asset is in a draft', 'K2', { url: /uploads\.github\.com/ }, /nothing was published/, 1],
])('SIGTERM when %s (%s): the report names what was placed', async (...row) => {
  const [, channel, match, says, commits] = row;
  const repository = await scenario.repository();
  const signalFile = join(scenario.world.folder, `signal-${repository.name}`);
  let pid = 0;

  scenario.meanwhile(match, async () => {
    process.kill(pid, 'SIGTERM');
    // The step has the signal before it has the answer.
    while (!existsSync(signalFile)) await sleep(5);
  });
  const delivered = await scenario.deliver({
    repository,
    files: { 'page.html': createPage() },
    inputs: { channel },
    env: { NODE_OPTIONS: `--import=${SIGNAL_PRELOAD}`, SIGNAL_FILE: signalFile },
    onStart: (started) => {
      pid = started;
    },
  });
  expect(delivered.report.notReady?.code).toBe('ABORTED');
  expect(delivered.outputs).toMatchObject({ result: 'not-ready', url: '' });
  expect(delivered.exitCode).toBe(1);
  expect(delivered.report.lines.UNKNOWN).toMatch(says);
  expect(await repository.log()).toHaveLength(commits);
  // A draft that was not published is deleted with its assets.
  expect(repository.releases()).toEqual([]);
  expect(collectOutput(delivered)).not.toContain(delivered.token);
});

test('a step that is stopped while its proxy is silent ends with its outputs', async () => {
  const { proxy } = scenario.world;
  let pid = 0;
  proxy.chooseMode = () => {
    process.kill(pid, 'SIGTERM');
    return 'silent';
  };
  const delivered = await scenario.deliver({
    files: { 'page.html': createPage() },
    token: '',
    inputs: { channel: 'K3' },
    onStart: (started) => {
      pid = started;
    },
  });
  proxy.chooseMode = () => 'through';
  expect(delivered.report.notReady?.code).toBe('ABORTED');
  expect(delivered.outputs).toMatchObject({ result: 'not-ready', url: '' });
  expect(delivered.exitCode).toBe(1);
});
