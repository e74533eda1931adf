import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadCurrentRun } from '../../../src/action/current-run.ts';
import { createRunContext, readInputs } from '../../../src/action/inputs.ts';
import { runRequest } from '../../../src/context.ts';
import type { Report } from '../../../src/delivery/report.ts';
import { createHttpClient } from '../../../src/http/client.ts';
import type { Ports } from '../../../src/ports.ts';
import { createRequest } from '../../../src/request/create-request.ts';
import { random, systemClock } from '../../../src/system.ts';

/** Delivers one file after the other: `delivery-process.ts <count> <measure after, such as 20,100>`. */

/** The memory and handles of a process after some deliveries. */
export interface MemoryUsage {
  readonly after: number;
  /** Bytes. */
  readonly heap: number;
  readonly rss: number;
  /** Open file descriptors; `null` where the system does not report them. */
  readonly descriptors: number | null;
  /** Timers, sockets and the like that keep the process alive. */
  readonly handles: number;
}

/** What the process prints as JSON at its end. */
export interface SequenceResult {
  readonly held: MemoryUsage[];
  /** One sentence each. */
  readonly faults: string[];
  /** How many files each channel took. */
  readonly used: Record<string, number>;
}

const CHANNELS = ['K1', 'K2', 'K3', 'K1+K3'] as const;
/** Above 1 MB: the object API. */
const LARGE = 1_100_000;
const SETTLE_MS = 200;

const ports: Ports = {
  http: createHttpClient(),
  clock: systemClock,
  logger: {
    info: () => undefined,
    warning: () => undefined,
    debug: () => undefined,
    startSection: () => undefined,
    endSection: () => undefined,
    mask: () => undefined,
    progress: () => ({ advance: () => undefined, end: () => undefined }),
  },
  // One signal for all deliveries, so that a leaked listener is found.
  signal: new AbortController().signal,
  random,
  env: process.env,
  tempFolder: process.env.RUNNER_TEMP || tmpdir(),
};

async function deliverOne(at: number, folder: string): Promise<readonly Report[]> {
  const name = `file-${at}.txt`;
  const text = `file ${at} of the sequence\n`;
  await writeFile(join(folder, name), at % 20 === 0 ? text.padEnd(LARGE, 'large ') : text);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    GITHUB_WORKSPACE: folder,
    INPUT_FILE: name,
    INPUT_CHANNEL: CHANNELS[at % CHANNELS.length],
    'INPUT_POLL-INTERVAL': '0.1',
  };
  const request = await createRequest(
    readInputs(env),
    createRunContext(env, await loadCurrentRun(), ports),
    ports.logger,
  );
  return runRequest(request, ports);
}

/** Measures this process after garbage collection; needs `--expose-gc`. */
async function measureMemory(after: number): Promise<MemoryUsage> {
  // Closed handles disappear a moment later.
  await sleep(SETTLE_MS);
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed: heap, rss } = process.memoryUsage();
  const descriptors = await readdir('/proc/self/fd').then(
    ({ length }) => length,
    () => null,
  );
  return { after, heap, rss, descriptors, handles: process.getActiveResourcesInfo().length };
}

const [count = '0', looks = ''] = process.argv.slice(2);
const folder = await mkdtemp(join(process.env.RUNNER_TEMP ?? tmpdir(), 'sequence-'));
const { held, faults, used }: SequenceResult = { held: [], faults: [], used: {} };
process.on('warning', ({ message }) => faults.push(`the process was warned: ${message}`));
for (let at = 1; at <= Number(count); at += 1) {
  for (const { ready, channel, lines } of await deliverOne(at, folder)) {
    if (!ready) faults.push(`delivery ${at} is not ready: ${lines.RESULT}`);
    used[channel ?? 'none'] = (used[channel ?? 'none'] ?? 0) + 1;
  }
  if (looks.split(',').includes(String(at))) held.push(await measureMemory(at));
}
console.log(JSON.stringify({ held, faults, used } satisfies SequenceResult));
