import { expect } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import type { JobRun, StepRun, WorkflowRun } from '../world/workflow/player.ts';
import type { Delivered, Stage } from './stage.ts';

/** A site whose builds no push starts: for these the examples ask for `pages: write`. */
export const QUIET = { pages: { startsBuilds: false } };

/** What became of a run: of itself and of each of its jobs, in their order. */
export function became(run: WorkflowRun | null): string[] {
  if (run === null) return ['not started'];
  return [run.conclusion, ...run.jobs.map(({ id, conclusion }) => `${id}: ${conclusion}`)];
}

/** The steps of this action, with their reports. */
export function deliveriesOf(run: WorkflowRun | null): readonly Delivered[] {
  return (run?.jobs ?? []).flatMap(deliveriesIn);
}

/** The run's only step of this action. */
export function deliveryOf(run: WorkflowRun | null): Delivered {
  const [delivery, ...others] = deliveriesOf(run);
  if (delivery === undefined || others.length > 0) throw new Error(`Not one delivery:\n${logOf(run)}`);
  return delivery;
}

export function deliveriesIn({ steps }: JobRun): readonly Delivered[] {
  return steps.flatMap(({ action }) => {
    if (action === undefined) return [];
    const reports = JSON.parse(action.outputs['report-json'] ?? '[]') as Report[];
    const [report] = reports;
    if (report === undefined) throw new Error(`No report:\n${action.stdout}\n${action.stderr}`);
    return [{ ...action, report, reports }];
  });
}

/** A step of any job, by its name or what it uses. */
export function stepOf(run: WorkflowRun | null, name: string): StepRun | undefined {
  return run?.jobs.flatMap(({ steps }) => steps).find((step) => step.name === name);
}

const logOf = (run: WorkflowRun | null): string =>
  (run?.jobs ?? []).flatMap(({ steps }) => steps.map(({ name, log }) => `${name}: ${log}`)).join('\n');

/** Nothing is served at the address any more. */
export async function expectGone(stage: Stage, url: string): Promise<void> {
  await expect(stage.fetchPublic(url)).rejects.toThrow(/404 https/);
}
