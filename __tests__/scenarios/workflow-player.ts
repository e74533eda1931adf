import { beforeAll, expect } from '@jest/globals';
import {
  createWorkflowRunner,
  type WorkflowRun,
  type WorkflowRunner,
} from '../world/workflow/workflow-runner.ts';
import { expectReady } from './expect-report.ts';
import type { ScenarioWorld } from './scenario.ts';
import { getOnlyDelivery, listConclusions } from './workflow-results.ts';

/** Plays workflows, and checks what their only delivery shows. */
interface WorkflowPlayer extends WorkflowRunner {
  /** With a job: that one alone ran, and it succeeded. */
  expectShown(run: WorkflowRun | null, url: string, shows: string | Buffer, job?: string): Promise<void>;
}

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
  };
}
