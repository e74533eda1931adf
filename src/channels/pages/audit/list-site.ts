import { hasFailed, resultOf } from '../../../errors.ts';
import type { RepositoryContext } from '../../../github/api/repository.ts';
import { repositoryOf } from '../../../github/workflow-run.ts';
import { lineIf } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { LIST_PAGE, LISTING } from '../../../protocol/limits.ts';
import { baseName, entryUrl, isFolderPath } from '../../../rules/naming.ts';
import type { ListedItem, Listing } from '../../channel.ts';
import { filesBelow } from '../branch-reader.ts';
import { pageOfDelivered, parseMessage } from '../commit-message.ts';
import type { DeliveryRecord } from '../delivery-records.ts';
import { type PagesOptions, resolveDestination } from '../destination.ts';
import { listPicturePaths } from '../pictures.ts';
import type { BlobsByPath } from '../site-checks.ts';
import { type AuditedSite, auditedPath, findAuditedSite } from './audit-pages.ts';
import { type ListedDelivery, readDeliveries } from './list-deliveries.ts';

/** Lists what the branch still has of the deliveries, without a check. */
export const createPagesList =
  (inputs: PagesOptions, access: RepositoryContext, ports: Ports) => async (): Promise<Listing> => {
    const audited = await findAuditedSite(inputs, access, ports);
    const wanted = auditedPath(inputs.path);
    const { history } = audited;
    const head = await resultOf(() => history.readHead());
    if (hasFailed(head) && head.code !== 'NOT_FOUND') throw head;
    if (hasFailed(head)) return { deliveries: [], unlisted: [head.message] };
    const { deliveries, entries, isComplete } = await readDeliveries(history, head, wanted, LISTING);
    const items = deliveries.flatMap(({ record, state, paths, changed }) => {
      if (record.delivered === undefined || state === 'lost' || state === 'removed') return [];
      const present = [...paths, ...changed].filter((path) => entries.get(path)?.type === 'blob');
      const all = present.length > 0 ? present : [...filesBelow({ entries }, record.itemPath).keys()];
      return all.length === 0 ? [] : describeItem({ record, state, paths: all }, audited, entries);
    });
    const older = `deliveries before the newest ${LISTING.pages * LIST_PAGE} commits of ${history.place}`;
    return { deliveries: items, unlisted: lineIf(!isComplete, older) };
  };

/** `null` for a path that the site doesn't show any more. */
function findUrl(path: string, { github, site, options, branch }: AuditedSite): string | null {
  if (site === null && options.pagesBase === undefined) return null;
  try {
    const location = { ...options, branch: branch ?? undefined, path, name: baseName(path) };
    return resolveDestination(github.repository, location, site).pageUrl.href;
  } catch {
    return null;
  }
}

type FoundItem = Pick<ListedDelivery, 'paths' | 'state'> & {
  readonly record: Pick<DeliveryRecord, 'itemPath' | 'message'> & Partial<DeliveryRecord>;
};

function describeItem(
  { record, paths, state }: FoundItem,
  audited: AuditedSite,
  entries: BlobsByPath,
): ListedItem {
  const { itemPath, delivered, message, date = null } = record;
  const page = pageOfDelivered(delivered ?? record);
  const url = findUrl(page, audited);
  const picture = listPicturePaths(page).find((path) => entries.has(path));
  const { deliverer } = parseMessage(message) ?? {};
  const [repository, id] = [repositoryOf(deliverer), /^\d+/.exec(deliverer?.run ?? '')];
  const run = repository && id && new URL(`/${repository}/actions/runs/${id}`, audited.options.serverUrl);
  return {
    channel: 'K1',
    place: audited.branch === null ? 'the site' : `branch ${audited.branch}`,
    path: itemPath || './',
    url: isFolderPath(itemPath) && url !== null ? entryUrl(new URL(url)).href : url,
    ...{ time: date, by: deliverer?.name ?? null, run: run ? run.href : null },
    files: paths.length,
    size: paths.reduce((sum, path) => sum + (entries.get(path)?.size ?? 0), 0),
    picture: picture === undefined ? null : findUrl(picture, audited),
    changed: state === 'changed',
  };
}
