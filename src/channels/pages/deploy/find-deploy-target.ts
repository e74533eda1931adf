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
 * Returns the site if this action deploys it itself: the source is GitHub Actions, no workflow is named, and the
 * job's own token is used. GitHub starts no workflow for that token's commits.
 */
export async function findDeployedSite(
  github: GitHubClient,
  known: RepositoryContext['pagesSettings'],
  { siteWorkflow, pagesBase }: Pick<PagesOptions, 'siteWorkflow' | 'pagesBase'>,
): Promise<PagesSettings | null> {
  const site = knownSettings(known);
  if (site?.builtBy !== 'workflow') return null;
  // Another service may build a site that has its own URL.
  if (siteWorkflow !== undefined || pagesBase !== undefined) return null;
  if (!(await isJobToken(github))) return null;
  // The settings still name an old source branch, but this deploys the whole branch.
  return { ...site, builtBy: 'deployment', branch: null, folder: '' };
}

/** Opens the deployment of a site. @throws {DeliveryError} that names what the job lacks */
export async function openDeployTarget(
  site: PagesSettings,
  github: GitHubClient,
  options: PagesOptions,
  ports: Ports,
): Promise<DeployTarget> {
  const { branch, deliverer, overwrite, runtime, timeout } = options;
  if (runtime == null) {
    const what = 'only an action in a job on github.com can do that';
    throw notDeployableError(`this site, and ${what}`, 'run this as an action (`uses:`)');
  }
  if (runtime.resultsUrl.protocol !== 'https:') {
    const what = `this runner stores artifacts at ${runtime.resultsUrl.host} without https (\`ACTIONS_RESULTS_URL\`), so no token is sent there`;
    throw notDeployableError(`this site, and ${what}`, 'run the job on a runner of github.com');
  }
  refusePartialSite(options);
  const wanted = `${github.repository.owner}/${github.repository.repo}`;
  // GitHub lets a job deploy only its own repository's site.
  if (runtime.repository.toLowerCase() !== wanted.toLowerCase()) {
    const what = `the site of ${wanted}, and a job of ${runtime.repository} can't`;
    throw notDeployableError(what, `run it in ${wanted}`);
  }
  await getIdToken(runtime, ports);
  const read = await resultOf(() => readDeployRecord(site.base, ports));
  ports.signal.throwIfAborted();
  if (hasFailed(read) && !overwrite) throw read;
  const live = hasFailed(read) ? null : read;
  if (live !== null && !overwrite) refuseForeignSite(live, site.base, { branch, deliverer });
  return { github, runtime, root: site.base, timeout, deliverer, live };
}

const notDeployableError = (what: string, change: string): DeliveryError =>
  new DeliveryError('BAD_INPUT', `GitHub Actions deploys ${what}`, {
    hint: (w) => `${change}, or ${otherWays(w)}`,
  });

/** A deployment replaces the whole site, so a part of a site needs a branch that holds the rest. */
function refusePartialSite({ branch, path, confine, isRemoval = false }: PagesOptions): void {
  if (branch !== undefined) return;
  if (path === './' && confine === undefined && !isRemoval) return;
  const message = isRemoval
    ? "GitHub Actions deploys this site as a whole, so a part can't be removed"
    : 'GitHub Actions deploys this site, and each deployment replaces all of it';
  throw new DeliveryError('BAD_INPUT', message, {
    hint: (w) =>
      isRemoval
        ? `set ${w.input('branch')} to the branch that holds the site, or switch Pages off under Settings → Pages`
        : `set ${w.input('branch', 'gh-pages')} and ${w.input('setup', 'true')} to keep the whole site on a branch, or ${w.input('path', './')} if this is the whole site`,
  });
}
