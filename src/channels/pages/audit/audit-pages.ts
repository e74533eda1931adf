import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../../errors.ts';
import type { GitHubClient } from '../../../github/api/client.ts';
import type { CommitSummary } from '../../../github/api/history.ts';
import type { RepositoryContext } from '../../../github/api/repository.ts';
import { lineIf, nameFew, shorten } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { AUDIT, HISTORY_PAGES, LIST_PAGE } from '../../../protocol/limits.ts';
import { baseName, isFolderPath } from '../../../rules/naming.ts';
import type { Text } from '../../../words.ts';
import type { AuditedDelivery, AuditFindings } from '../../channel.ts';
import type { SiteHistory } from '../branch-reader.ts';
import { pageOfDelivered, parseMessage } from '../commit-message.ts';
import { findSiteHistory } from '../deploy/find-deploy-target.ts';
import type { PagesOptions } from '../destination.ts';
import { type PagesDestination, resolveDestination } from '../destination.ts';
import type { BlobsByPath } from '../site-checks.ts';
import { nameCommits, readDeliveries } from './list-deliveries.ts';
import { type FoundDelivery, proveFiles, proveRemoval, sortPaths } from './prove-files.ts';

type Site = RepositoryContext['pagesSettings'];

/** GitHub Pages: finds what this tool delivered to the site's branch, or to one folder of it. */
export function createPagesAudit(inputs: PagesOptions, access: RepositoryContext, ports: Ports) {
  return async (): Promise<AuditFindings> => {
    const { isLost, ...site } = await findAuditedSite(inputs, access, ports);
    const { deliveries, unknown } = await auditHistory(site);
    return { deliveries, unknown: [...unknown, ...lineIf(isLost, NO_DEPLOY_RECORD)] };
  };
}

/** A site that was switched off is audited too: its URLs then fail. */
export async function findAuditedSite(inputs: PagesOptions, access: RepositoryContext, ports: Ports) {
  const options = { ...inputs, setup: true };
  return { options, ...(await findSiteHistory(options, access, ports)) };
}

const NO_DEPLOY_RECORD =
  'whether this tool deployed the site without a branch: the live site carries no deploy record';

/** Strips `./` and the slash at the end; empty means everything. */
export const auditedPath = (path = ''): string => path.replace(/^\.\/$|\/$/g, '');

/** A site and its history; `branch` is `null` if only the live site's receipt has it. */
export interface AuditedSite {
  readonly github: GitHubClient;
  readonly site: Site;
  readonly options: PagesOptions;
  readonly branch: string | null;
  readonly history: SiteHistory;
}

async function auditHistory(audited: AuditedSite): Promise<AuditFindings> {
  const { history, site, options } = audited;
  const itemPath = auditedPath(options.path);
  const whether = `whether anything was delivered to ${itemPath || './'} of ${history.place}`;
  const head = await resultOf(() => history.readHead());
  if (hasFailed(head)) {
    if (site !== null || head.code !== 'NOT_FOUND') throw head;
    return { deliveries: [], unknown: [`${whether}: there is no such branch, and no Pages site`] };
  }
  const { entries, isComplete, last, ...found } = await readDeliveries(history, head, itemPath, AUDIT);
  const deliveries = await nameCommits(found.deliveries, history, head);
  const whole = parseMessage(last?.message ?? '')?.delivered?.itemPath;
  if (deliveries.length === 0 && whole !== undefined && isFolderPath(whole)) throw partError(itemPath, whole);
  const newest = `the newest ${HISTORY_PAGES * LIST_PAGE} commits ${itemPath && `of ${itemPath} `}on ${history.place}`;
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
  const { branch, github, history, options, site } = audited;
  const name = record.itemPath || './';
  const isFolder = isFolderPath(record.itemPath);
  const where = branch === null ? 'the site' : `branch ${branch}`;
  const plan = {
    channel: 'K1',
    method: 'nothing is written',
    destination: `${where}, ${isFolder ? 'folder' : 'path'} ${name}`,
    name,
    verb: 'opens as it was delivered',
  } as const;
  if (state === 'lost') return { plan, unknown, failure: lostError(found, history.place) };
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
            ? 'the receipt of the live site lists it'
            : `commit ${record.sha} delivered it, and ${history.place} still has it`,
        isSiteOff: site === null,
      });
  return { ...common, ...proven, unknown: [...unknown, ...proven.unknown] };
}

function lostError({ record, changed, by }: FoundDelivery, place: string): DeliveryError {
  const removal =
    by === null || by.sha === record.sha ? 'no commit shows who removed it' : `removed by ${nameCommit(by)}`;
  const message = `${place} does not have ${nameFew(changed.map((path) => path || './'))} any more (${removal})`;
  const hint = 'deliver it again; if it was removed on purpose, withdraw it afterwards';
  return new DeliveryError('NOT_PROVEN', message, { hint });
}

function unservedError(cause: DeliveryError): DeliveryError {
  if (cause.code === 'NOT_EXTERNAL') return cause;
  const message = `the site does not show it any more: ${cause.message}`;
  const hint: Text = (w) =>
    `${w.person('set its branch and folder back under Settings → Pages')}, or deliver it again`;
  return new DeliveryError('NOT_PROVEN', message, { hint, cause });
}

const describeChange = ({ state, changed, by }: FoundDelivery) => ({
  text: `${state === 'back' ? 'put back since this tool removed it' : 'changed since it was delivered'}, ${by === null ? 'on the branch' : `by ${nameCommit(by)}`}: ${nameFew(changed)}`,
  count: changed.length,
});

const nameCommit = ({ sha, message }: CommitSummary): string =>
  `commit ${sha.slice(0, 7)} (${shorten(message.split('\n')[0] ?? '', 72)})`;
