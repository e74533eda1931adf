import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { GitHubWorld } from '../world.ts';
import { formatApiCalls } from './api-calls.ts';
import type { ProcessMessage } from './delivery-process.ts';
import { formatSecondsSince, type LoadReport, type LogProgress } from './load-report.ts';
import type { MemoryUsage } from './memory.ts';

const PROGRAM = fileURLToPath(new URL('delivery-process.ts', import.meta.url));
const MEGABYTE = 1_048_576;
/** How much the heap may grow between the first quarter and the end. */
const HEAP_GROWTH = 10 * MEGABYTE;
/** Connections are closed and opened again over time: a few more are no leak. */
const DESCRIPTOR_GROWTH = 4;

/** One process delivers one file after the other with K1, K2 and K3; its memory is measured. */
export async function loadSequence(world: GitHubWorld, count: number, say: LogProgress): Promise<LoadReport> {
  const repository = await world.repository({ owner: 'octo', name: 'soak-sequence' });
  world.traffic.clear();
  const startedAt = performance.now();
  const looks = [0.1, 0.25, 0.5, 1].map((share) => Math.max(1, Math.round(count * share)));
  const { held, faults, used } = await runProcess(
    world,
    [String(count), looks.join(',')],
    repository.fullName,
    say,
  );
  const landed = Object.values(used).reduce((sum, one) => sum + one, 0) - faults.length;
  return {
    title: `${count} deliveries, one after the other, in one process`,
    rows: [
      ['files landed', `${landed}, lost ${count - landed}`],
      [
        'channels',
        Object.entries(used)
          .map(([channel, times]) => `${times} by ${channel}`)
          .join(', '),
      ],
      ...held.map((one) => [`held after ${one.after}`, formatMemory(one)] as const),
      ['API calls', formatApiCalls(world, count)],
      ['time', formatSecondsSince(startedAt)],
    ],
    problems: [...faults, ...listGrowth(held)],
  };
}

interface SequenceResult {
  readonly held: readonly MemoryUsage[];
  readonly faults: readonly string[];
  readonly used: Readonly<Record<string, number>>;
}

async function runProcess(
  world: GitHubWorld,
  args: readonly string[],
  repository: string,
  say: LogProgress,
): Promise<SequenceResult> {
  const held: MemoryUsage[] = [];
  const faults: string[] = [];
  let used: SequenceResult['used'] = {};
  const env = {
    PATH: process.env.PATH ?? '',
    ...world.env,
    RUNNER_TEMP: world.folder,
    GITHUB_API_URL: 'https://api.github.com',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: repository,
    INPUT_TOKEN: world.token(),
  };
  const child = fork(PROGRAM, args, { env, execArgv: ['--expose-gc'] });
  child.on('message', (message: ProcessMessage) => {
    if ('held' in message) {
      held.push(message.held);
      say(`after ${message.held.after} deliveries: ${formatMemory(message.held)}`);
    } else if ('used' in message) used = message.used;
    else faults.push('failed' in message ? message.failed : `the process was warned: ${message.warned}`);
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (exitCode !== 0) faults.push(`the process ended with ${exitCode}`);
  return { held, faults, used };
}

const formatMegabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(1);

function formatMemory({ heap, rss, descriptors, handles }: MemoryUsage): string {
  const files = descriptors === null ? '' : `, ${descriptors} file descriptors`;
  return `heap ${formatMegabytes(heap)} MB, RSS ${formatMegabytes(rss)} MB${files}, ${handles} handles`;
}

/** Lists growth since the first quarter, when all lasting data is loaded. */
function listGrowth(held: readonly MemoryUsage[]): string[] {
  const [, early] = held;
  const late = held.at(-1);
  if (early === undefined || late === undefined || held.length < 4) return ['the process message too little'];
  const grown = (what: 'heap' | 'descriptors' | 'handles'): number => (late[what] ?? 0) - (early[what] ?? 0);
  return [
    ...(grown('heap') > HEAP_GROWTH ? [`the heap grew by ${formatMegabytes(grown('heap'))} MB`] : []),
    ...(['descriptors', 'handles'] as const)
      .filter((what) => grown(what) > DESCRIPTOR_GROWTH)
      .map((what) => `there are ${grown(what)} ${what} more than after ${early.after} deliveries`),
  ];
}
