import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../../errors.ts';
import { getBranchHead } from '../../../github/api/branch.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import type { RepositoryContext } from '../../../github/api/repository.ts';
import { nameFew, shorten } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { AUDIT, LIST_PAGE } from '../../../protocol/limits.ts';
import { MARKDOWN } from '../../../rules/jekyll.ts';
import { baseName } from '../../../rules/naming.ts';
import type { AuditedDelivery, ChannelPlan } from '../../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../../require-github.ts';
import type { BranchTree } from '../branch-reader.ts';
import { isWithin } from '../claims.ts';
import { type DeployedReceipt, readDeployedReceipt } from '../deploy/deployed-receipt.ts';
import { type PagesDestination, resolveDestination, targetBranch } from '../destination.ts';
import { rendersMarkdown } from '../jekyll.ts';
import { listAddresses, ON_BRANCH } from '../placement.ts';
import { isFolderPath, type PagesOptions } from '../target.ts';
import { type ListedDelivery, listDeliveries } from './list-deliveries.ts';
import { NOT_SERVED, NOT_SHOWN, proveFiles, SITE_IS_OFF, STILL_SERVED, sortPaths } from './prove-files.ts';

/** What an audit needs of the inputs. */
type AuditOptions = PagesOptions & { readonly entry: string };

type Site = RepositoryContext['site'];

/** K1: finds what this tool delivered to the branch of the site, or to a folder of it. */
export function createPagesAudit(inputs: AuditOptions, access: RepositoryAccess, ports: Ports) {
  // A site that was switched off is no reason not to look: its addresses tell it.
  const options = { ...inputs, setup: true };
  return async (): Promise<readonly AuditedDelivery[]> => {
    const github = requireGitHub(access, 'K1');
    const { site } = access.repository;
    const receipt = await readSiteReceipt(site, options, ports);
    if (receipt?.branch === null) return auditReceipt(receipt, github, site, options);
    const branch = receipt?.branch ?? targetBranch(options, site);
    // Without a site it is not known which branch it was built from.
    const isUnsure = receipt === null && site === null && options.branch === undefined;
    for (const one of isUnsure ? [branch, 'gh-pages'] : [branch]) {
      const found = await auditBranch({ github, site, options, branch: one });
      if (found.length > 0) return found;
    }
    return [];
  };
}

/**
 * What a site that GitHub Actions deploys says of itself, where this tool deployed it and no branch is named.
 *
 * @throws {DeliveryError} where the site gives no clear answer
 */
async function readSiteReceipt(
  site: Site,
  { branch, siteWorkflow }: AuditOptions,
  ports: Ports,
): Promise<DeployedReceipt | null> {
  if (site === null || typeof site === 'string' || site.builtBy !== 'workflow') return null;
  if (branch !== undefined || siteWorkflow !== undefined) return null;
  const live = await readDeployedReceipt(site.base, ports);
  return typeof live === 'string' ? null : live;
}

/** What an audit looks at: a file or a folder, without the slash at its end; nothing for all. */
const auditedPlace = (path = ''): string => path.replace(/^\.\/$|\/$/g, '');

const planAudit = (destination: string, name: string): ChannelPlan => ({
  channel: 'K1',
  method: 'nothing is written',
  destination,
  name,
  claim: 'opens as it was delivered',
});

/** The whole site is one delivery, without a branch: its files, or those below `path`. */
function auditReceipt(
  { commit, files }: DeployedReceipt,
  { repository }: GitHubClient,
  site: Site,
  options: AuditOptions,
): readonly AuditedDelivery[] {
  const place = auditedPlace(options.path);
  const folder = files.has(place) || place === '' ? place : `${place}/`;
  const own = [...files.keys()].filter((path) => isWithin(path, place));
  const paths = sortPaths(own, folder, options.entry);
  const [page] = paths;
  if (page === undefined) return [];
  const name = folder || './';
  const proven = proveFiles({
    paths,
    files,
    folder: files.has(place) ? '' : folder,
    destination: resolveDestination(repository, { ...options, path: page, name: baseName(page) }, site),
    evidence: `the receipt that the site carries, of a deployment from commit ${commit}`,
    refusals: NOT_SERVED,
    isRendered: false,
  });
  const plan = planAudit(`the whole site, ${name}`, name);
  return [{ plan, ...proven, unknown: [...proven.unknown, OTHER_DEPLOYMENT] }];
}

const OTHER_DEPLOYMENT =
  'whether this is the newest delivery: of a site without a branch only the receipt that it carries tells what was deployed';

/** A branch, and how it is served. */
interface AuditedBranch {
  readonly github: GitHubClient;
  readonly site: Site;
  readonly options: AuditOptions;
  readonly branch: string;
}

