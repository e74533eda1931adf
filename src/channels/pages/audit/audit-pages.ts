import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../../errors.ts';
import { getBranchHead } from '../../../github/api/branch.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import { type RepositoryContext, requireGitHub, settingsOf } from '../../../github/api/repository.ts';
import { nameFew, shorten } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { HISTORY_PAGES, LIST_PAGE } from '../../../protocol/limits.ts';
import { baseName } from '../../../rules/naming.ts';
import type { Text } from '../../../words.ts';
import type { AuditedDelivery } from '../../channel.ts';
import { isWithin } from '../claims.ts';
import { parseMessage } from '../commit-message.ts';
import { type DeployedReceipt, readDeployedReceipt } from '../deploy/deployed-receipt.ts';
import type { PagesOptions } from '../destination.ts';
import { type PagesDestination, resolveDestination, targetBranch } from '../destination.ts';
import type { HeldFiles } from '../held-files.ts';
import { isFolderPath } from '../target.ts';
import { listDeliveries } from './list-deliveries.ts';
import { type FoundDelivery, proveFiles, proveRemoval, sortPaths } from './prove-files.ts';

/** What an audit needs of the inputs. */
type AuditOptions = PagesOptions & { readonly entry: string };

type Site = RepositoryContext['site'];

/** K1: finds what this tool delivered to the branch of the site, or to a folder of it. */
export function createPagesAudit(inputs: AuditOptions, access: RepositoryContext, ports: Ports) {
  // A site that was switched off is no reason not to look: its addresses tell it.
  const options = { ...inputs, setup: true };
  return async (): Promise<readonly AuditedDelivery[]> => {
    const github = requireGitHub(access);
    const { site } = access;
    const settings = settingsOf(site);
    // What a site that GitHub Actions deploys says of itself, where this tool deployed it and no branch is named.
    const isDeployed =
      settings?.builtBy === 'workflow' && (inputs.branch ?? inputs.siteWorkflow) === undefined;
    const live = isDeployed ? await readDeployedReceipt(settings.base, ports) : 'none';
    const receipt = typeof live === 'string' ? null : live;
    if (receipt?.branch === null) return auditReceipt(receipt, { github, site, options, branch: null });
    const branch = receipt?.branch ?? targetBranch(options, site);
    return auditBranch({ github, site, options, branch }, branch);
  };
}

/** What an audit looks at: a file or a folder, without the slash at its end; nothing for all. */
const auditedPlace = (path = ''): string => path.replace(/^\.\/$|\/$/g, '');

/** A site, and how it is served: the branch that holds it, or `null` for one that has no more than its receipt. */
interface AuditedSite {
  readonly github: GitHubClient;
  readonly site: Site;
  readonly options: AuditOptions;
  readonly branch: string | null;
}

/** The whole site is one delivery, without a branch: its files, or those below `path`. */
function auditReceipt({ commit, files }: DeployedReceipt, site: AuditedSite): readonly AuditedDelivery[] {
  const wanted = auditedPlace(site.options.path);
  const paths = [...files.keys()].filter((path) => isWithin(path, wanted));
  if (paths.length === 0) return [];
  const claim = { place: files.has(wanted) || wanted === '' ? wanted : `${wanted}/`, sha: commit };
  const found = { claim, paths, state: 'there', changed: [], by: null, unknown: [OTHER_DEPLOYMENT] } as const;
  return [describeDelivery(found, site, files)];
}

const OTHER_DEPLOYMENT =
  'whether this is the newest delivery: of a site without a branch only the receipt that it carries tells what was deployed';

async function auditBranch(audited: AuditedSite, branch: string): Promise<readonly AuditedDelivery[]> {
  const { github, site, options } = audited;
  const head = await resultOf(() => getBranchHead(github, branch));
  if (hasFailed(head)) {
    if (site === null && head.code === 'NOT_FOUND') return [];
    throw head;
  }
  const place = auditedPlace(options.path);
  const { deliveries, entries, isComplete, last } = await listDeliveries(github, head, place);
  const whole = parseMessage(last?.message ?? '')?.delivered?.place;
  if (deliveries.length === 0 && whole !== undefined && isFolderPath(whole)) throw partError(place, whole);
  const unread = `what was delivered before the newest ${HISTORY_PAGES * LIST_PAGE} commits of ${branch}`;
  return deliveries.map((one) => {
    const described = describeDelivery(one, audited, entries);
    return isComplete ? described : { ...described, unknown: [...described.unknown, unread] };
  });
}

/** What came with a folder is audited with it alone. */
function partError(place: string, whole: string): DeliveryError {
  const message = `${place} came with the folder ${whole || './'} that was delivered as a whole`;
  const hint: Text = (w) => `set ${w.input('path', whole || './')} to audit all of it`;
  return new DeliveryError('BAD_INPUT', message, { hint });
}

/** @param files what the branch or the site has */
function describeDelivery(found: FoundDelivery, audited: AuditedSite, files: HeldFiles): AuditedDelivery {
  const { claim, state, changed, unknown } = found;
  const { branch, github, options, site } = audited;
  const name = claim.place || './';
  const isFolder = isFolderPath(claim.place);
  const where = branch === null ? 'the whole site' : `branch ${branch}`;
  const plan = {
    channel: 'K1',
    method: 'nothing is written',
    destination: `${where}, ${isFolder ? 'folder' : 'path'} ${name}`,
    name,
    claim: 'opens as it was delivered',
  } as const;
  const common = { plan, unknown, ...(changed.length > 0 && { changed: describeChange(found) }) };
  if (state === 'changed') return common;
  if (state === 'lost') return { ...common, failure: lostError(name, branch) };
  const isRemoved = state === 'removed';
  const paths = isRemoved ? found.paths : sortPaths(found.paths, claim.place, isFolder ? options.entry : '');
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

function lostError(name: string, branch: string | null): DeliveryError {
  const message = `the branch ${branch} does not have ${name} any more, and no commit removed it`;
  const hint = 'its history was rewritten, as by a forced push: deliver it again';
  return new DeliveryError('NOT_PROVEN', message, { hint });
}

/** The settings of the site keep everybody from it, or from this place. */
function unservedError(cause: DeliveryError): DeliveryError {
  if (cause.code === 'NOT_EXTERNAL') return cause;
  const message = `the site does not show it any more: ${cause.message}`;
  const hint = 'set its branch and folder back under Settings → Pages, or deliver it again';
  return new DeliveryError('NOT_PROVEN', message, { hint, cause });
}

/** Who changed what; the first line of a message is the word of others. */
function describeChange({ changed, by }: FoundDelivery): string {
  const [title = ''] = by?.message.split('\n') ?? [];
  const who = by === null ? 'on the branch' : `by commit ${by.sha.slice(0, 7)} (${shorten(title, 72)})`;
  return `changed or removed since it was delivered, ${who}: ${nameFew(changed)}`;
}
