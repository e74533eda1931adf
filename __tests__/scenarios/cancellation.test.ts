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

interface Moment {
  readonly when: string;
  readonly channel: string;
  readonly file?: Buffer;
  /** The request during which the step is stopped, after the host has done its work. */
  readonly match: RequestMatch;
  /** Whether the host did its work; else it never heard of the request. */
  readonly done: boolean;
  /** What the report must say of what was placed. */
  readonly says: RegExp;
  readonly commits: number;
  readonly assets?: number;
}

const NOTHING = /nothing was published|whether a part of the file has arrived/;

/** Stops the step in the middle of each kind of request. */
const MOMENTS: readonly Moment[] = [
  {
    when: 'the settings are read',
    channel: 'K1',
    match: { url: /\/pages$/ },
    done: true,
    says: NOTHING,
    commits: 1,
  },
  {
    when: 'method A has not arrived',
    channel: 'K1',
    match: { method: 'PUT', url: /contents/ },
    done: false,
    says: NOTHING,
    commits: 1,
  },
  {
    when: 'method A has arrived',
    channel: 'K1',
    match: { method: 'PUT', url: /contents/ },
    done: true,
    says: /it is placed \(commit [0-9a-f]{40}/,
    commits: 2,
  },
  {
    when: 'method B sends its blob',
    channel: 'K1',
    file: large,
    match: { url: /git\/blobs/ },
    done: true,
    says: NOTHING,
    commits: 1,
  },
  {
    when: 'method B has moved the branch',
    channel: 'K1',
    file: large,
    match: { method: 'PATCH', url: /git\/refs/ },
    done: true,
    says: /it is placed \(commit [0-9a-f]{40}/,
    commits: 2,
  },
  {
    when: 'the page is looked at',
    channel: 'K1',
    match: { url: /github\.io/ },
    done: false,
    says: /it is placed \(commit [0-9a-f]{40}/,
    commits: 2,
  },
  {
    when: 'the asset has not arrived',
    channel: 'K2',
    match: { url: /uploads\.github\.com/ },
    done: false,
    says: NOTHING,
    commits: 1,
    assets: 0,
  },
  {
    when: 'the asset has arrived, in a draft',
    channel: 'K2',
    match: { url: /uploads\.github\.com/ },
    done: true,
    says: NOTHING,
    commits: 1,
    assets: 0,
  },
  {
    when: 'the bin has it',
    channel: 'K3',
    match: { method: 'POST', url: /filebin\.net/ },
    done: true,
    says: /it is placed \(bin .* holds these bytes/,
    commits: 1,
  },
];

test.each(MOMENTS)('stopped when $when ($channel): the report says what was placed', async (moment) => {
  const repository = await scenario.repository();
  const file = moment.file ?? createPage();
  const signalFile = join(scenario.world.folder, `signal-${repository.name}`);
  let pid = 0;
  const stop = (): true => process.kill(pid, 'SIGTERM');
  const held = scenario.intercept(
    moment.match,
    moment.done
      ? {
          async alter(real) {
            stop();
            // The step has the signal before it has the answer.
            while (!existsSync(signalFile)) await sleep(5);
            return real;
          },
        }
      : { fault: 'hang' },
  );
  const step = scenario.deliver({
    repository,
    files: { 'page.html': file },
    inputs: { channel: moment.channel, 'self-contained': 'off' },
    env: { NODE_OPTIONS: `--import=${SIGNAL_PRELOAD}`, SIGNAL_FILE: signalFile },
    onStart: (started) => {
      pid = started;
    },
  });
  if (!moment.done) {
    while (held.hits === 0) await sleep(20);
    stop();
  }
  const delivered = await step;
  expect(delivered.report.notReady?.code).toBe('ABORTED');
  expect(delivered.outputs).toMatchObject({ result: 'not-ready', url: '' });
  expect(delivered.exitCode).toBe(1);
  expect(delivered.report.lines.UNKNOWN).toMatch(moment.says);
  expect(await repository.log()).toHaveLength(moment.commits);
  const assets = repository.releases().flatMap((release) => release.assets);
  expect(assets).toHaveLength(moment.assets ?? 0);
  expect(assets.filter(({ state }) => state === 'starter')).toEqual([]);
  expect(collectOutput(delivered)).not.toContain(delivered.token);
});
