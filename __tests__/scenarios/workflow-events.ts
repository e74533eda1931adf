import type { PullRequestPayload } from '../world/issue-tracker.ts';
import type { TestRepository } from '../world/repository.ts';
import type { FolderFiles } from './generator-outputs.ts';

/** An event of a repository, with the data for the runs that it starts. */
export interface WorkflowEvent {
  readonly repository: TestRepository;
  readonly name: string;
  readonly payload: EventPayload;
  /** Such as `refs/heads/main`. */
  readonly ref: string;
  readonly sha: string;
  /** The files that the run's own steps made. */
  readonly files?: FolderFiles;
}

interface EventPayload {
  readonly action?: string;
  readonly number?: number;
  readonly pull_request?: PullRequestPayload;
  readonly workflow_run?: object;
}

/** A pull request and its workflow events. */
export interface PullRequestEvents {
  readonly number: number;
  readonly opened: WorkflowEvent;
  /** A further commit. */
  push(files: FolderFiles): Promise<WorkflowEvent>;
  /** Closes it, and creates both events of the closing. */
  close(): Promise<Record<'pull_request' | 'pull_request_target', WorkflowEvent>>;
}

/** Opens a pull request; its head is a branch, or `human:branch` of a fork, whose build leaves these files. */
export async function openPullRequest(
  repository: TestRepository,
  head: string,
  files: FolderFiles,
): Promise<PullRequestEvents> {
  const { issues } = repository;
  const number = await issues.openPullRequest('Another page', head);
  /** On GitHub the merge commit; here the head itself. */
  const about = (action: string, pull: PullRequestPayload, built: FolderFiles): WorkflowEvent => ({
    ...createWorkflowEvent(repository, 'pull_request', { action, number, pull_request: pull }, built),
    ref: `refs/pull/${number}/merge`,
    sha: pull.head.sha,
  });
  return {
    number,
    opened: about('opened', await issues.pullRequest(number), files),
    push: async (newer) => about('synchronize', await issues.push(number), newer),
    async close() {
      const pull = await issues.closePullRequest(number);
      const payload = { action: 'closed', number, pull_request: pull };
      return {
        pull_request: about('closed', pull, {}),
        pull_request_target: createWorkflowEvent(repository, 'pull_request_target', payload),
      };
    },
  };
}

/** The event after a run for a pull request. The run of a fork names no pull request. */
export function createRunCompletedEvent(
  { repository, name, payload: { pull_request: pull } }: WorkflowEvent,
  files: FolderFiles,
): WorkflowEvent {
  if (pull === undefined) throw new Error('The run is not about a pull request.');
  const { number, head, base } = pull;
  const isForks = head.repo.full_name !== base.repo.full_name;
  const workflow_run = {
    id: 7001,
    event: name,
    conclusion: 'success',
    head_branch: head.ref,
    head_sha: head.sha,
    head_repository: head.repo,
    pull_requests: isForks ? [] : [{ number, head, base }],
  };
  return createWorkflowEvent(repository, 'workflow_run', { action: 'completed', workflow_run }, files);
}

/** Creates an event of the default branch. */
export function createWorkflowEvent(
  repository: TestRepository,
  name: string,
  payload: EventPayload,
  files: FolderFiles = {},
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
  const ref = `refs/heads/${branch}`;
  return { repository, name, payload: given, ref, sha: '5ca1ab1e'.repeat(5), files };
}
