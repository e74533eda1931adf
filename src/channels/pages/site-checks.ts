import {
  type Check,
  type ExpectedAnswer,
  type ExpectedFile,
  type HostRules,
  isRemovedCheck,
} from '../../proof/check.ts';
import { AGREEING_ANSWERS, SITE } from '../../protocol/limits.ts';
import type { GitBlob } from '../../rules/fingerprint.ts';
import { MARKDOWN } from '../../rules/jekyll.ts';
import { getBrowserDisplay } from '../../rules/media-type.ts';
import { entryUrl } from '../../rules/naming.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import type { Placement } from '../channel.ts';
import { PLAIN_HOST, USUAL } from '../host-rules.ts';
import type { PreviousBlobs } from './branch-reader.ts';
import { addressOf, type PagesDestination, type ServedSite } from './destination.ts';
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
  const isRemoved = isRemovedCheck({ expect });
  const check = {
    url,
    label: path ?? 'the page',
    isPage: path === null,
    expect,
    host: PLAIN_HOST,
    addsVersion: true,
  } as const;
  const answers = isRemoved ? AGREEING_ANSWERS.usual : 1;
  if (path === null)
    return { ...check, series: { answers, as: 'both' }, plainSeries: isRemoved ? undefined : USUAL };
  const isOpened = !isRemoved && expect.before !== undefined;
  return { ...check, series: { answers, as: 'tool' }, plainSeries: isOpened ? ONCE_OPENED : undefined };
}

const ONCE_OPENED = { answers: 1, as: 'browser' } as const;

/** The raw address of a file of the branch, which is noted if it shows the file. */
export const rawCheck = (rawUrl: URL, file: ExpectedAnswer['file']): Check => ({
  ...siteCheck('the raw address', rawUrl, { is: 'bytes', file }),
  series: { answers: 1, as: 'both' },
  addsVersion: false,
  isOptional: true,
});

/** The same on a host that means something by its refusals. */
export function onHost({ first, others }: Checks, refusals: HostRules['refusals']): Checks {
  const host = { ...PLAIN_HOST, refusals };
  return { first: { ...first, host }, others: others.map((check) => ({ ...check, host })) };
}

/**
 * Where removed files were served, pages first: none may answer any more.
 *
 * @param known what was there before: its bytes tell whether it is gone if another file is served there
 * @param rest the other files of the branch
 * @param after when they were removed, where the host is not asked for its build
 */
export function checksOfRemoved(
  known: PreviousBlobs,
  destination: PagesDestination,
  rest: BlobsByPath,
  after?: number,
): Checks {
  const [first, ...others] = listOldAddresses([...known.keys()], destination, rest).map(({ path, url }) => {
    const before = known.get(path) ?? [];
    const isReplaced = before.length > 0 && findRival(destination, rest, path) !== undefined;
    return siteCheck(path, url, isReplaced ? { is: 'replaced', before, after } : { is: 'gone' });
  });
  const { url, expect } = first ?? { url: destination.pageUrl, expect: { is: 'gone' } };
  return { first: siteCheck(null, url, expect), others };
}

interface ServedAt {
  readonly path: string;
  readonly file: ExpectedFile;
  /** What a cache may have; absent if it is asked past caches alone. */
  readonly before?: ExpectedAnswer['before'];
}

/** A file that is known by git's id alone. */
export const fileAt = (files: BlobsByPath, path: string, before: ExpectedAnswer['before']): ServedAt => {
  const { sha: blobSha = '', size = 0 } = files.get(path) ?? {};
  return { path, file: { size, sha256: null, blobSha }, before };
};

/**
 * Files of a place at their addresses.
 *
 * @param entry the path of the file whose address is handed over
 * @param shown what is asked for it: its `bytes`, the page that is `built` of it, or its `source` at the raw address
 */
export function checksOfFiles(
  files: readonly ServedAt[],
  entry: string,
  { destination, itemPath }: Pick<PagesTask, 'destination' | 'itemPath'>,
  shown: 'bytes' | 'built' | 'source' = 'bytes',
): Checks {
  const { pageUrl: built, rawUrl: source } = destination;
  const page = files.find(({ path }) => path === entry);
  const bytes = addressOf(destination, entry);
  const url = { built, source, bytes: isFolderPath(itemPath) ? entryUrl(bytes) : bytes }[shown];
  // What a removal left of a folder may have no page.
  const isPage = shown === 'built' || !isFolderPath(itemPath) || isHtml(entry);
  const isShown = shown !== 'source' && isPage;
  const display = isShown ? getBrowserDisplay((shown === 'built' ? built : bytes).pathname) : undefined;
  const expect = { is: shown === 'built' ? shown : 'bytes', file: page?.file, before: page?.before } as const;
  return {
    first: siteCheck(null, url, { ...expect, display }),
    others: files.flatMap(({ path, ...file }) => {
      const name = isFolderPath(itemPath) ? path.slice(itemPath.length) : path;
      const row = siteCheck(name, addressOf(destination, path), { is: 'bytes', ...file });
      return path === entry ? [] : row;
    }),
  };
}

/** What each path of the branch or the site holds. */
export type BlobsByPath = ReadonlyMap<string, Partial<GitBlob>>;

/**
 * The address of each removed file that was served: the pages of the highest folders first, then the other pages.
 *
 * @param rest the other files of the branch: Markdown was served as a page as well, if none of them has its address
 */
export function listOldAddresses(
  files: readonly string[],
  site: ServedSite,
  rest: BlobsByPath,
): readonly { readonly path: string; readonly url: URL }[] {
  const rank = (path: string): number => {
    if (/(?:^|\/)index\.html$/.test(path)) return path.split('/').length - SITE.files;
    return /\.html?$/i.test(path) ? 1 : 2;
  };
  const isRendered = rendersMarkdown(site, rest);
  const served = files.filter((path) => path.startsWith(site.siteRoot));
  return served
    .toSorted((path, other) => rank(path) - rank(other))
    .flatMap((path) => {
      const page = path.replace(MARKDOWN, '.html');
      const isTaken = rest.has(page) || findRival(site, rest, page) !== undefined;
      const paths = isRendered && page !== path && !isTaken ? [page, path] : [path];
      return paths.map((servedAs) => ({ path: servedAs, url: entryUrl(addressOf(site, servedAs)) }));
    });
}
