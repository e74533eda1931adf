import { SITE } from '../../protocol/limits.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';
import { MARKDOWN } from '../../rules/jekyll.ts';
import { entryUrl } from '../../rules/naming.ts';
import type { PlacedPart } from '../channel.ts';
import type { EarlierFiles } from './branch-reader.ts';
import { addressOf, type PagesDestination } from './destination.ts';
import { findRival, rendersMarkdown } from './jekyll.ts';
import { isFolderPath, type PagesTask } from './target.ts';

/**
 * Where removed files were served, pages first: the address of the first, and the others as parts.
 *
 * @param known what was there before: its bytes tell whether it is gone if another file is served there
 * @param rest the other files of the branch
 */
export function addressesOfRemoved(known: EarlierFiles, destination: PagesDestination, rest: HeldFiles) {
  const [first, ...parts] = listOldAddresses([...known.keys()], destination, rest).map((one): PlacedPart => {
    const earlier = known.get(one.path) ?? [];
    const mayBeServed = earlier.length > 0 && findRival(destination, rest, one.path) !== undefined;
    return mayBeServed ? { ...one, earlier, mayBeServed } : one;
  });
  const { url = destination.pageUrl, earlier = [], mayBeServed = false } = first ?? {};
  return { url, file: null, parts, earlier, mayBeServed };
}

/** A file at its own address. @param earlier as of a part */
export function partAt(
  { destination, place }: Pick<PagesTask, 'destination' | 'place'>,
  path: string,
  file: PlacedPart['file'],
  earlier: PlacedPart['earlier'],
): PlacedPart {
  const name = isFolderPath(place) ? path.slice(place.length) : path;
  return { path: name, url: addressOf(destination, path), file, ...(earlier && { earlier }) };
}

/**
 * Files that are known by git's ids alone, at their addresses.
 *
 * @param paths in the branch; the page whose address is handed over is the first
 * @param how `isRendered`: the file itself is asked for; `earlierAt`: as of a part
 */
export function addressesOfHeld(
  [page = '', ...others]: readonly string[],
  files: HeldFiles,
  { destination, place }: Pick<PagesTask, 'destination' | 'place'>,
  how: { isRendered: boolean; earlierAt: (path: string, nth: number) => PlacedPart['earlier'] },
) {
  const fileAt = (path: string) => {
    const { sha: blobSha = '', size = 0 } = files.get(path) ?? {};
    return { size, sha256: null, blobSha };
  };
  const pageUrl = addressOf(destination, page);
  const parts = others.map((path, nth) =>
    partAt({ destination, place }, path, fileAt(path), how.earlierAt(path, nth)),
  );
  const url = how.isRendered ? destination.rawUrl : isFolderPath(place) ? entryUrl(pageUrl) : pageUrl;
  return { file: fileAt(page), url, parts };
}

/** What each path of the branch or the site holds. */
export type HeldFiles = ReadonlyMap<string, Partial<GitBlob>>;

/**
 * The address of each removed file that was served: the pages of the highest folders first, then the other pages.
 *
 * @param rest the other files of the branch: Markdown was served as a page as well, if none of them has its address
 */
export function listOldAddresses(
  files: readonly string[],
  destination: Pick<PagesDestination, 'siteRoot' | 'rootUrl' | 'builtBy'>,
  rest: HeldFiles,
): readonly PlacedPart[] {
  const rank = (path: string): number => {
    if (/(?:^|\/)index\.html$/.test(path)) return path.split('/').length - SITE.files;
    return /\.html?$/i.test(path) ? 1 : 2;
  };
  const isRendered = rendersMarkdown(destination, rest);
  const served = files.filter((path) => path.startsWith(destination.siteRoot));
  return served
    .toSorted((one, other) => rank(one) - rank(other))
    .flatMap((path) => {
      const page = path.replace(MARKDOWN, '.html');
      const isTaken = rest.has(page) || findRival(destination, rest, page) !== undefined;
      const paths = isRendered && page !== path && !isTaken ? [page, path] : [path];
      return paths.map((one) => ({ path: one, url: entryUrl(addressOf(destination, one)), file: null }));
    });
}
