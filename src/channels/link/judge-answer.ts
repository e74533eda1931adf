import { Readable } from 'node:stream';
import type { FetchedContent } from '../../http/fetch-back.ts';
import { hasPageType, isShownAsPage, readType } from '../../http/response.ts';
import type { ExpectedFile, JudgeAnswer, MatchedAnswer } from '../../proof/check.ts';
import { isHiddenByHeaders, RIGHT } from '../../proof/match-content.ts';
import type { ContentMatch } from '../../proof/probe-result.ts';
import { MAX_JUDGED_PAGE } from '../../protocol/limits.ts';
import { loadPageRules } from '../../rules/load-page-rules.ts';
import { decodePath } from '../../rules/naming.ts';

/**
 * A link's host may add to a page, and redirect it to another form of its URL.
 * @param home the file's own URL, to which redirects must lead, with or without `.html`; absent for a link to one file
 */
export const createLinkJudge =
  (home: URL | undefined, fallbacks: readonly ExpectedFile[] = []): JudgeAnswer =>
  async (fetched, { isPage, expect: { file, marker = '', display = 'none' } }, found) => {
    const hasMarker = found === 'altered' || found === 'echo';
    let match = found;
    // If the file is known, the marker doesn't count.
    if (file && hasMarker) match = 'different';
    else if (found === 'altered') match = await matchMarked(fetched, marker);
    else if (found === 'unmarked' && (await isGate(fetched))) match = 'gate';
    const [, needed] = NEEDED_TYPES.find(([name]) => home !== undefined && name.test(home.pathname)) ?? [];
    // A link's URL may not show the type.
    const shown = { display, name: file?.name ?? '', isPart: !isPage };
    const isUnusable = needed?.test(readType(fetched)) === false;
    const isKept = isUnusable || (await isHiddenByHeaders(fetched, shown));
    const mayHaveAdditions = isPage || display === 'page';
    if (file && !isKept && mayHaveAdditions && (match === 'different' || match === 'cut-short')) {
      const added = await readAdditions(fetched, file, fallbacks);
      if (added === null) return { match: match === 'cut-short' ? match : 'different' };
      return { added, ...(await judgeLocation('extended', fetched, home)) };
    }
    if (!RIGHT.includes(match)) return { match };
    return isKept ? { match: 'not-shown' } : judgeLocation(match, fetched, home);
  };

/** The types that browsers need; they detect all others from the bytes. */
const NEEDED_TYPES: readonly (readonly [RegExp, RegExp])[] = [
  [/\.css$/i, /^text\/css\b/i],
  [/\.m?js$/i, /^(?:text|application)\/(?:x-)?(?:java|ecma)script\b/i],
  [/\.svg$/i, /^image\/svg\+xml\b/i],
];

/** If only a marker is known, a browser must show it as text. */
async function matchMarked(fetched: FetchedContent, marker: string): Promise<ContentMatch> {
  const { addresses, readPrefix } = fetched;
  if (addresses.at(-1)?.host !== addresses[0]?.host) return 'gate';
  if (/^text\/plain\b/i.test(readType(fetched))) return 'marked';
  if (!hasPageType(fetched)) return 'no-text';
  const { isGatePage, parsePage, showsText } = await loadPageRules();
  const page = parsePage(Buffer.from(readPrefix(), 'latin1').toString());
  if (isGatePage(page)) return 'gate';
  return showsText(page, marker) ? 'marked' : 'echo';
}

async function isGate(fetched: FetchedContent): Promise<boolean> {
  if (fetched.status !== 200 || !hasPageType(fetched)) return false;
  const { isGatePage, parsePage } = await loadPageRules();
  return isGatePage(parsePage(Buffer.from(fetched.readPrefix(), 'latin1').toString()));
}

/** @returns what a link's page adds to the file; `null` if it is not the whole file with additions */
async function readAdditions(
  fetched: FetchedContent,
  file: ExpectedFile,
  fallbacks: readonly ExpectedFile[],
): Promise<readonly string[] | null> {
  if (!file.pieces || !isShownAsPage(fetched) || file.size > MAX_JUDGED_PAGE) return null;
  const head = fetched.readPrefix();
  if (fetched.fingerprint?.size !== head.length) return null;
  const { findAdditions, parsePage } = await loadPageRules();
  const [wanted, shown] = [parsePage(await readPage(file)), parsePage(head)];
  const added = findAdditions(wanted, shown);
  if (added === null) return null;
  // A short page may be contained in a fallback page by chance.
  for (const fallback of fallbacks) {
    const other = parsePage(await readPage(fallback));
    if (findAdditions(other, shown) !== null && findAdditions(other, wanted) === null) return null;
  }
  return added;
}

const readPage = async (file: ExpectedFile): Promise<string> =>
  Buffer.concat(await Readable.from(file.pieces?.() ?? []).toArray()).toString('latin1');

/**
 * A redirect may lead only to another form of the URL, such as `/about` for `/about.html`. If that is in another folder,
 * the page's links must resolve to the same URLs.
 */
async function judgeLocation(
  match: ContentMatch,
  fetched: FetchedContent,
  home: URL | undefined,
): Promise<MatchedAnswer> {
  const { addresses, readPrefix } = fetched;
  const end = addresses.at(-1) ?? home;
  if (home === undefined || end === undefined || (addresses.length === 1 && end.href === home.href)) {
    return { match };
  }
  const leavesHost = addresses.some(({ origin }) => origin !== home.origin);
  if (leavesHost || cleanPath(end) !== cleanPath(home)) return { match: 'moved' };
  if (folderPath(end) === folderPath(home)) return { match };
  const { hasSameAddresses } = await loadPageRules();
  const isSame = await hasSameAddresses(readPrefix(), home.href, end.href);
  return isSame ? { match, isElsewhere: true } : { match: 'moved' };
}

const folderPath = (page: URL): string => decodePath(new URL('.', page).pathname);

const cleanPath = ({ pathname }: URL): string =>
  decodePath(pathname)
    .replace(/\.html?$/i, '')
    .replace(/\/index$/i, '/')
    .replace(/\/$/, '')
    .toLowerCase();
