import { DeliveryError, hasFailed, resultOf } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import {
  knownSettings,
  type PagesSettings,
  type RepositoryContext,
  requireGitHub,
} from '../../../github/api/repository.ts';
import { isJobToken } from '../../../github/api/token-owner.ts';
import type { Ports } from '../../../ports.ts';
import { createBranchHistory } from '../branch-reader.ts';
import { type PagesOptions, targetBranch } from '../destination.ts';
import type { DeployTarget } from './deploy.ts';
import { hasRecord, mayReplaceSite, NO_SITE, readDeployRecord, refuseForeignSite } from './deploy-record.ts';
import { getIdToken, otherWays } from './job-runtime.ts';
import { ReceiptHistory } from './receipt-history.ts';

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
  const { deliverer, runtime, timeout } = options;
  if (runtime == null) {
    const what = 'only an action in a job on github.com can do that';
    throw notDeployableError(`this site, and ${what}`, 'run this as an action (`uses:`)');
  }
  if (runtime.resultsUrl.protocol !== 'https:') {
    const what = `this runner stores artifacts at ${runtime.resultsUrl.host} without https (\`ACTIONS_RESULTS_URL\`), so no token is sent there`;
    throw notDeployableError(`this site, and ${what}`, 'run the job on a runner of github.com');
  }
  const wanted = `${github.repository.owner}/${github.repository.repo}`;
  // GitHub lets a job deploy only its own repository's site.
  if (runtime.repository.toLowerCase() !== wanted.toLowerCase()) {
    const what = `the site of ${wanted}, and a job of ${runtime.repository} can't`;
    throw notDeployableError(what, `run it in ${wanted}`);
  }
  await getIdToken(runtime, ports);
  const read = await resultOf(() => readDeployRecord(site.base, ports));
  ports.signal.throwIfAborted();
  if (hasFailed(read) && !mayReplaceSite(options)) throw read.withStep('check');
  const live = hasFailed(read) ? null : read;
  if (live !== null) refuseForeignSite(live, site.base, options);
  return { github, runtime, root: site.base, timeout, deliverer, live };
}

/**
 * Finds the history of a site: the live site's receipt, or the branch that a deployment or the settings name.
 * @returns `branch` is `null` for a site without a branch
 */
export async function findSiteHistory(options: PagesOptions, access: RepositoryContext, ports: Ports) {
  const github = requireGitHub(access);
  const site = access.pagesSettings;
  const settings = knownSettings(site);
  // Only a receipt tells who deployed a site without a named branch.
  const isDeployed =
    settings?.builtBy === 'workflow' && (options.branch ?? options.siteWorkflow) === undefined;
  const live = isDeployed ? await readDeployRecord(settings.base, ports) : NO_SITE;
  const isLost = isDeployed && !hasRecord(live);
  if (hasRecord(live) && live.branch === null && settings !== null) {
    const history = new ReceiptHistory(settings.base.hostname, live);
    return { github, history, branch: null, site: { ...settings, branch: null, folder: '' }, isLost };
  }
  const branch = live.branch ?? targetBranch(options, site);
  return { github, history: createBranchHistory(github, branch), branch, site, isLost };
}

export type FoundHistory = Awaited<ReturnType<typeof findSiteHistory>>;

const notDeployableError = (what: string, change: string): DeliveryError =>
  new DeliveryError('BAD_INPUT', `GitHub Actions deploys ${what}`, {
    hint: (w) => `${change}, or ${otherWays(w)}`,
  });
