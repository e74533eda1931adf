import { parseArgs } from 'node:util';
import { loadBranch } from './soak/branch.ts';
import type { LoadReport } from './soak/load.ts';
import { loadRelease } from './soak/release.ts';
import { loadSequence } from './soak/sequence.ts';
import { type GitHubWorld, startWorld, stopOnSignal } from './world.ts';

/**
 * Load tests: many concurrent deliveries into one branch and one release, and many in one process. `--deliverers
 * 16,64` loads a branch twice. Exit code 1 if something was lost, or memory grew.
 */

type RunLoad = (world: GitHubWorld, size: number) => Promise<LoadReport>;

const { values } = parseArgs({
  options: {
    deliverers: { type: 'string', default: '16,64' },
    assets: { type: 'string', default: '16' },
    sequence: { type: 'string', default: '200' },
  },
});

const LOADS: readonly (readonly [RunLoad, size: string])[] = [
  ...values.deliverers.split(',').map((size) => [loadBranch, size] as const),
  [loadRelease(false), values.assets],
  [loadRelease(true), values.assets],
  [loadSequence, values.sequence],
];

const formatSecondsSince = (startedAt: number): string =>
  `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;

function printReport({ title, rows, problems }: LoadReport): void {
  const width = Math.max(...rows.map(([what]) => what.length));
  const lines = rows.map(([what, count]) => `  ${what.padEnd(width)}  ${count}`);
  console.log(['', title, ...lines, ...problems.map((problem) => `  FAULT: ${problem}`), ''].join('\n'));
}

const startedAt = performance.now();
const world = await startWorld();
stopOnSignal(world);
// The load exceeds a repository's hourly limit; the report counts the requests.
world.rateLimits.enforced = false;
let faults = 0;
try {
  for (const [load, size] of LOADS) {
    if (Number(size) === 0) continue;
    world.traffic.clear();
    const loadedAt = performance.now();
    const report = await load(world, Number(size));
    faults += report.problems.length;
    printReport({ ...report, rows: [...report.rows, ['time', formatSecondsSince(loadedAt)]] });
  }
} finally {
  await world.stop();
}
console.log(
  `${faults === 0 ? 'Nothing was lost' : `${faults} faults`}, ${formatSecondsSince(startedAt)} in all.`,
);
if (faults > 0) process.exitCode = 1;
