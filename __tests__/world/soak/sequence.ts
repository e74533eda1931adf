import { fileURLToPath } from 'node:url';
import { runChild } from '../child.ts';
import type { GitHubWorld } from '../world.ts';
import type { MemoryUsage, SequenceResult } from './delivery-process.ts';
import { formatApiCalls, type LoadReport } from './load.ts';

const PROGRAM = fileURLToPath(new URL('delivery-process.ts', import.meta.url));
const TIMEOUT_MS = 900_000;
const MEGABYTE = 1_048_576;
/** How much the heap may grow between the first quarter and the end. */
const HEAP_GROWTH = 10 * MEGABYTE;
/** Connections are closed and opened again over time, so a few more are not a leak. */
const DESCRIPTOR_GROWTH = 4;

/** One process delivers one file after the other with K1, K2 and K3; its memory is measured. */
export async function loadSequence(world: GitHubWorld, count: number): Promise<LoadReport> {
  const repository = await world.repository({ owner: 'octo', name: 'soak-sequence' });
  const looks = [0.1, 0.25, 0.5, 1].map((share) => Math.max(1, Math.round(count * share)));
  const args = [String(count), looks.join(',')];
  const { held, faults, used } = await runProcess(world, args, repository.fullName);
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
    ],
    problems: [...faults, ...listGrowth(held)],
  };
}

async function runProcess(
  world: GitHubWorld,
  args: readonly string[],
  repository: string,
): Promise<SequenceResult> {
  const { exitCode, stdout, stderr } = await runChild(process.execPath, {
    args: ['--expose-gc', PROGRAM, ...args],
    cwd: world.folder,
    env: {
      PATH: process.env.PATH ?? '',
      ...world.env,
      RUNNER_TEMP: world.folder,
      GITHUB_API_URL: 'https://api.github.com',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: repository,
      INPUT_TOKEN: world.token(),
    },
    timeoutMs: TIMEOUT_MS,
  });
  if (exitCode !== 0) throw new Error(`the process ended with ${exitCode}: ${stderr}`);
  return JSON.parse(stdout) as SequenceResult;
}

const formatMegabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(1);

function formatMemory({ heap, rss, descriptors, handles }: MemoryUsage): string {
  const files = descriptors === null ? '' : `, ${descriptors} file descriptors`;
  return `heap ${formatMegabytes(heap)} MB, RSS ${formatMegabytes(rss)} MB${files}, ${handles} handles`;
}

/** Lists growth since the first half, when every channel has loaded its data and opened its connections. */
function listGrowth(held: readonly MemoryUsage[]): string[] {
  const early = held.at(-2);
  const late = held.at(-1);
  if (early === undefined || late === undefined || held.length < 4)
    return ['the process measured too little'];
  const grown = (what: 'heap' | 'descriptors' | 'handles'): number => (late[what] ?? 0) - (early[what] ?? 0);
  return [
    ...(grown('heap') > HEAP_GROWTH ? [`the heap grew by ${formatMegabytes(grown('heap'))} MB`] : []),
    ...(['descriptors', 'handles'] as const)
      .filter((what) => grown(what) > DESCRIPTOR_GROWTH)
      .map((what) => `there are ${grown(what)} ${what} more than after ${early.after} deliveries`),
  ];
}
