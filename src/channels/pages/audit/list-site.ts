import { hasFailed, resultOf } from '../../../errors.ts';
import type { RepositoryContext } from '../../../github/api/repository.ts';
import { lineIf } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { LIST_PAGE, LISTING } from '../../../protocol/limits.ts';
import { baseName, entryUrl, isFolderPath } from '../../../rules/naming.ts';
import type { ListedItem, Listing } from '../../channel.ts';
import { filesBelow } from '../branch-reader.ts';
import { pageOfDelivered, parseMessage } from '../commit-message.ts';
import { type PagesOptions, resolveDestination } from '../destination.ts';
import { listPicturePaths } from '../pictures.ts';
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
    if (hasFailed(head)) return { deliveries: [], unknown: [head.message] };
    const { deliveries, entries, isComplete } = await readDeliveries(history, head, wanted, LISTING);
    const folder = wanted.slice(
      0,
      entries.get(wanted)?.type === 'blob' ? wanted.lastIndexOf('/') + 1 : undefined,
    );
    const below = urlOf(folder.replace(/\/?$/, '/').replace(/^\/$/, './'), audited)?.href;
    const items = deliveries.flatMap((found) => {
      const { record, state, paths, changed } = found;
      if (record.delivered === undefined || state === 'lost' || state === 'removed') return [];
      const present = [...paths, ...changed].filter((path) => entries.get(path)?.type === 'blob');
      const all = present.length > 0 ? present : [...filesBelow({ entries }, record.itemPath).keys()];
      return all.length === 0 ? [] : describeItem({ ...found, paths: all }, audited, entries);
    });
    const older = `deliveries before the newest ${LISTING.pages * LIST_PAGE} commits of ${history.place}`;
    return { deliveries: items, unknown: lineIf(!isComplete, older), below };
  };

/** `null` for a path that the site doesn't show any more. */
function urlOf(path: string, { github, site, options, branch }: AuditedSite): URL | null {
  try {
    const location = { ...options, branch: branch ?? undefined, path, name: baseName(path) };
    return resolveDestination(github.repository, location, site).pageUrl;
  } catch {
    return null;
  }
}

type FoundItem = Pick<ListedDelivery, 'paths' | 'state'> & {
  readonly record: Pick<ListedDelivery['record'], 'itemPath' | 'message'> &
    Partial<Pick<ListedDelivery['record'], 'delivered' | 'date'>>;
};

function describeItem(
  { record, paths, state }: FoundItem,
  audited: AuditedSite,
  entries: ReadonlyMap<string, { readonly size: number }>,
): ListedItem {
  const { itemPath, delivered, message, date } = record;
  const page = pageOfDelivered(delivered ?? record);
  const { branch, options } = audited;
  const url = urlOf(page, audited);
  const picture = listPicturePaths(page).find((path) => entries.has(path));
  const { name = null, run } = parseMessage(message)?.deliverer ?? {};
  const [, repository] = /^([\w.-]+\/[\w.-]+)\/\.github\//.exec(name ?? '') ?? [];
  const [, id] = /^(\d+)\//.exec(run ?? '') ?? [];
  return {
    channel: 'K1',
    place: branch === null ? 'the site' : `branch ${branch}`,
    path: itemPath || './',
    url: (url && (isFolderPath(itemPath) ? entryUrl(url) : url).href) ?? null,
    time: date ?? null,
    by: name,
    run: repository && id ? new URL(`/${repository}/actions/runs/${id}`, options.serverUrl).href : null,
    files: paths.length,
    size: paths.reduce((sum, path) => sum + (entries.get(path)?.size ?? 0), 0),
    picture: (picture && urlOf(picture, audited)?.href) ?? null,
    changed: state === 'changed',
  };
}
