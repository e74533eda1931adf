import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCurrentRun } from '../../../src/action/current-run.ts';
import { createRunContext, readInputs } from '../../../src/action/inputs.ts';
import { runRequest } from '../../../src/context.ts';
import type { Report } from '../../../src/delivery/report.ts';
import { createHttpClient } from '../../../src/http/client.ts';
import type { Ports } from '../../../src/ports.ts';
import { parseRequest } from '../../../src/request/parse-request.ts';
import { random, systemClock } from '../../../src/system.ts';
import { type MemoryUsage, measureMemory } from './memory.ts';

/**
 * The process that delivers one file after the other: `delivery-process.ts <count> <measure after, such as 20,100>`.
 * The environment describes the local GitHub; results are sent to the parent process.
 */

/** A message to the parent process. */
export type ProcessMessage =
  | { readonly held: MemoryUsage }
  | { readonly failed: string }
  | { readonly warned: string }
  | { readonly used: Readonly<Record<string, number>> };

const CHANNELS = ['K1', 'K2', 'K3', 'K1+K3'] as const;
/** Above 1 MB: the object API. */
const LARGE = 1_100_000;

const sendMessage = (message: ProcessMessage): void => void process.send?.(message);

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
  const request = parseRequest(readInputs(env), createRunContext(env, await loadCurrentRun(), ports));
  return runRequest(request, ports);
}

process.on('warning', ({ message }) => sendMessage({ warned: message }));
const [count = '0', looks = ''] = process.argv.slice(2);
const folder = await mkdtemp(join(process.env.RUNNER_TEMP ?? tmpdir(), 'sequence-'));
const used: Record<string, number> = {};
for (let at = 1; at <= Number(count); at += 1) {
  for (const { ready, channel, lines } of await deliverOne(at, folder)) {
    if (!ready) sendMessage({ failed: `delivery ${at} is not ready: ${lines.RESULT}` });
    used[channel ?? 'none'] = (used[channel ?? 'none'] ?? 0) + 1;
  }
  if (looks.split(',').includes(String(at))) sendMessage({ held: await measureMemory(at) });
}
sendMessage({ used });
process.disconnect?.();