type AuditedTree = AuditedBranch & Pick<BranchTree, 'entries'>;

async function auditBranch(given: AuditedBranch): Promise<readonly AuditedDelivery[]> {
  const { github, site, options, branch } = given;
  const head = await resultOf(() => getBranchHead(github, branch));
  if (hasFailed(head)) {
    if (site === null && head.code === 'NOT_FOUND') return [];
    throw head;
  }
  const { deliveries, entries, isComplete } = await listDeliveries(github, head, auditedPlace(options.path));
  const unread = `what was delivered before the newest ${AUDIT.pages * LIST_PAGE} commits of ${branch}`;
  return deliveries.map((one) => {
    const described = describeDelivery(one, { ...given, entries });
    return isComplete ? described : { ...described, unknown: [...described.unknown, unread] };
  });
}

function describeDelivery(listed: ListedDelivery, audited: AuditedTree): AuditedDelivery {
  const { claim, state, changed, unknown } = listed;
  const { branch, entries, github, options, site } = audited;
  const name = claim.place || './';
  const common = {
    plan: planAudit(`branch ${branch}, ${name.endsWith('/') ? 'folder' : 'path'} ${name}`, name),
    unknown,
    ...(changed.length > 0 && { changed: describeChange(listed) }),
  };
  if (state === 'changed') return common;
  if (state === 'lost') return { ...common, failure: lostError(name, branch) };
  const isFile = !isFolderPath(claim.place);
  const isRemoved = state === 'removed';
  const paths = isRemoved ? listed.paths : sortPaths(listed.paths, claim.place, isFile ? '' : options.entry);
  const [page = ''] = paths;
  const path = page || claim.place;
  let destination: PagesDestination;
  try {
    destination = resolveDestination(
      github.repository,
      { ...options, branch, path, name: baseName(path) },
      site,
    );
  } catch (thrown) {
    return { ...common, failure: unservedError(toDeliveryError(thrown)) };
  }
  const proven = isRemoved
    ? proveRemoval(listed, destination, entries)
    : proveFiles({
        paths,
        files: entries,
        folder: isFile ? null : claim.place,
        destination,
        evidence: `commit ${claim.sha} delivered it, and the branch ${branch} still has it`,
        commitSha: claim.sha,
        refusals: site === null ? SITE_IS_OFF : NOT_SHOWN,
        isRendered: MARKDOWN.test(page) && rendersMarkdown(destination, entries),
      });
  return { ...common, ...proven, unknown: [...unknown, ...proven.unknown] };
}

/** Of what was removed some addresses, pages first, which must answer 404. */
function proveRemoval(
  { claim, paths, by }: ListedDelivery,
  destination: PagesDestination,
  entries: BranchTree['entries'],
): Required<Pick<AuditedDelivery, 'place' | 'unknown'>> {
  const left = paths.length - AUDIT.gone;
  const unasked = `whether ${left} more of its files are gone: ${AUDIT.gone} addresses were asked for`;
  const place = () => {
    const isRendered = rendersMarkdown(destination, entries);
    const [first, ...parts] = listAddresses(paths, destination, isRendered).slice(0, AUDIT.gone);
    const placement = {
      ...ON_BRANCH,
      evidence: `commit ${by?.sha ?? claim.sha} removed it`,
      url: first?.url ?? destination.pageUrl,
      parts,
      refusals: STILL_SERVED,
      ...{ written: false, notes: [], unknown: [] },
    };
    return { file: 'gone' as const, placement };
  };
  return { place, unknown: left > 0 ? [unasked] : [] };
}

/** Who changed what; the first line of a message is the word of others. */
function describeChange({ changed, by }: ListedDelivery): string {
  const [title = ''] = by?.message.split('\n') ?? [];
  const who = by === null ? 'on the branch' : `by commit ${by.sha.slice(0, 7)} (${shorten(title, TITLE)})`;
  return `changed or removed since it was delivered, ${who}: ${nameFew(changed)}`;
}

/** Characters of the first line of a commit message. */
const TITLE = 72;

const lostError = (name: string, branch: string): DeliveryError =>
  new DeliveryError(
    'NOT_PROVEN',
    `the branch ${branch} does not have ${name} any more, and no commit removed it`,
    {
      hint: 'its history was rewritten, as by a forced push: deliver it again',
    },
  );

/** The settings of the site keep everybody from it, or from this place. */
const unservedError = (cause: DeliveryError): DeliveryError =>
  cause.code === 'NOT_EXTERNAL'
    ? cause
    : new DeliveryError('NOT_PROVEN', `the site does not show it any more: ${cause.message}`, {
        hint: 'set its branch and folder back under Settings → Pages, or deliver it again',
        cause,
      });
