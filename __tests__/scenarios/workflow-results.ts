import { expect } from '@jest/globals';
import type { JobRun, StepRun, WorkflowRun } from '../world/workflow/workflow-runner.ts';
import { parseReports } from './report-documents.ts';
import type { DeliveredStep, ScenarioWorld } from './scenario.ts';

/** A step of a workflow, and the reports that it left. */
export type PlayedStep = Omit<DeliveredStep, 'repository'>;

/** A site whose builds are not started by a push: for these the examples need `pages: write`. */
export const SITE_WITHOUT_PUSH_BUILDS = { pages: { startsBuilds: false } };

/** The conclusions of a run and of its jobs, in order. */
export function listConclusions(run: WorkflowRun | null): string[] {
  if (run === null) return ['not started'];
  return [run.conclusion, ...run.jobs.map(({ id, conclusion }) => `${id}: ${conclusion}`)];
}

/** The steps of this action, with their reports. */
export function listDeliveries(run: WorkflowRun | null): readonly PlayedStep[] {
  return (run?.jobs ?? []).flatMap(listJobDeliveries);
}

/** The run's only step of this action. */
export function getOnlyDelivery(run: WorkflowRun | null): PlayedStep {
  const [delivery, ...others] = listDeliveries(run);
  if (delivery === undefined || others.length > 0) throw new Error(`Not one delivery:\n${formatRunLog(run)}`);
  return delivery;
}

export function listJobDeliveries({ steps }: JobRun): readonly PlayedStep[] {
  return steps.flatMap(({ action }) => {
    if (action === undefined) return [];
    const reports = parseReports(action.outputs['report-json']);
    const [report] = reports;
    if (report === undefined) throw new Error(`No report:\n${action.stdout}\n${action.stderr}`);
    return [{ ...action, report, reports }];
  });
}

/** A step of any job, by its name or what it uses. */
export function findStep(run: WorkflowRun | null, name: string): StepRun | undefined {
  return run?.jobs.flatMap(({ steps }) => steps).find((step) => step.name === name);
}

const formatRunLog = (run: WorkflowRun | null): string =>
  (run?.jobs ?? []).flatMap(({ steps }) => steps.map(({ name, log }) => `${name}: ${log}`)).join('\n');

/** Expects 404 at an address. */
export async function expectGone(scenario: ScenarioWorld, url: string): Promise<void> {
  await expect(scenario.fetchPublic(url)).rejects.toThrow(/404 https/);
}
