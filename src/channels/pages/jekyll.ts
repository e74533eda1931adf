import { DeliveryError } from '../../errors.ts';
import { getBlobSha } from '../../github/api/branch.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { nameFew } from '../../plain-text.ts';
import { buildWithJekyll, isLeftOutByJekyll, MARKDOWN } from '../../rules/jekyll.ts';
import type { LocalSite } from '../../rules/local-site.ts';
import type { Words } from '../../words.ts';
import { type PagesDestination, servedPath } from './destination.ts';

/** Tells whether a branch contains a file. */
export type FileLookup = (branch: string, path: string) => Promise<boolean>;

/** Looks for the file that switches Jekyll off; each place is asked once for all files, which have one branch. */
export function createJekyllLookup(github: GitHubClient): FileLookup {
  const asked = new Map<string, Promise<boolean>>();
  return (branch, path) => {
    const exists = asked.get(path) ?? getBlobSha(github, { branch, path }).then((blob) => blob !== null);
    asked.set(path, exists);
    return exists;
  };
}

/**
 * Adds what Jekyll does to the file, where it builds the site. A `.nojekyll` at the site's root switches it off. A file
 * that is both copied and rendered is shown as a page where a marker can prove that.
 *
 * @param content the file's first bytes, and whether a marker was given
 * @throws {DeliveryError} `BAD_INPUT` where the address would never show the file.
 */
export async function applyJekyll(
  destination: PagesDestination,
  content: { readonly head: string; readonly hasMarker: boolean },
  exists: FileLookup,
): Promise<PagesDestination> {
  const { branch, path, siteRoot, builtBy, pageUrl } = destination;
  const served = servedPath(siteRoot, path);
  if (builtBy === 'workflow') return { ...destination, hostMayChangeBytes: true };
  if (builtBy === 'deployment') return destination;
  const { isCopied, page } = buildWithJekyll(served, content.head);
  if (isCopied && (page === null || !content.hasMarker)) return destination;
  const switchFile = `${siteRoot}.nojekyll`;
  if (await exists(branch, switchFile)) return destination;
  if (page === null || !content.hasMarker) throw jekyllError(served, switchFile, page === null);
  return {
    ...destination,
    pageUrl: new URL(pageUrl.href.replace(MARKDOWN, '.html')),
    hostMayChangeBytes: true,
    notes: [`Jekyll renders ${served} into this page`],
  };
}

function jekyllError(served: string, switchFile: string, isLeftOut: boolean): DeliveryError {
  const message = isLeftOut
    ? `Jekyll leaves ${served} out of the site because of its name`
    : `Jekyll renders ${served}, so the page has other bytes than the file`;
  const change = (w: Words) =>
    isLeftOut
      ? `set ${w.input('path')} to a name that does not begin with _ . # or ~ and does not end with ~`
      : `set ${w.input('marker')} to a text that the page keeps`;
  return new DeliveryError('BAD_INPUT', message, {
    step: 'check',
    hint: (w) => `${change(w)}, or commit an empty ${switchFile}`,
  });
}

/** `BAD_INPUT` that names both ways out; `null` where Jekyll changes nothing. */
export async function findJekyllRefusal(
  { files }: LocalSite,
  folder: string,
  { branch, siteRoot }: PagesDestination,
  exists: FileLookup,
): Promise<DeliveryError | null> {
  const served = servedPath(siteRoot, folder);
  const changed = files
    .map(({ path, file: { head } }) => ({ path, ...buildWithJekyll(served + path, head) }))
    .filter(({ isCopied }) => !isCopied);
  if (changed.length === 0) return null;
  const leftOut = changed.flatMap(({ path, page }) => (page === null ? [path] : []));
  const rendered = changed.flatMap(({ path, page }) => (page === null ? [] : [path]));
  const switchFile = `${siteRoot}.nojekyll`;
  if (await exists(branch, switchFile)) return null;
  const isFolderLeftOut = isLeftOutByJekyll(served.replace(/\/$/, ''));
  const problems = [
    ...(leftOut.length === 0
      ? []
      : [`leaves out ${isFolderLeftOut ? `the folder ${folder}` : nameFew(leftOut)}`]),
    ...(rendered.length === 0 ? [] : [`renders ${nameFew(rendered)}`]),
  ];
  const other = (w: Words) =>
    isFolderLeftOut ? `set ${w.input('path', toSeenFolder(folder))}` : 'rename these files';
  return new DeliveryError('BAD_INPUT', `Jekyll, which builds this Pages site, ${problems.join(', and ')}`, {
    step: 'check',
    hint: (w) =>
      `set ${w.input('nojekyll', 'true')}, which commits an empty ${switchFile} and ends Jekyll for the whole site, or ${other(w)}`,
    leftBehind: [],
  });
}

/** The folder under names that Jekyll does not leave out. */
function toSeenFolder(folder: string): string {
  const seen = folder.replace(/(?<=^|\/)[_.#~]+/gu, '').replace(/~+(?=\/|$)/gu, '');
  return /^(?:\/|vendor\/|node_modules\/)|\/\//.test(seen)
    ? `site/${seen.replace(/^\/|\/(?=\/)/gu, '')}`
    : seen;
}
