import {
  type Check,
  type ExpectedAnswer,
  type ExpectedFile,
  type HostRules,
  isGone,
} from '../../proof/check.ts';
import { AGREEING_PROBES, SITE } from '../../protocol/limits.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';
import { MARKDOWN } from '../../rules/jekyll.ts';
import { getBrowserDisplay } from '../../rules/media-type.ts';
import { entryUrl } from '../../rules/naming.ts';
import type { Placement } from '../channel.ts';
import { OWN_HOST, USUAL } from '../host-rules.ts';
import type { EarlierFiles } from './branch-reader.ts';
import { addressOf, type PagesDestination } from './destination.ts';
import { findRival, rendersMarkdown } from './jekyll.ts';
import { isFolderPath, type PagesTask } from './target.ts';

type Checks = Required<Pick<Placement, 'first' | 'others'>>;

/**
 * An address of the Pages site: asked with `?v=`, past its caches, and then without. With it one right answer is enough,
 * but for what must be gone. A 404 without it would stay in a cache, and the next delivery would not be seen as long.
 *
 * @param path `null` for the page; another file is asked without `?v=` where `before` says what a cache may have of it
 */
export function siteCheck(path: string | null, url: URL, expect: ExpectedAnswer): Check {
  const isRemoved = isGone({ expect });
  const check = { url, path, expect, host: OWN_HOST, versioned: true } as const;
  const answers = isRemoved ? AGREEING_PROBES.usual : 1;
  if (path === null)
    return { ...check, series: { answers, as: 'both' }, opened: isRemoved ? undefined : USUAL };
  const isOpened = !isRemoved && expect.before !== undefined;
  return { ...check, series: { answers, as: 'tool' }, opened: isOpened ? ONCE_OPENED : undefined };
}

const ONCE_OPENED = { answers: 1, as: 'browser' } as const;

/** The raw address of a file of the branch, which is noted if it shows the file. */
export const rawCheck = (url: URL, file: ExpectedAnswer['file']): Check => ({
  ...siteCheck('the raw address', url, { is: 'bytes', file }),
  series: { answers: 1, as: 'both' },
  versioned: false,
  onFailure: 'note',
});

/** The same on a host that means something by its refusals. */
export function onHost({ first, others }: Checks, refusals: HostRules['refusals']): Checks {
  const host = { ...OWN_HOST, refusals };
  return { first: { ...first, host }, others: others.map((one) => ({ ...one, host })) };
}

/**
 * Where removed files were served, pages first: none may answer any more.
 *
 * @param known what was there before: its bytes tell whether it is gone if another file is served there
 * @param rest the other files of the branch
 */
export function checksOfRemoved(known: EarlierFiles, destination: PagesDestination, rest: HeldFiles): Checks {
  const [first, ...others] = listOldAddresses([...known.keys()], destination, rest).map(({ path, url }) => {
    const before = known.get(path) ?? [];
    const isReplaced = before.length > 0 && findRival(destination, rest, path) !== undefined;
    return siteCheck(path, url, isReplaced ? { is: 'replaced', before } : { is: 'gone' });
  });
  const { url, expect } = first ?? { url: destination.pageUrl, expect: { is: 'gone' } };
  return { first: siteCheck(null, url, expect), others };
}

type Place = Pick<PagesTask, 'destination' | 'place'>;

/** A file at its own address. @param before absent if nothing changed */
export function checkOfFile(
  { destination, place }: Place,
  path: string,
  file: ExpectedFile,
  before: ExpectedAnswer['before'],
): Check {
  const name = isFolderPath(place) ? path.slice(place.length) : path;
  return siteCheck(name, addressOf(destination, path), { is: 'bytes', file, before });
}

/**
 * Files that are known by git's ids alone, at their addresses.
 *
 * @param paths in the branch; the page whose address is handed over is the first
 * @param how `isRendered`: the file itself is asked for; `beforeAt`: what a cache may have, absent where it is not asked
 */
export function checksOfHeld(
  [page = '', ...others]: readonly string[],
  files: HeldFiles,
  place: Place,
  how: { isRendered: boolean; beforeAt: (path: string, nth: number) => ExpectedAnswer['before'] },
): Checks {
  const { destination } = place;
  const fileAt = (path: string) => {
    const { sha: blobSha = '', size = 0 } = files.get(path) ?? {};
    return { size, sha256: null, blobSha };
  };
  const pageUrl = addressOf(destination, page);
  const url = how.isRendered ? destination.rawUrl : isFolderPath(place.place) ? entryUrl(pageUrl) : pageUrl;
  const display = how.isRendered ? undefined : getBrowserDisplay(page);
  const expect = { is: 'bytes', file: fileAt(page), before: how.beforeAt(page, 0), display } as const;
  return {
    first: siteCheck(null, url, expect),
    others: others.map((path, nth) => checkOfFile(place, path, fileAt(path), how.beforeAt(path, nth))),
  };
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
): readonly { readonly path: string; readonly url: URL }[] {
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
      return paths.map((one) => ({ path: one, url: entryUrl(addressOf(destination, one)) }));
    });
}
