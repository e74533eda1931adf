import { beforeAll } from '@jest/globals';
import { createWorkflowRunner, type WorkflowRunner } from '../world/workflow/workflow-runner.ts';
import type { ScenarioWorld } from './scenario.ts';

/** Plays the workflows of a file's tests in its local GitHub. */
export function setUpPlayer(scenario: ScenarioWorld): WorkflowRunner {
  let player: WorkflowRunner;
  beforeAll(() => {
    player = createWorkflowRunner(scenario.world);
  });
  return { run: (...args) => player.run(...args) };
}
