import type { RepositoryContext } from '../../../github/api/repository.ts';
import type { RepositoryName } from '../../../github/hosts.ts';
import type { Ports } from '../../../ports.ts';
import { baseName } from '../../../rules/naming.ts';
import type { AuditedDelivery } from '../../channel.ts';
import { type DeployedReceipt, readDeployedReceipt } from '../deploy/deployed-receipt.ts';
import { resolveDestination } from '../destination.ts';
import type { PagesOptions } from '../target.ts';
import { NOT_SERVED, proveFiles, sortPaths } from './prove-files.ts';
import { auditedPlace, isWithin } from './read-claims.ts';

type ReceiptOptions = PagesOptions & { readonly entry: string };

/**
 * What a site that GitHub Actions deploys says of itself, where this tool deployed it and no branch is named.
 *
 * @throws {DeliveryError} where the site gives no clear answer
 */
export async function readSiteReceipt(
  site: RepositoryContext['site'],
  { branch, siteWorkflow }: ReceiptOptions,
  ports: Ports,
): Promise<DeployedReceipt | null> {
  if (site === null || typeof site === 'string' || site.builtBy !== 'workflow') return null;
  if (branch !== undefined || siteWorkflow !== undefined) return null;
  const live = await readDeployedReceipt(site.base, ports);
  return typeof live === 'string' ? null : live;
}

/** The whole site is one delivery, without a branch: its files, or those below `path`. @see design 8 */
export function auditReceipt(
  { commit, files }: DeployedReceipt,
  repository: RepositoryName,
  site: RepositoryContext['site'],
  options: ReceiptOptions,
): readonly AuditedDelivery[] {
  const place = auditedPlace(options.path);
  const folder = files.has(place) || place === '' ? place : `${place}/`;
  const own = [...files.keys()].filter((path) => isWithin(path, place));
  const paths = sortPaths(own, folder, options.entry);
  const [page] = paths;
  if (page === undefined) return [];
  const name = folder || './';
  const destination = resolveDestination(repository, { ...options, path: page, name: baseName(page) }, site);
  const evidence = `the receipt that the site carries, of a deployment from commit ${commit}`;
  const proven = proveFiles({
    ...{ paths, files, folder: files.has(place) ? '' : folder, destination, evidence },
    ...{ refusals: NOT_SERVED, isRendered: false },
  });
  const plan = {
    ...({
      channel: 'K1',
      method: 'nothing is written',
      destination: `the whole site, ${name}`,
      name,
    } as const),
    claim: 'opens as it was delivered',
  };
  return [{ plan, ...proven, unknown: [...proven.unknown, OTHER_DEPLOYMENT] }];
}

const OTHER_DEPLOYMENT =
  'whether this is the newest delivery: of a site without a branch only the receipt that it carries tells what was deployed';
