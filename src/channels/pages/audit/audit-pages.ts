import { DeliveryError, hasFailed, resultOf } from '../../../errors.ts';
import { getBranchHead } from '../../../github/api/branch.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import type { RepositoryContext } from '../../../github/api/repository.ts';
import { nameFew, shorten } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { AUDIT } from '../../../protocol/limits.ts';
import { MARKDOWN } from '../../../rules/jekyll.ts';
import { baseName } from '../../../rules/naming.ts';
import type { AuditedDelivery, ChannelPlan } from '../../channel.ts';
import { type RepositoryAccess, requireGitHub } from '../../require-github.ts';
import { type BranchTree, createBranchReader } from '../branch-reader.ts';
import { type PagesDestination, resolveDestination, targetBranch } from '../destination.ts';
import { listAddresses } from '../placement.ts';
import type { PagesOptions } from '../target.ts';
import { auditReceipt, readSiteReceipt } from './audit-receipt.ts';
import { type ListedDelivery, listDeliveries } from './list-deliveries.ts';
import {
  NOT_SHOWN,
  ON_SITE,
  proveFiles,
  rendersMarkdown,
  SITE_IS_OFF,
  STILL_SERVED,
  sortPaths,
} from './prove-files.ts';
import { auditedPlace } from './read-claims.ts';

/** What an audit needs of the inputs. */
type AuditOptions = PagesOptions & { readonly entry: string };

/** K1: finds what this tool delivered to the branch of the site, or to a folder of it. @see design 8 */
export function createPagesAudit(inputs: AuditOptions, access: RepositoryAccess, ports: Ports) {
  // A site that was switched off is no reason not to look: its addresses tell it.
  const options = { ...inputs, setup: true };
  return async (): Promise<readonly AuditedDelivery[]> => {
    const github = requireGitHub(access, 'K1');
    const { site } = access.repository;
    const receipt = await readSiteReceipt(site, options, ports);
    if (receipt?.branch === null) return auditReceipt(receipt, github.repository, site, options);
    const branches = receipt === null ? listBranches(options, site) : [receipt.branch];
    for (const branch of branches) {
      const found = await auditBranch({ github, site, options, branch });
      if (found.length > 0) return found;
    }
    return [];
  };
}

/** Without a site it is not known which branch it was built from. */
const listBranches = (options: AuditOptions, site: RepositoryContext['site']): readonly string[] => {
  const branch = targetBranch(options, site);
  return site === null && options.branch === undefined ? [branch, 'gh-pages'] : [branch];
};

/** A branch, and how it is served. */
interface AuditedBranch {
  readonly github: GitHubClient;
  readonly site: RepositoryContext['site'];
  readonly options: AuditOptions;
  readonly branch: string;
}

async function auditBranch(given: AuditedBranch): Promise<readonly AuditedDelivery[]> {
  const { github, site, options, branch } = given;
  const head = await resultOf(() => getBranchHead(github, branch));
  if (hasFailed(head)) {
    if (site === null && head.code === 'NOT_FOUND') return [];
    throw head;
  }
  const reader = createBranchReader();
  const tree: BranchTree = { head, entries: await reader.getEntries(github, head) };
  const place = auditedPlace(options.path);
  const { deliveries, isComplete } = await listDeliveries({ github, reader }, tree, place);
  const unread = `what was delivered before the newest ${AUDIT.pages * AUDIT.commits} commits of ${branch}`;
  const audited = { ...given, tree };
  return Promise.all(
    deliveries.map(async (one) => {
      const described = await describeDelivery(one, audited);
      return isComplete ? described : { ...described, unknown: [...described.unknown, unread] };
    }),
  );
}

type AuditedTree = AuditedBranch & { readonly tree: BranchTree };

async function describeDelivery(listed: ListedDelivery, audited: AuditedTree): Promise<AuditedDelivery> {
  const { claim, state, changed, unknown } = listed;
  const { branch, options, site, tree } = audited;
  const name = claim.place || './';
  const plan: ChannelPlan = {
    channel: 'K1',
    method: 'nothing is written',
    destination: `branch ${branch}, ${name.endsWith('/') ? 'folder' : 'path'} ${name}`,
    name,
    claim: 'opens as it was delivered',
  };
  const common = { plan, unknown, ...(changed.length > 0 && { changed: describeChange(listed) }) };
  if (state === 'changed') return common;
  if (state === 'lost') return { ...common, failure: lostError(name, branch) };
  const isFile = claim.objects !== undefined;
  const entry = isFile ? '' : options.entry;
  const paths = state === 'removed' ? listed.paths : sortPaths(listed.paths, claim.place, entry);
  const found = await resultOf(async () => findDestination(paths[0] ?? claim.place, audited));
  if (hasFailed(found)) return { ...common, failure: unservedError(found) };
  const destination = found as PagesDestination;
  if (state === 'removed') return { ...common, ...proveRemoval(listed, destination, audited) };
  const proven = proveFiles({
    paths,
    files: tree.entries,
    folder: isFile ? null : claim.place,
    destination,
    evidence: `commit ${claim.sha} delivered it, and the branch ${branch} still has it`,
    commitSha: claim.sha,
    refusals: site === null ? SITE_IS_OFF : NOT_SHOWN,
    isRendered: rendersMarkdown(paths[0] ?? '', destination, tree.entries),
  });
  return { ...common, ...proven, unknown: [...unknown, ...proven.unknown] };
}

const findDestination = (path: string, { github, options, site, branch }: AuditedTree): PagesDestination =>
  resolveDestination(github.repository, { ...options, branch, path, name: baseName(path) }, site);

/** Of what was removed some addresses, pages first, which must answer 404. */
function proveRemoval(
  { claim, paths, by, unknown }: ListedDelivery,
  destination: PagesDestination,
  audited: AuditedTree,
): Pick<AuditedDelivery, 'place' | 'unknown'> {
  const left = paths.length - AUDIT.gone;
  const unasked = `whether ${left} more of its files are gone: ${AUDIT.gone} addresses were asked for`;
  const place = () => {
    const served = paths.filter((path) => path.startsWith(destination.siteRoot));
    const [first, ...parts] = listAddresses({ files: served, sites: [claim.place] }, destination)
      .map((part) =>
        rendersMarkdown(part.path, destination, audited.tree.entries)
          ? { ...part, url: new URL(part.url.href.replace(MARKDOWN, '.html')) }
          : part,
      )
      .slice(0, AUDIT.gone);
    const evidence = `commit ${by?.sha ?? claim.sha} removed it`;
    const url = first?.url ?? destination.pageUrl;
    return {
      file: 'gone' as const,
      placement: { ...ON_SITE, evidence, url, parts, refusals: STILL_SERVED, unknown: [] },
    };
  };
  return { place, unknown: left > 0 ? [...unknown, unasked] : unknown };
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
