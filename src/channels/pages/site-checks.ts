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
import { entryUrl, isFolderPath } from '../../rules/naming.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import type { Placement } from '../channel.ts';
import { PLAIN_HOST, USUAL } from '../host-rules.ts';
import type { PreviousBlobs } from './branch-reader.ts';
import { addressOf, type PagesDestination, type ServedSite } from './destination.ts';
import { findRival, rendersMarkdown } from './jekyll.ts';
import type { PagesTask } from './target.ts';

type Checks = Required<Pick<Placement, 'first' | 'others'>>;

/**
 * Checks a URL of the Pages site with `?v=`, which bypasses caches, then without. Removed files are checked only
 * with `?v=`, because a cached 404 would hide the next delivery.
 * @param path `null` for the page; other files are checked without `?v=` if `before` lists cached contents
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

/** Checks a file's raw URL; a failure is only noted. */
export const rawCheck = (rawUrl: URL, file: ExpectedAnswer['file']): Check => ({
  ...siteCheck('its source on GitHub', rawUrl, { is: 'bytes', file }),
  series: { answers: 1, as: 'both' },
  addsVersion: false,
  isOptional: true,
});

/** Adds the meaning of the host's refusals to the checks. */
export function onHost({ first, others }: Checks, refusals: HostRules['refusals']): Checks {
  const host = { ...PLAIN_HOST, refusals };
  return { first: { ...first, host }, others: others.map((check) => ({ ...check, host })) };
}

/** Checks that removed files are no longer served. @param known contents, in case another file is served there */
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
  /** What a cache may hold; absent if only `?v=` is checked. */
  readonly before?: ExpectedAnswer['before'];
}

/** A file of which only the blob id and size are known. */
export const fileAt = (files: BlobsByPath, path: string, before: ExpectedAnswer['before']): ServedAt => {
  const { sha: blobSha = '', size = 0 } = files.get(path) ?? {};
  return { path, file: { size, sha256: null, blobSha }, before };
};

/**
 * Checks files at their URLs. @param shown for the page: its `bytes`, the page `built` from it, or its raw `source`
 */
export function checksOfFiles(
  files: readonly ServedAt[],
  entry: string,
  { destination, itemPath }: Pick<PagesTask, 'destination' | 'itemPath'>,
  shown: 'bytes' | 'built' | 'source' = 'bytes',
): Checks {
  const { pageUrl, rawUrl } = destination;
  const page = files.find(({ path }) => path === entry);
  const bytes = addressOf(destination, entry);
  const urls = { built: pageUrl, source: rawUrl, bytes: isFolderPath(itemPath) ? entryUrl(bytes) : bytes };
  // After a partial removal, a folder may have no page.
  const isPage = shown === 'built' || !isFolderPath(itemPath) || isHtml(entry);
  const isShown = shown !== 'source' && isPage;
  const display = isShown ? getBrowserDisplay((shown === 'built' ? pageUrl : bytes).pathname) : undefined;
  const expect = { is: shown === 'built' ? shown : 'bytes', file: page?.file, before: page?.before } as const;
  return {
    first: siteCheck(null, urls[shown], { ...expect, display }),
    others: files.flatMap(({ path, ...file }) => {
      const name = isFolderPath(itemPath) ? path.slice(itemPath.length) : path;
      const row = siteCheck(name, addressOf(destination, path), { is: 'bytes', ...file });
      return path === entry ? [] : row;
    }),
  };
}

export type BlobsByPath = ReadonlyMap<string, Partial<GitBlob>>;

/** Lists the URLs of removed files, the highest pages first. @param rest other files, which may own such a URL */
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
