import { DeliveryError } from '../../errors.ts';
import { getEntry } from '../../github/api/branch.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { nameFew } from '../../plain-text.ts';
import { buildWithJekyll, listRivals, listShown, MARKDOWN } from '../../rules/jekyll.ts';
import type { Words } from '../../words.ts';
import {
  addressOf,
  type PagesDestination,
  type PagesOptions,
  type ServedSite,
  servedPath,
} from './destination.ts';
import { isFolderPath, type PagesTask } from './target.ts';

/** Tells whether a branch has the file that switches Jekyll off. */
export type SwitchLookup = (destination: Pick<PagesDestination, 'branch' | 'siteRoot'>) => Promise<boolean>;

/** Looks for that file once for all files of a step, which have one branch. */
export function createSwitchLookup(github: GitHubClient): SwitchLookup {
  let asked: ReturnType<typeof getEntry> | undefined;
  return async (destination) => {
    asked ??= getEntry(github, destination.branch, switchFileOf(destination));
    return (await asked)?.type === 'blob';
  };
}

/** The file that switches Jekyll off, at the root of what Pages serves. */
export const switchFileOf = ({ siteRoot }: Pick<ServedSite, 'siteRoot'>): string => `${siteRoot}.nojekyll`;

/** Whether Markdown of a branch is served as pages. */
export const rendersMarkdown = (site: ServedSite, entries: ReadonlyMap<string, unknown>): boolean =>
  site.builtBy === 'branch' && !entries.has(switchFileOf(site));

/** The page that shows a delivered file, by its path in the branch: itself, or what Jekyll makes of it. */
export function pageOf({ siteRoot }: ServedSite, { path, file }: PagesTask['files'][number]): string {
  const { page } = buildWithJekyll(servedPath(siteRoot, path), file.firstBytes);
  return page === null ? path : path.replace(MARKDOWN, '.html');
}

/** The file of a branch that Jekyll may show at the address of a page that is removed. */
export function findRival(site: ServedSite, entries: ReadonlyMap<string, unknown>, page: string) {
  if (!rendersMarkdown(site, entries)) return undefined;
  return listShown(page).find((source) => source !== page && entries.has(source));
}

/**
 * The files of a branch whose addresses the new files of a task would take, each with the file that takes it. A README is
 * shown for want of an index, so every index may take its place.
 */
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

/**
 * What the site's build does to a file or a folder. A file that is both copied and rendered is shown as a page if a
 * marker can prove that.
 *
 * @throws {DeliveryError} `BAD_INPUT` where the address would never show what is delivered.
 */
export async function applyJekyll(
  destination: PagesDestination,
  files: PagesTask['files'],
  { marker, nojekyll, deliverer: from }: Pick<PagesOptions, 'marker' | 'nojekyll' | 'deliverer'>,
  isOff: SwitchLookup,
): Promise<PagesDestination> {
  const { itemPath, entryPath: path, siteRoot, builtBy } = destination;
  const isFolder = isFolderPath(itemPath);
  if (builtBy === 'workflow' && !isFolder) return { ...destination, hostMayChangeBytes: true };
  if (builtBy !== 'branch' || (isFolder && nojekyll)) return destination;
  const outputs = files.map((file) => ({
    ...file,
    ...buildWithJekyll(servedPath(siteRoot, file.path), file.file.firstBytes),
  }));
  // By front matter and templates, the words of others would choose an address and read other files.
  const isOthers = from?.isRestricted === true;
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

/** @param changed files with the page that Jekyll renders of each, or `null` for nothing */
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
  const problems = [leftOut && `leaves out ${leftOut}`, rendered && `renders ${rendered}`].filter(Boolean);
  const switchFile = switchFileOf(destination);
  const off = (w: Words): string =>
    isFolder
      ? `set ${w.input('nojekyll', 'true')}, which commits an empty ${switchFile} and ends Jekyll for the whole site`
      : `commit an empty ${switchFile} to the branch, or deliver a folder with ${w.input('nojekyll', 'true')}`;
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
