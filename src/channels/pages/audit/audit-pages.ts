import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../../errors.ts';
import { getBranchHead } from '../../../github/api/branch.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import type { CommitSummary } from '../../../github/api/history.ts';
import { knownSettings, type RepositoryContext, requireGitHub } from '../../../github/api/repository.ts';
import { nameFew, shorten } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { HISTORY_PAGES, LIST_PAGE } from '../../../protocol/limits.ts';
import { baseName } from '../../../rules/naming.ts';
import type { Text } from '../../../words.ts';
import type { AuditedDelivery, AuditFindings } from '../../channel.ts';
import { isWithin } from '../claims.ts';
import { pageOfDelivered, parseMessage } from '../commit-message.ts';
import { type DeployedReceipt, readDeployedReceipt } from '../deploy/deployed-receipt.ts';
import type { PagesOptions } from '../destination.ts';
import { type PagesDestination, resolveDestination, targetBranch } from '../destination.ts';
import type { HeldFiles } from '../site-checks.ts';
import { isFolderPath } from '../target.ts';
import { listDeliveries } from './list-deliveries.ts';
import { type FoundDelivery, proveFiles, proveRemoval, sortPaths } from './prove-files.ts';

type Site = RepositoryContext['pagesSettings'];

/** K1: finds what this tool delivered to the branch of the site, or to a folder of it. */
export function createPagesAudit(inputs: PagesOptions, access: RepositoryContext, ports: Ports) {
  // A site that was switched off is no reason not to look: its addresses tell it.
  const options = { ...inputs, setup: true };
  return async (): Promise<AuditFindings> => {
    const github = requireGitHub(access);
    const { pagesSettings: site } = access;
    const settings = knownSettings(site);
    // What a site that GitHub Actions deploys says of itself, where this tool deployed it and no branch is named.
    const isDeployed =
      settings?.builtBy === 'workflow' && (inputs.branch ?? inputs.siteWorkflow) === undefined;
    const live = isDeployed ? await readDeployedReceipt(settings.base, ports) : 'none';
    const receipt = typeof live === 'string' ? null : live;
    if (receipt?.branch === null) return auditReceipt(receipt, { github, site, options, branch: null });
    const branch = receipt?.branch ?? targetBranch(options, site);
    const found = await auditBranch({ github, site, options, branch }, branch);
    return isDeployed && receipt === null ? { ...found, unknown: [...found.unknown, NO_RECEIPT] } : found;
  };
}

const NO_RECEIPT =
  'whether this tool deployed the site without a branch: what is live there has no receipt of this tool';

/** What an audit looks at: a file or a folder, without the slash at its end; nothing for all. */
const auditedPlace = (path = ''): string => path.replace(/^\.\/$|\/$/g, '');

/** A site, and how it is served: the branch that holds it, or `null` for one that has no more than its receipt. */
interface AuditedSite {
  readonly github: GitHubClient;
  readonly site: Site;
  readonly options: PagesOptions;
  readonly branch: string | null;
}

/** The whole site is one delivery, without a branch: its files, or those below `path`. */
function auditReceipt({ commit, files }: DeployedReceipt, site: AuditedSite): AuditFindings {
  const wanted = auditedPlace(site.options.path);
  const paths = [...files.keys()].filter((path) => isWithin(path, wanted));
  if (paths.length === 0) return { deliveries: [], unknown: [OTHER_DEPLOYMENT] };
  const claim = { place: files.has(wanted) || wanted === '' ? wanted : `${wanted}/`, sha: commit };
  const found = { claim, paths, state: 'there', changed: [], by: null, unknown: [] } as const;
  return { deliveries: [describeDelivery(found, site, files)], unknown: [OTHER_DEPLOYMENT] };
}

const OTHER_DEPLOYMENT =
  'whether this is the newest delivery: of a site without a branch only the receipt that it carries tells what was deployed';

