import { readFileSync } from 'node:fs';
import { beforeAll, expect } from '@jest/globals';
import { parseWorkflowDefinition, type WorkflowDefinition } from '../world/workflow/definition.ts';
import {
  createWorkflowRunner,
  type JobRun,
  type StepRun,
  type WorkflowRun,
  type WorkflowRunner,
} from '../world/workflow/workflow-runner.ts';
import { expectReady } from './expect-report.ts';
import { parseReports } from './report-documents.ts';
import type { DeliveredStep, ScenarioWorld } from './scenario.ts';

/** A step of a workflow, and the reports that it left. */
export type PlayedStep = Omit<DeliveredStep, 'repository'>;

/** Plays workflows, and checks what they show. */
interface WorkflowPlayer extends WorkflowRunner {
  /** Checks what the only delivery shows. With a job: that one alone ran, and it succeeded. */
  expectShown(run: WorkflowRun | null, url: string, shows: string | Buffer, job?: string): Promise<void>;
  /** Expects 404 at an address. */
  expectGone(url: string): Promise<void>;
}

/** A site whose builds are not started by a push: for these the examples need `pages: write`. */
export const SITE_WITHOUT_PUSH_BUILDS = { pages: { startsBuilds: false } };

/** Plays the workflows of a file's tests in its local GitHub. */
export function setUpPlayer(scenario: ScenarioWorld): WorkflowPlayer {
  let player: WorkflowRunner;
  beforeAll(() => {
    player = createWorkflowRunner(scenario.world);
  });
  return {
    run: (...args) => player.run(...args),
    async expectShown(run, url, shows, job) {
      if (job !== undefined) expect(listConclusions(run)).toEqual(['success', `${job}: success`]);
      await expectReady(scenario, getOnlyDelivery(run), { channel: 'K1', url, shows });
    },
    expectGone: (url) => expect(scenario.fetchPublic(url)).rejects.toThrow(/404 https/),
  };
}

/** A user's copy of an example, with other texts in place of some. */
export function alterExample(path: string, changes: Readonly<Record<string, string>>): WorkflowDefinition {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const change = (changed: string, [from, to]: [string, string]): string => changed.replaceAll(from, to);
  return parseWorkflowDefinition(Object.entries(changes).reduce(change, text));
}

/** The conclusions of a run and of its jobs, in order. */
export function listConclusions(run: WorkflowRun | null): string[] {
  if (run === null) return ['not started'];
  return [run.conclusion, ...run.jobs.map(({ id, conclusion }) => `${id}: ${conclusion}`)];
}

/** The steps of this action, with their reports. */
export const listDeliveries = (run: WorkflowRun | null): readonly PlayedStep[] =>
  (run?.jobs ?? []).flatMap(listJobDeliveries);

/** The run's only step of this action. */
export function getOnlyDelivery(run: WorkflowRun | null): PlayedStep {
  const [delivery, ...others] = listDeliveries(run);
  if (delivery === undefined || others.length > 0) {
    const steps = (run?.jobs ?? []).flatMap((job) => job.steps);
    throw new Error(`Not one delivery:\n${steps.map(({ name, log }) => `${name}: ${log}`).join('\n')}`);
  }
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
export const findStep = (run: WorkflowRun | null, name: string): StepRun | undefined =>
  run?.jobs.flatMap(({ steps }) => steps).find((step) => step.name === name);
