import { Readable } from 'node:stream';
import type { FetchedContent } from '../../http/fetch-back.ts';
import { hasPageType, isShownAsPage, readType } from '../../http/response.ts';
import type { ExpectedFile, JudgeAnswer, MatchedAnswer } from '../../proof/check.ts';
import { isHiddenByHeaders, RIGHT } from '../../proof/match-content.ts';
import type { ContentMatch } from '../../proof/probe-result.ts';
import { MAX_JUDGED_PAGE } from '../../protocol/limits.ts';
import { loadPageRules } from '../../rules/load-page-rules.ts';
import { decodePath } from '../../rules/naming.ts';

interface LinkedFile {
  /** The file's own address. Redirects lead only to it, or to it without `.html`; absent where the link is all of it. */
  readonly home: URL | undefined;
  /** Pages that a host may show in place of a missing one. */
  readonly fallbacks: readonly ExpectedFile[];
}

/** Judges what the host of a link answers: it may add to a page, and move it to another form of its address. */
export const createLinkJudge =
  ({ home, fallbacks }: LinkedFile): JudgeAnswer =>
  async (fetched, { isPage, expect: { file, marker = '', display = 'none' } }, found) => {
    const hasMarker = found === 'altered' || found === 'echo';
    let match = found;
    // With a file all of it decides, and no marker.
    if (file && hasMarker) match = 'different';
    else if (found === 'altered') match = await matchMarked(fetched, marker);
    const [, needed] = NEEDED_TYPES.find(([name]) => home !== undefined && name.test(home.pathname)) ?? [];
    // The address of a link says nothing of its type.
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

/** The types that browsers need: anything else they take for what its bytes are. */
const NEEDED_TYPES: readonly (readonly [RegExp, RegExp])[] = [
  [/\.css$/i, /^text\/css\b/i],
  [/\.m?js$/i, /^(?:text|application)\/(?:x-)?(?:java|ecma)script\b/i],
  [/\.svg$/i, /^image\/svg\+xml\b/i],
];

/** What of a link nothing tells but a marker that its answer has: a text that a browser shows of it, or nothing. */
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

/** What a link's page has beside everything of the file; `null` where it is not such a page. */
async function readAdditions(
  fetched: FetchedContent,
  file: ExpectedFile,
  fallbacks: readonly ExpectedFile[],
): Promise<readonly string[] | null> {
  if (!isShownAsPage(fetched) || file.size > MAX_JUDGED_PAGE) return null;
  const head = fetched.readPrefix();
  if (fetched.fingerprint?.size !== head.length) return null;
  const { findAdditions, parsePage } = await loadPageRules();
  const [wanted, shown] = [parsePage(await readPage(file)), parsePage(head)];
  const added = findAdditions(wanted, shown);
  if (added === null) return null;
  // A page with little in it is a part of many others.
  for (const fallback of fallbacks) {
    const other = parsePage(await readPage(fallback));
    if (findAdditions(other, shown) !== null && findAdditions(other, wanted) === null) return null;
  }
  return added;
}

const readPage = async (file: ExpectedFile): Promise<string> =>
  Buffer.concat(await Readable.from(file.pieces?.() ?? []).toArray()).toString('latin1');

/**
 * The right content, if it is in its own folder. A redirect may lead only to another form of its check, such as
 * `/about` for `/about.html`, and where that is in another folder, its references must lead to the same.
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
