import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import type { RepositoryContext } from '../../github/api/repository.ts';
import { isJobToken } from '../../github/api/token-owner.ts';
import { getWorkflowState } from '../../github/api/workflows.ts';
import type { PagesLocation } from './destination.ts';

/**
 * Refuses, before anything is committed, a site that would never show the file: one that a workflow builds, with
 * a commit by the job's own token, which starts no workflow. `site-workflow` names the workflow to start instead,
 * and must exist.
 *
 * @see https://docs.github.com/actions/concepts/security/github_token#when-github_token-triggers-workflow-runs
 */
export async function checkSiteWorkflow(
  github: GitHubClient,
  { siteWorkflow, pagesBase }: Pick<PagesLocation, 'siteWorkflow' | 'pagesBase'>,
  site: RepositoryContext['site'],
): Promise<void> {
  const builtBy = site === null || typeof site === 'string' ? 'unknown' : site.builtBy;
  if (siteWorkflow !== undefined) {
    if (builtBy === 'branch') throw notBuiltByWorkflowError(siteWorkflow);
    return refuseUnusableWorkflow(github, siteWorkflow);
  }
  // What builds a site at another address, such as a service that GitHub notifies of the push, is not known.
  if (builtBy !== 'workflow' || pagesBase !== undefined) return;
  if (await isJobToken(github)) throw jobTokenError();
}

async function refuseUnusableWorkflow(github: GitHubClient, file: string): Promise<void> {
  const state = await getWorkflowState(github, file);
  if (state === 'active') return;
  const message =
    state === null
      ? `the repository has no workflow ${file} on its default branch`
      : `the workflow ${file} is switched off (${state})`;
  throw new DeliveryError('BAD_INPUT', message, {
    step: 'check',
    httpCode: state === null ? 404 : undefined,
    hint:
      state === null
        ? 'set `site-workflow:` to the name of a file in .github/workflows'
        : 'switch it on under Actions, or set `site-workflow:` to another one',
  });
}

function notBuiltByWorkflowError(file: string): DeliveryError {
  return new DeliveryError('BAD_INPUT', `the site is built from a branch, not by the workflow ${file}`, {
    step: 'check',
    hint: 'leave `site-workflow:` out',
  });
}

function jobTokenError(): DeliveryError {
  return new DeliveryError(
    'BAD_INPUT',
    "a workflow builds the site, and a commit by the job's own token starts no workflow",
    {
      step: 'check',
      hint: 'set `site-workflow:` to the file of that workflow and add `permissions: { actions: write }` to the job, set `token:` to that of an app or a user, or use channel: K2 or K3',
    },
  );
}