async function auditBranch(audited: AuditedSite, branch: string): Promise<AuditFindings> {
  const { github, site, options } = audited;
  const place = auditedPlace(options.path);
  const whether = `whether anything was delivered to ${place || './'} of the branch ${branch}`;
  const head = await resultOf(() => getBranchHead(github, branch));
  if (hasFailed(head)) {
    if (site !== null || head.code !== 'NOT_FOUND') throw head;
    return { deliveries: [], unknown: [`${whether}: there is no such branch, and no Pages site`] };
  }
  const { deliveries, entries, isComplete, last } = await listDeliveries(github, head, place);
  const whole = parseMessage(last?.message ?? '')?.delivered?.place;
  if (deliveries.length === 0 && whole !== undefined && isFolderPath(whole)) throw partError(place, whole);
  const newest = `the newest ${HISTORY_PAGES * LIST_PAGE} commits ${place && `of ${place} `}on the branch ${branch}`;
  const forgotten = `${whether}: its history has no delivery, and may have been rewritten`;
  const unknown = !isComplete
    ? [`what was delivered before ${newest}: older ones were not read`]
    : deliveries.length === 0
      ? [forgotten]
      : [];
  return { deliveries: deliveries.map((one) => describeDelivery(one, audited, entries)), unknown };
}

/** What came with a folder is audited with it alone. */
function partError(place: string, whole: string): DeliveryError {
  const message = `${place} came with the folder ${whole || './'} that was delivered as a whole`;
  const hint: Text = (w) => `set ${w.input('path', whole || './')} to audit all of it`;
  return new DeliveryError('BAD_INPUT', message, { hint });
}

/** @param files what the branch or the site has */
function describeDelivery(found: FoundDelivery, audited: AuditedSite, files: HeldFiles): AuditedDelivery {
  const { claim, state, unknown } = found;
  const { branch, github, options, site } = audited;
  const name = claim.place || './';
  const isFolder = isFolderPath(claim.place);
  const where = branch === null ? 'the whole site' : `branch ${branch}`;
  const plan = {
    channel: 'K1',
    method: 'nothing is written',
    destination: `${where}, ${isFolder ? 'folder' : 'path'} ${name}`,
    name,
    verb: 'opens as it was delivered',
  } as const;
  if (state === 'lost') return { plan, unknown, failure: lostError(found, branch) };
  const isChanged = state === 'changed' || state === 'back';
  const common = { plan, unknown, ...(isChanged && { changed: describeChange(found) }) };
  if (isChanged && found.paths.length === 0) return common;
  const isRemoved = state === 'removed';
  const paths = isRemoved ? found.paths : sortPaths(found.paths, pageOfDelivered(claim.delivered ?? claim));
  const path = paths[0] ?? claim.place;
  const location = { ...options, branch: branch ?? undefined, path, name: baseName(path) };
  let destination: PagesDestination;
  try {
    destination = resolveDestination(github.repository, location, site);
  } catch (thrown) {
    return { ...common, failure: unservedError(toDeliveryError(thrown)) };
  }
  const proven = isRemoved
    ? proveRemoval(found, destination, files)
    : proveFiles({ ...found, paths }, destination, files, {
        evidence:
          branch === null
            ? `the receipt that the site carries, of a deployment from commit ${claim.sha}`
            : `commit ${claim.sha} delivered it, and the branch ${branch} still has it`,
        isSiteOff: site === null,
      });
  return { ...common, ...proven, unknown: [...unknown, ...proven.unknown] };
}

function lostError({ claim, changed, by }: FoundDelivery, branch: string | null): DeliveryError {
  const removal =
    by === null || by.sha === claim.sha ? 'no commit says who removed it' : `removed by ${nameCommit(by)}`;
  const message = `the branch ${branch} does not have ${nameFew(changed.map((path) => path || './'))} any more (${removal})`;
  const hint = 'deliver it again; if it was removed on purpose, withdraw it after that';
  return new DeliveryError('NOT_PROVEN', message, { hint });
}

/** The settings of the site keep everybody from it, or from this place. */
function unservedError(cause: DeliveryError): DeliveryError {
  if (cause.code === 'NOT_EXTERNAL') return cause;
  const message = `the site does not show it any more: ${cause.message}`;
  const hint = 'set its branch and folder back under Settings → Pages, or deliver it again';
  return new DeliveryError('NOT_PROVEN', message, { hint, cause });
}

const describeChange = ({ state, changed, by }: FoundDelivery) => ({
  text: `${state === 'back' ? 'put back since this tool removed it' : 'changed since it was delivered'}, ${by === null ? 'on the branch' : `by ${nameCommit(by)}`}: ${nameFew(changed)}`,
  count: changed.length,
});

/** The first line of its message is the word of others. */
const nameCommit = ({ sha, message }: CommitSummary): string =>
  `commit ${sha.slice(0, 7)} (${shorten(message.split('\n')[0] ?? '', 72)})`;
