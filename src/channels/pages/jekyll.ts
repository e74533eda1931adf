import { Readable } from 'node:stream';
import { DeliveryError } from '../../errors.ts';
import type { FileBytes } from '../../github/change.ts';
import { nameFew } from '../../plain-text.ts';
import { buildWithJekyll, isOnlyCopied, listRivals, listShown, MARKDOWN } from '../../rules/jekyll.ts';
import { isFolderPath } from '../../rules/naming.ts';
import type { Words } from '../../words.ts';
import type { SiteHistory } from './branch-reader.ts';
import {
  addressOf,
  type PagesDestination,
  type PagesOptions,
  type ServedSite,
  servedPath,
} from './destination.ts';
import type { PagesTask } from './target.ts';

export type SwitchLookup = (destination: Pick<PagesDestination, 'siteRoot'>) => Promise<boolean>;

/** Creates a check that requests the file once for all items. */
export function createSwitchLookup({ readEntry }: SiteHistory): SwitchLookup {
  let request: ReturnType<typeof readEntry> | undefined;
  return async (destination) => {
    request ??= readEntry(switchFileOf(destination));
    return (await request)?.type === 'blob';
  };
}

/** Path of the file that switches Jekyll off, in the served folder. */
export const switchFileOf = ({ siteRoot }: Pick<ServedSite, 'siteRoot'>): string => `${siteRoot}.nojekyll`;

const EMPTY_FILE: FileBytes = {
  size: 0,
  blobSha: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  read: () => Readable.from([]),
};

/** The file that `nojekyll` adds to a delivery, if the branch doesn't have it. */
export function writeSwitch({ target, destination }: PagesTask, entries: ReadonlyMap<string, unknown>) {
  const path = switchFileOf(destination);
  return target.options.nojekyll && !entries.has(path) ? [{ path, file: EMPTY_FILE }] : [];
}

/** Whether Jekyll renders the branch's Markdown. */
export const rendersMarkdown = (site: ServedSite, entries: ReadonlyMap<string, unknown>): boolean =>
  site.builtBy === 'branch' && !entries.has(switchFileOf(site));

/** The page that shows a delivered file: the file itself, or what Jekyll makes of it. */
export function pageOf({ siteRoot }: ServedSite, { path, file }: PagesTask['files'][number]): string {
  const { page } = buildWithJekyll(servedPath(siteRoot, path), file.firstBytes);
  return page === null ? path : path.replace(MARKDOWN, '.html');
}

export function findRival(site: ServedSite, entries: ReadonlyMap<string, unknown>, page: string) {
  if (!rendersMarkdown(site, entries)) return undefined;
  return listShown(page).find((source) => source !== page && entries.has(source));
}

/** Lists files whose URLs the new files would take. Any index takes the URL of a README. */
export function listTaken({ files, destination }: PagesTask, entries: ReadonlyMap<string, unknown>) {
  const wanted = new Set(files.map(({ path }) => path));
  const rendered = rendersMarkdown(destination, entries)
    ? files.filter(({ path }) => !entries.has(path))
    : [];
  return rendered.flatMap((file) => {
    const rivals = listRivals(pageOf(destination, file)).filter((path) => path !== file.path);
    const rival = rivals.find((path) => entries.has(path));
    return rival === undefined || wanted.has(rival) ? [] : [{ rival, path: file.path }];
  });
}

/** Applies the site's build to an item. @throws {DeliveryError} `BAD_INPUT` if the URL could never show the item */
export async function applyJekyll(
  destination: PagesDestination,
  files: PagesTask['files'],
  { marker, nojekyll, deliverer }: Pick<PagesOptions, 'marker' | 'nojekyll' | 'deliverer'>,
  isOff: SwitchLookup,
): Promise<PagesDestination> {
  const { itemPath, entryPath: path, siteRoot, builtBy } = destination;
  const isFolder = isFolderPath(itemPath);
  if (builtBy === 'workflow' && !isFolder) return { ...destination, hostMayChangeBytes: true };
  if (builtBy !== 'branch' || nojekyll) return destination;
  const outputs = files.map((file) => ({
    ...file,
    ...buildWithJekyll(servedPath(siteRoot, file.path), file.file.firstBytes),
  }));
  // Untrusted front matter could choose a URL, and templates could read other files.
  const isOthers = deliverer?.isRestricted === true;
  const isShownAsPage = !isFolder && marker !== undefined && !isOthers && outputs[0]?.page != null;
  const changed = outputs.filter(({ isCopied, page }) => !isCopied || (isOthers && page !== null));
  if (!isShownAsPage && changed.length === 0) return destination;
  if (await isOff(destination)) return destination;
  if (!isShownAsPage) throw jekyllError(destination, isOthers, changed);
  const page = path.replace(MARKDOWN, '.html');
  const notes = [`Jekyll renders ${servedPath(siteRoot, path)} into this page`];
  const rivals = listRivals(page).filter((rival) => rival !== path);
  return {
    ...destination,
    page,
    pageUrl: addressOf(destination, page),
    hostMayChangeBytes: true,
    notes,
    rivals,
  };
}

/** Why a rendered page's source is not put beside it: Jekyll would run its HTML and templates. `null` if it is. */
export async function findSourceObstacle(
  site: PagesDestination,
  { path, file }: PagesTask['files'][number],
  { nojekyll }: Pick<PagesOptions, 'nojekyll'>,
  isOff: SwitchLookup,
): Promise<string | null> {
  const served = servedPath(site.siteRoot, path);
  const isSafe = nojekyll || site.builtBy === 'deployment' || isOnlyCopied(served, file.firstBytes);
  if (isSafe || (await isOff(site))) return null;
  return `${served} is not beside the page, because Jekyll could make a page of it or change it; an empty ${switchFileOf(site)} on the branch, which \`nojekyll\` commits, would keep it`;
}

/** @param changed files with the page that Jekyll makes of each; `null` if it skips the file */
function jekyllError(
  destination: PagesDestination,
  isOthers: boolean,
  changed: readonly { readonly path: string; readonly page: string | null }[],
): DeliveryError {
  const isFolder = isFolderPath(destination.itemPath);
  const name = (isLeftOut: boolean): string =>
    nameFew(
      changed.flatMap(({ path, page }) =>
        (page === null) === isLeftOut ? [servedPath(destination.siteRoot, path)] : [],
      ),
    );
  const [leftOut, rendered] = [name(true), name(false)];
  const problems = [leftOut && `ignores ${leftOut}`, rendered && `renders ${rendered}`].filter(Boolean);
  const switchFile = switchFileOf(destination);
  const off = (w: Words): string =>
    `set ${w.input('nojekyll', 'true')}, which commits an empty ${switchFile} and ends Jekyll for the whole site`;
  const other = (w: Words): string =>
    isFolder || leftOut
      ? SEEN_NAMES
      : isOthers
        ? 'deliver an .html file without front matter'
        : `set ${w.input('marker')} to a text that the page keeps`;
  return new DeliveryError('BAD_INPUT', `Jekyll, which builds this Pages site, ${problems.join(', and ')}`, {
    hint: (w) => `${off(w)}, or ${other(w)}`,
    leftBehind: [],
  });
}

const SEEN_NAMES =
  'choose names that do not begin with _ . # or ~ and do not end with ~, and no Gemfile, node_modules or vendor/bundle at the root';
