import { join } from 'node:path';
import { type ActionRun, runAction } from '../__tests__/world/runner.ts';
import { type GitHubWorld, startWorld } from '../__tests__/world/world.ts';

const API = /^\w+ https:\/\/api\.github\.com\//;

/** Measures something against the local GitHub of the tests, where requests are counted and not limited. */
export async function measureInWorld<T>(
  measure: (world: GitHubWorld, workspace: string) => Promise<T>,
): Promise<T> {
  const world = await startWorld();
  world.rateLimits.enforced = false;
  try {
    return await measure(world, join(world.folder, 'workspace'));
  } finally {
    await world.stop();
  }
}

/** The cost of a step with the action. */
export interface DeliveryCost {
  readonly seconds: number;
  /** Peak memory of the process in MB. */
  readonly peak: number;
  /** Requests to the API. */
  readonly requests: number;
}

/** @throws {Error} if the step fails */
export async function measureDelivery({ inputs, ...run }: ActionRun): Promise<DeliveryCost> {
  run.world.traffic.clear();
  const given = { 'poll-interval': '0.1', ...inputs };
  const {
    exitCode,
    stdout,
    durationMs,
    maxRssKb = Number.NaN,
  } = await runAction({
    timeoutMs: 900_000,
    ...run,
    inputs: given,
  });
  if (exitCode !== 0) throw new Error(`the step failed:\n${stdout}`);
  const requests = run.world.traffic.exchanges(API).length;
  return { seconds: durationMs / 1e3, peak: maxRssKb / 1_024, requests };
}
