import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { RequestMatch } from '../world/server/interceptions.ts';
import { collectOutput } from './expect-report.ts';
import { createPage, setUpScenario } from './scenario.ts';

const SIGNAL_PRELOAD = new URL('../world/signal-file.ts', import.meta.url).href;
const scenario = setUpScenario();
const large = Buffer.alloc(1_100_000, 'large');

const NOTHING = /nothing was published|whether a part of the file has arrived/;
const COMMITTED = /it is placed \(commit [0-9a-f]{40}/;

// command-line.test.ts stops a step while a host hangs: here each request has done its work.
test.each<[string, string, string | Buffer, RequestMatch, RegExp, number]>([
  ['the settings are read', 'K1', createPage(), { url: /\/pages$/ }, NOTHING, 1],
  ['method A has arrived', 'K1', createPage(), { method: 'PUT', url: /contents/ }, COMMITTED, 2],
  ['method B has sent its blob', 'K1', large, { url: /git\/blobs/ }, NOTHING, 1],
  ['method B has moved the branch', 'K1', large, { method: 'PATCH', url: /git\/refs/ }, COMMITTED, 2],
  ['the asset is in a draft', 'K2', createPage(), { url: /uploads\.github\.com/ }, NOTHING, 1],
  [
    'the bin has it',
    'K3',
    createPage(),
    { method: 'POST', url: /filebin\.net/ },
    /it is placed \(bin .* holds these bytes/,
    1,
  ],
])('SIGTERM when %s (%s): the report says what was placed', async (...row) => {
  const [, channel, file, match, says, commits] = row;
  const repository = await scenario.repository();
  const signalFile = join(scenario.world.folder, `signal-${repository.name}`);
  let pid = 0;
  const alter = async <Answer>(real: Answer): Promise<Answer> => {
    process.kill(pid, 'SIGTERM');
    // The step has the signal before it has the answer.
    while (!existsSync(signalFile)) await sleep(5);
    return real;
  };
  scenario.intercept(match, { alter });
  const delivered = await scenario.deliver({
    repository,
    files: { 'page.html': file },
    inputs: { channel, 'self-contained': 'off' },
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
