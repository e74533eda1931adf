import type { PullRequestPayload } from '../world/issue-tracker.ts';
import type { TestRepository } from '../world/repository.ts';
import type { EventPayload, WorkflowEvent } from '../world/workflow/event.ts';
import type { WorkflowRun } from '../world/workflow/workflow-runner.ts';
import type { FolderFiles } from './generator-outputs.ts';

/** A pull request and its workflow events. */
export interface PullRequestEvents {
  readonly number: number;
  readonly opened: WorkflowEvent;
  /** A further commit. */
  push(files: FolderFiles): Promise<WorkflowEvent>;
  /** Closes it, and creates both events about that. */
  close(): Promise<Record<'pull_request' | 'pull_request_target', WorkflowEvent>>;
}

/** Opens a pull request; its head is a branch, or `human:branch` of a fork, with these files. */
export async function openPullRequest(
  repository: TestRepository,
  head: string,
  files: FolderFiles,
): Promise<PullRequestEvents> {
  const { issues } = repository;
  const number = await issues.openPullRequest('Another page', head);
  let current = files;
  /** On GitHub the merge commit; here the head itself. */
  const about = (action: string, pull: PullRequestPayload): WorkflowEvent => ({
    ...createWorkflowEvent(repository, 'pull_request', { action, number, pull_request: pull }, current),
    ref: `refs/pull/${number}/merge`,
    sha: pull.head.sha,
  });
  return {
    number,
    opened: about('opened', await issues.pullRequest(number)),
    async push(newer) {
      current = newer;
      return about('synchronize', await issues.push(number));
    },
    async close() {
      const pull = await issues.closePullRequest(number);
      const payload = { action: 'closed', number, pull_request: pull };
      return {
        pull_request: about('closed', pull),
        pull_request_target: createWorkflowEvent(repository, 'pull_request_target', payload),
      };
    },
  };
}

/** The event after a workflow run. The run of a fork names no pull request. */
export function createRunCompletedEvent(run: WorkflowRun | null): WorkflowEvent {
  if (run === null) throw new Error('There was no run.');
  const { id, name, conclusion, event: occasion } = run;
  const { pull_request: pull } = occasion.payload;
  if (pull === undefined) throw new Error(`Run ${id} is not about a pull request.`);
  const { number, head, base } = pull;
  const isForks = head.repo.full_name !== base.repo.full_name;
  const workflow_run = {
    id,
    name,
    event: occasion.name,
    conclusion,
    head_branch: head.ref,
    head_sha: head.sha,
    head_repository: head.repo,
    pull_requests: isForks ? [] : [{ number, head, base }],
  };
  return createWorkflowEvent(occasion.repository, 'workflow_run', { action: 'completed', workflow_run });
}

/** Creates an event of the default branch, or another ref, with the files that a checkout gives. */
export function createWorkflowEvent(
  repository: TestRepository,
  name: string,
  payload: EventPayload & object,
  files?: FolderFiles,
  ref = `refs/heads/${repository.branch}`,
): WorkflowEvent {
  const { owner, name: repo, fullName, branch } = repository;
  const told = {
    // As the emulator counts.
    id: 1,
    name: repo,
    full_name: fullName,
    private: false,
    fork: false,
    default_branch: branch,
    owner: { login: owner },
  };
  const given = { ...payload, repository: told, sender: { login: owner } };
  return { repository, name, payload: given, ref, sha: '5ca1ab1e'.repeat(5), ...(files && { files }) };
}
