import { DeliveryError, hasFailed, resultOf } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { knownSettings, type PagesSettings, type RepositoryContext } from '../../../github/api/repository.ts';
import { isJobToken } from '../../../github/api/token-owner.ts';
import type { Ports } from '../../../ports.ts';
import type { PagesOptions } from '../destination.ts';
import type { DeployTarget } from './deploy.ts';
import { readDeployRecord, refuseForeignSite } from './deploy-record.ts';
import { getIdToken, otherWays } from './job-runtime.ts';

/**
 * A site whose source is GitHub Actions, and for which no workflow is named, is deployed by this action itself, where
 * it runs with the job's own token: a commit by it starts no workflow. What starts one is left to that.
 */
export async function findDeployedSite(
  github: GitHubClient,
  known: RepositoryContext['pagesSettings'],
  { siteWorkflow, pagesBase }: Pick<PagesOptions, 'siteWorkflow' | 'pagesBase'>,
): Promise<PagesSettings | null> {
  const site = knownSettings(known);
  if (site?.builtBy !== 'workflow') return null;
  // What builds a site at another address, such as a service that GitHub notifies of the push, is not known.
  if (siteWorkflow !== undefined || pagesBase !== undefined) return null;
  if (!(await isJobToken(github))) return null;
  // The source that the settings name belongs to the time before: the whole branch is deployed.
  return { ...site, builtBy: 'deployment', branch: null, folder: '' };
}

/** What deploys a site, once nothing speaks against it. @throws {DeliveryError} with what the job lacks */
export async function openDeployTarget(
  site: PagesSettings,
  github: GitHubClient,
  options: PagesOptions,
  ports: Ports,
): Promise<DeployTarget> {
  const { branch, deliverer: from, overwrite, runtime, timeout } = options;
  if (runtime == null) {
    const what = 'what that needs exists only in an action of a job on github.com';
    throw notDeployableError(`this site, and ${what}`, 'run this as an action (`uses:`)');
  }
  if (runtime.resultsUrl.protocol !== 'https:') {
    const what = `this runner keeps artifacts at ${runtime.resultsUrl.host} without https (\`ACTIONS_RESULTS_URL\`), where no token is sent`;
    throw notDeployableError(`this site, and ${what}`, 'run the job on a runner of github.com');
  }
  refusePartialSite(options);
  const wanted = `${github.repository.owner}/${github.repository.repo}`;
  // GitHub lets a job deploy the site of its own repository alone.
  if (runtime.repository.toLowerCase() !== wanted.toLowerCase()) {
    const what = `the site of ${wanted}, and a job of ${runtime.repository} can't`;
    throw notDeployableError(what, `run it in ${wanted}`);
  }
  await getIdToken(runtime, ports);
  const read = await resultOf(() => readDeployRecord(site.base, ports));
  ports.signal.throwIfAborted();
  if (hasFailed(read) && !overwrite) throw read;
  const live = hasFailed(read) ? null : read;
  if (live !== null && !overwrite) refuseForeignSite(live, site.base, { branch, deliverer: from });
  return { github, runtime, root: site.base, timeout, deliverer: from, live };
}

const notDeployableError = (what: string, change: string): DeliveryError =>
  new DeliveryError('BAD_INPUT', `GitHub Actions deploys ${what}`, {
    hint: (w) => `${change}, or ${otherWays(w)}`,
  });

/** A deployment replaces the whole site, so what is not the whole site needs a branch that holds the rest of it. */
function refusePartialSite({ branch, path, confine, isRemoval = false }: PagesOptions): void {
  if (branch !== undefined) return;
  if (path === './' && confine === undefined && !isRemoval) return;
  const message = isRemoval
    ? 'GitHub Actions deploys this site, and nothing can be removed from it alone'
    : 'GitHub Actions deploys this site, and each deployment replaces all of it';
  throw new DeliveryError('BAD_INPUT', message, {
    hint: (w) =>
      isRemoval
        ? `set ${w.input('branch')} to the branch that holds the site; without one deliver another site, or switch Pages off under Settings → Pages`
        : `set ${w.input('branch', 'gh-pages')} (with ${w.input('setup', 'true')} it is created) to keep everything on a branch that is deployed as a whole, or ${w.input('path', './')} if this is the whole site; or ${otherWays(w)}`,
  });
}
