import { text } from 'node:stream/consumers';
import type { LocalFiles, PageToView } from '../../browser/screen-view.ts';
import { withoutSpace } from '../../plain-text.ts';
import { MEGABYTE, SCREEN } from '../../protocol/limits.ts';
import type { DeliveryRequest } from '../../request/parse-request.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { loadPageRules } from '../../rules/load-page-rules.ts';
import { getContentType, isImage } from '../../rules/media-type.ts';
import { decodePath } from '../../rules/naming.ts';
import { decodeText, isHtml } from '../../rules/page/page-file.ts';
import { type Delivery, isOngoing, shownTask } from '../delivery.ts';

/** The page to open, and the text that it must show. */
export async function pageToView(
  url: URL,
  delivery: Delivery,
  { marker }: Pick<DeliveryRequest, 'marker'>,
  local?: LocalFiles,
): Promise<PageToView> {
  const file = delivery.site?.entry;
  const isSought = marker !== undefined && marker.length <= SCREEN.marker;
  const page = { url: url.href, local };
  // For a link, only the marker is known.
  if (file === undefined) return { ...page, marker: isSought && !/[<>]/.test(marker) ? marker : undefined };
  if (!isHtml(file.name) || file.size > SCREEN.markedPage) return page;
  const { findUnfilledTags, readVisibleText } = await loadPageRules();
  const html = await text(decodeText(file.read()));
  const shown = readVisibleText(html);
  // The marker may be in a comment or script.
  const isVisible = isSought && shown.includes(withoutSpace(marker));
  // A rendered page shows the tags of its source.
  const ownTags = delivery.site?.source === undefined ? findUnfilledTags(html) : [];
  const own = { ownText: shown.slice(0, SCREEN.text), ownTags };
  return { ...page, ...own, marker: isVisible ? marker : undefined };
}

/**
 * Every file to publish, by its path on the host. Lists them when a browser asks first.
 *
 * @param sitePaths other paths to serve folders at
 */
export function listLocalFiles(deliveries: readonly Delivery[], sitePaths?: readonly string[]): LocalFiles {
  let known: ReadonlyMap<string, LocalFile> | undefined;
  return (path) => {
    known ??= new Map(deliveries.filter(isOngoing).flatMap((delivery) => listServed(delivery, sitePaths)));
    const file = known.get(path);
    return file && { size: file.size, contentType: getContentType(path), read: () => file.read() };
  };
}

function listServed(
  delivery: Delivery,
  sitePaths?: readonly string[],
): readonly (readonly [string, LocalFile])[] {
  const { site } = delivery;
  const served = shownTask(delivery)?.served;
  if (site === null || served === undefined) return [];
  const { sitePath } = served;
  // Elsewhere, a single file is served as the index.
  const place = decodePath(served.url.pathname.slice(sitePath.length));
  return (sitePaths ?? [sitePath]).flatMap((folder) =>
    site.files.map(
      (file) =>
        [
          decodePath(folder) + (site.isFolder ? file.name : folder === sitePath ? place : 'index.html'),
          file,
        ] as const,
    ),
  );
}

/**
 * The pages of deliveries, each with why no browser opens it; empty if a browser does.
 * At most `SCREEN.pages` are opened, HTML pages first.
 */
export function listScreenPages(
  deliveries: readonly Delivery[],
  mode: DeliveryRequest['screen'],
): ReadonlyMap<Delivery, string> {
  const found = deliveries.flatMap((delivery) => {
    const obstacle = findObstacle(delivery, mode);
    return obstacle === undefined ? [] : [[delivery, obstacle] as const];
  });
  const openable = found.flatMap(([delivery, obstacle]) => (obstacle === '' ? [delivery] : []));
  openable.sort((page, other) => rankPage(page) - rankPage(other));
  const tooMany = `only ${SCREEN.pages} of ${openable.length} pages were opened`;
  return new Map([...found, ...openable.slice(SCREEN.pages).map((delivery) => [delivery, tooMany] as const)]);
}

const rankPage = (delivery: Delivery): number => (shownTask(delivery)?.served?.display === 'page' ? 0 : 1);

/** `undefined` for downloads, and for links unless `screen: enforce`. */
function findObstacle(delivery: Delivery, mode: DeliveryRequest['screen']): string | undefined {
  const { plan, served } = shownTask(delivery) ?? {};
  if (served === undefined) return plan?.channel === 'K4' && mode === 'enforce' ? '' : undefined;
  if (served.display === 'none') return undefined;
  if (mode === 'off') return 'the browser check is off';
  if (served.display === 'viewer') return 'a file for a viewer or player is not opened in a browser';
  if (served.display === 'page') return '';
  const most = isImage(served.url.pathname) ? SCREEN.largestImage : SCREEN.largestText;
  const isTooLarge = (delivery.site?.entry.size ?? 0) > most;
  return isTooLarge ? `a file of this kind above ${most / MEGABYTE} MB is not opened in a browser` : '';
}
