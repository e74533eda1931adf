import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import type { CommitSummary } from '../../../github/api/history.ts';
import { knownSettings, type RepositoryContext, requireGitHub } from '../../../github/api/repository.ts';
import { nameFew, shorten } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { HISTORY_PAGES, LIST_PAGE } from '../../../protocol/limits.ts';
import { baseName, isFolderPath } from '../../../rules/naming.ts';
import type { Text } from '../../../words.ts';
import type { AuditedDelivery, AuditFindings } from '../../channel.ts';
import { createBranchHistory } from '../branch-reader.ts';
import { pageOfDelivered, parseMessage } from '../commit-message.ts';
import { isWithin } from '../delivery-records.ts';
import { type DeployRecord, readDeployRecord } from '../deploy/deploy-record.ts';
import type { PagesOptions } from '../destination.ts';
import { type PagesDestination, resolveDestination, targetBranch } from '../destination.ts';
import type { BlobsByPath } from '../site-checks.ts';
import { listDeliveries } from './list-deliveries.ts';
import { type FoundDelivery, proveFiles, proveRemoval, sortPaths } from './prove-files.ts';

type Site = RepositoryContext['pagesSettings'];

/** GitHub Pages: finds what this tool delivered to the site's branch, or to one folder of it. */
export function createPagesAudit(inputs: PagesOptions, access: RepositoryContext, ports: Ports) {
  return async (): Promise<AuditFindings> => {
    const { deployRecord, isDeployed, ...site } = await findAuditedSite(inputs, access, ports);
    const { branch } = site;
    if (branch === null) return auditDeployRecord(deployRecord, site);
    const findings = await auditBranch(site, branch);
    return isDeployed && deployRecord === null
      ? { ...findings, unknown: [...findings.unknown, NO_DEPLOY_RECORD] }
      : findings;
  };
}

/** Finds the site, and the branch that holds it; a site without a branch has a deploy record. */
export async function findAuditedSite(inputs: PagesOptions, access: RepositoryContext, ports: Ports) {
  const github = requireGitHub(access);
  const { pagesSettings: site } = access;
  // A site that was switched off is audited too: its URLs then fail.
  const options = { ...inputs, setup: true };
  const settings = knownSettings(site);
  // Only a deploy record tells who deployed a site without a named branch.
  const isDeployed = settings?.builtBy === 'workflow' && (inputs.branch ?? inputs.siteWorkflow) === undefined;
  const live = isDeployed ? await readDeployRecord(settings.base, ports) : 'none';
  const deployRecord = typeof live === 'string' ? null : live;
  const branch = deployRecord === null ? targetBranch(options, site) : deployRecord.branch;
  return { github, site, options, branch, deployRecord, isDeployed };
}

const NO_DEPLOY_RECORD =
  'whether this tool deployed the site without a branch: the live site carries no deploy record';

/** Strips `./` and the slash at the end; empty means everything. */
export const auditedPath = (path = ''): string => path.replace(/^\.\/$|\/$/g, '');

/** A site, and the branch that holds it; `null` if only its deploy record lists its files. */
export interface AuditedSite {
  readonly github: GitHubClient;
  readonly site: Site;
  readonly options: PagesOptions;
  readonly branch: string | null;
}

/** Without a branch, the whole site is one delivery: its files, or those below `path`. */
function auditDeployRecord(deployRecord: DeployRecord | null, site: AuditedSite): AuditFindings {
  const found = deployRecord && describeDeployed(deployRecord, auditedPath(site.options.path));
  const deliveries = found?.paths.length
    ? [describeDelivery(found, site, deployRecord?.files ?? new Map())]
    : [];
  return { deliveries, unknown: [OTHER_DEPLOYMENT] };
}

export function describeDeployed({ commit, files }: DeployRecord, wanted: string) {
  const paths = [...files.keys()].filter((path) => isWithin(path, wanted));
  const record = {
    itemPath: files.has(wanted) || wanted === '' ? wanted : `${wanted}/`,
    sha: commit,
    message: '',
  };
  return { record, paths, state: 'there', changed: [], by: null, unknown: [] } as const;
}

const OTHER_DEPLOYMENT =
  'whether this is the newest delivery: without a branch, only the deploy record on the site lists what was deployed';

async function auditBranch(audited: AuditedSite, branch: string): Promise<AuditFindings> {
  const { github, site, options } = audited;
  const itemPath = auditedPath(options.path);
  const whether = `whether anything was delivered to ${itemPath || './'} of the branch ${branch}`;
  const history = createBranchHistory(github, branch);
  const head = await resultOf(() => history.readHead());
  if (hasFailed(head)) {
    if (site !== null || head.code !== 'NOT_FOUND') throw head;
    return { deliveries: [], unknown: [`${whether}: there is no such branch, and no Pages site`] };
  }
  const { deliveries, entries, isComplete, last } = await listDeliveries(history, head, itemPath);
  const whole = parseMessage(last?.message ?? '')?.delivered?.itemPath;
  if (deliveries.length === 0 && whole !== undefined && isFolderPath(whole)) throw partError(itemPath, whole);
  const newest = `the newest ${HISTORY_PAGES * LIST_PAGE} commits ${itemPath && `of ${itemPath} `}on the branch ${branch}`;
  const forgotten = `${whether}: its history shows no delivery, and may have been rewritten`;
  const unknown = !isComplete
    ? [`deliveries before ${newest}: the audit didn't read older commits`]
    : deliveries.length === 0
      ? [forgotten]
      : [];
  return { deliveries: deliveries.map((delivery) => describeDelivery(delivery, audited, entries)), unknown };
}

function partError(itemPath: string, whole: string): DeliveryError {
  const message = `${itemPath} came with the folder ${whole || './'} that was delivered as a whole`;
  const hint: Text = (w) => `set ${w.input('path', whole || './')} to audit all of it`;
  return new DeliveryError('BAD_INPUT', message, { hint });
}

function describeDelivery(found: FoundDelivery, audited: AuditedSite, files: BlobsByPath): AuditedDelivery {
  const { record, state, unknown } = found;
  const { branch, github, options, site } = audited;
  const name = record.itemPath || './';
  const isFolder = isFolderPath(record.itemPath);
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
  const paths = isRemoved ? found.paths : sortPaths(found.paths, pageOfDelivered(record.delivered ?? record));
  const path = paths[0] ?? record.itemPath;
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
            ? `the deploy record on the site, from commit ${record.sha}`
            : `commit ${record.sha} delivered it, and the branch ${branch} still has it`,
        isSiteOff: site === null,
      });
  return { ...common, ...proven, unknown: [...unknown, ...proven.unknown] };
}

function lostError({ record, changed, by }: FoundDelivery, branch: string | null): DeliveryError {
  const removal =
    by === null || by.sha === record.sha ? 'no commit shows who removed it' : `removed by ${nameCommit(by)}`;
  const message = `the branch ${branch} does not have ${nameFew(changed.map((path) => path || './'))} any more (${removal})`;
  const hint = 'deliver it again; if it was removed on purpose, withdraw it afterwards';
  return new DeliveryError('NOT_PROVEN', message, { hint });
}

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

const nameCommit = ({ sha, message }: CommitSummary): string =>
  `commit ${sha.slice(0, 7)} (${shorten(message.split('\n')[0] ?? '', 72)})`;
