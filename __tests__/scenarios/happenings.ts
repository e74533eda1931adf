import type { PullRequest } from '../world/issues.ts';
import type { Repository } from '../world/repository.ts';
import type { Occasion, Payload } from '../world/workflow/occasion.ts';
import type { WorkflowRun } from '../world/workflow/player.ts';

type Files = Readonly<Record<string, string>>;

/** A pull request, with what GitHub tells workflows of its life. */
export interface PullRequestLife {
  readonly number: number;
  readonly opened: Occasion;
  /** A further commit. */
  push(files: Files): Promise<Occasion>;
  /** What both events about pull requests tell of its end. */
  close(): Promise<Record<'pull_request' | 'pull_request_target', Occasion>>;
}

/** Opens a pull request; its head is a branch, or `human:branch` of a fork, with these files. */
export async function openPullRequest(
  repository: Repository,
  head: string,
  files: Files,
): Promise<PullRequestLife> {
  const { issues } = repository;
  const number = await issues.openPullRequest('Another page', head);
  let current = files;
  /** Its own code, merged into the base: the head itself here. */
  const about = (action: string, pull: PullRequest): Occasion => ({
    ...happening(repository, 'pull_request', { action, number, pull_request: pull }),
    ref: `refs/pull/${number}/merge`,
    sha: pull.head.sha,
    files: current,
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
        pull_request_target: happening(repository, 'pull_request_target', payload),
      };
    },
  };
}

/** What follows the run of a workflow. A run of a fork names no pull request. */
export function completed({ id, name, conclusion, occasion }: WorkflowRun): Occasion {
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
  return happening(occasion.repository, 'workflow_run', { action: 'completed', workflow_run });
}

/** An event of the default branch. */
export function happening(repository: Repository, name: string, payload: Payload & object): Occasion {
  const { owner, name: repo, fullName, branch } = repository;
  const told = {
    // As the emulator counts.
    ...{ id: 1, name: repo, full_name: fullName, private: false, fork: false, default_branch: branch },
    owner: { login: owner },
  };
  return {
    repository,
    name,
    payload: { ...payload, ...{ repository: told, sender: { login: owner } } },
    ref: `refs/heads/${branch}`,
    sha: '5ca1ab1e'.repeat(5),
  };
}
