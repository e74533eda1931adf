import type { FetchedContent } from '../http/fetch-back.ts';
import { leadsToSignIn } from '../http/follow.ts';
import {
  hasPageType,
  isAbsence,
  isReplaced,
  isSaved,
  isShownAsPage,
  readLength,
  readType,
} from '../http/response.ts';
import { MEGABYTE, PARTIAL_PROBE } from '../protocol/limits.ts';
import { isPartOfAddress } from '../rules/external-address.ts';
import { loadPageRules } from '../rules/load-page-rules.ts';
import { getContentType, getTypeClass } from '../rules/media-type.ts';
import { decodePath } from '../rules/naming.ts';
import { isReadAsWritten, readEncoding } from '../rules/text-encoding.ts';
import type { Check, ExpectedFile } from './check.ts';
import type { ContentMatch, ProbeResult } from './probe-result.ts';

/** What is the content, if its headers let a browser show it. */
const RIGHT: readonly ContentMatch[] = ['identical', 'extended', 'altered', 'marked'];

type MatchedAnswer = Pick<ProbeResult, 'match' | 'added' | 'isElsewhere'>;

/** Whether it is a page to which its host may have added something. */
export const comparesPage = ({ host, path, display }: Check): boolean =>
  host.addsToPages && (path === null || display === 'page');

/** Compares an answer with what the address must show. @param isBeginning whether only its beginning was read */
export async function matchAnswer(
  fetched: FetchedContent,
  check: Check,
  isBeginning: boolean,
): Promise<MatchedAnswer> {
  if (fetched.status === 200 && isReplaced(fetched)) return { match: 'gate' };
  const match = await (isBeginning ? matchBeginning : matchContent)(fetched, check);
  const { file, fallbacks } = check;
  const isKept = await isKeptFromSight(fetched, check);
  if (file !== null && !isKept && comparesPage(check) && (match === 'different' || match === 'cut-short')) {
    const added = await readAdditions(fetched, file, fallbacks);
    if (added === null) return { match: match === 'cut-short' ? match : 'different' };
    return { added, ...(await placeAnswer('extended', fetched, check)) };
  }
  if (!RIGHT.includes(match)) return { match };
  return isKept ? { match: 'not-shown' } : placeAnswer(match, fetched, check);
}

/** The types that browsers need: anything else they take for what its bytes are. */
const NEEDED_TYPES: readonly (readonly [RegExp, RegExp])[] = [
  [/\.css$/i, /^text\/css\b/i],
  [/\.m?js$/i, /^(?:text|application)\/(?:x-)?(?:java|ecma)script\b/i],
  [/\.svg$/i, /^image\/svg\+xml\b/i],
];

/** Whether the headers keep a browser from showing what it is to show, or from using it. */
async function isKeptFromSight(
  fetched: FetchedContent,
  { display = 'none', file, host, home, path, url }: Check,
): Promise<boolean> {
  const [, needed] = NEEDED_TYPES.find(([name]) => home !== undefined && name.test(home.pathname)) ?? [];
  const type = readType(fetched);
  if (needed !== undefined && !needed.test(type)) return true;
  if (host.showsType && display === 'none') return false;
  // A part may be a fragment of a page, or a text that a script reads.
  const encoding = await findEncoding(fetched, path === null ? 'windows-1252' : 'utf-8');
  if (encoding !== 'utf-8' && !isReadAsWritten(fetched.readHead(), encoding)) return true;
  // The address of a link says nothing of its file.
  const own = getTypeClass(getContentType(host.showsType ? url.pathname : (file?.name ?? '')));
  const shown = getTypeClass(type);
  // What a browser shows of XHTML, no rule for HTML tells: only a file that is XHTML counts, and only as that.
  const isXhtml = own !== shown && [own, shown].includes('xhtml');
  if (display === 'page') return !isShownAsPage(fetched) || isXhtml;
  const isOther = path === null && (isXhtml || (own !== '' && shown !== '' && own !== shown));
  return isOther || (display !== 'none' && isSaved(fetched));
}

/** The encoding in which a browser reads an answer: the host's, the page's, or the `usual` one of its kind. */
async function findEncoding(fetched: FetchedContent, usual: string): Promise<string> {
  const type = readType(fetched);
  const isPlain = /^text\/plain\b/i.test(type);
  const declared = readEncoding(/; charset=(.*)$/s.exec(type)?.[1] ?? '');
  if (declared !== null || !(isPlain || /^(?:text\/html\b|$)/i.test(type))) return declared ?? 'utf-8';
  return isPlain ? usual : ((await loadPageRules()).readCharset(fetched.readHead()) ?? usual);
}

/** Compares the beginning of a body, and the length that its host announces, with the file. */
async function matchBeginning(fetched: FetchedContent, { file }: Check): Promise<ContentMatch> {
  const { fingerprint } = fetched;
  if (file === null || fingerprint === null) return 'absent';
  const length = readLength(fetched);
  if (length !== null && length !== file.size) return 'different';
  const sha256 = await file.headSha256?.(PARTIAL_PROBE);
  return fingerprint.sha256 === sha256 ? 'identical' : 'different';
}

/** Compares a body with the file, and with what the address showed before. */
async function matchContent(fetched: FetchedContent, check: Check): Promise<ContentMatch> {
  const { status, fingerprint, addresses, blobSha } = fetched;
  const { file, marker, gone = false, host } = check;
  const login = leadsToSignIn(addresses);
  if (gone && isAbsence(status) && !login) return 'gone';
  if (fingerprint !== null && fingerprint.sha256 === file?.sha256) return 'identical';
  // A login page may contain any marker.
  if (login) return 'login';
  if (fingerprint === null) return 'absent';
  if (blobSha !== null) {
    return file?.sha256 === null && file.blobSha === blobSha ? 'identical' : 'previous';
  }
  if (gone) return 'served';
  const { size, sha256 } = fingerprint;
  if (file !== null && size < file.size && (size === 0 || (await file.headSha256?.(size)) === sha256)) {
    return 'cut-short';
  }
  // With a file the whole of a link decides, and no marker.
  if (host.addsToPages && file !== null) return 'different';
  if (marker === undefined || fingerprint.markerCount === 0) return file === null ? 'unmarked' : 'different';
  if (isPartOfAddress(marker, addresses)) return 'echo';
  // A site's build may put the marker of a file anywhere.
  return file === null ? matchMarked(fetched, marker) : 'altered';
}

/** What of a link nothing tells but a marker that its answer has: a text that a browser shows of it, or nothing. */
async function matchMarked(fetched: FetchedContent, marker: string): Promise<ContentMatch> {
  const { addresses, readHead } = fetched;
  if (addresses.at(-1)?.host !== addresses[0]?.host) return 'gate';
  if (/^text\/plain\b/i.test(readType(fetched))) return 'marked';
  if (!hasPageType(fetched)) return 'no-text';
  const { isGatePage, parsePage, showsText } = await loadPageRules();
  const page = parsePage(Buffer.from(readHead(), 'latin1').toString());
  if (isGatePage(page)) return 'gate';
  return showsText(page, marker) ? 'marked' : 'echo';
}

/** Bytes of a link's page by which it is judged; where additions are looked for, all of it. */
export const LINK_HEAD_SIZE = 2 * MEGABYTE;

/** What a link's page has beside everything of the file; `null` where it is not such a page. */
async function readAdditions(
  fetched: FetchedContent,
  file: ExpectedFile,
  fallbacks: readonly ExpectedFile[] = [],
): Promise<readonly string[] | null> {
  if (!isShownAsPage(fetched) || file.size > LINK_HEAD_SIZE) return null;
  const head = fetched.readHead();
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

async function readPage(file: ExpectedFile): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of file.pieces?.() ?? []) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('latin1');
}

/**
 * The right content, if it is in its own folder. A redirect may lead only to another form of its check, such as
 * `/about` for `/about.html`, and where that is in another folder, its references must lead to the same.
 */
async function placeAnswer(
  match: ContentMatch,
  fetched: FetchedContent,
  { home }: Check,
): Promise<MatchedAnswer> {
  const { addresses, readHead } = fetched;
  const end = addresses.at(-1) ?? home;
  if (home === undefined || end === undefined || (addresses.length === 1 && end.href === home.href)) {
    return { match };
  }
  const leavesHost = addresses.some(({ origin }) => origin !== home.origin);
  if (leavesHost || cleanPath(end) !== cleanPath(home)) return { match: 'moved' };
  if (folderPath(end) === folderPath(home)) return { match };
  const { hasSameAddresses } = await loadPageRules();
  const isSame = await hasSameAddresses(readHead(), home.href, end.href);
  return isSame ? { match, isElsewhere: true } : { match: 'moved' };
}

const folderPath = (page: URL): string => decodePath(new URL('.', page).pathname);

/** One form of the addresses under which hosts serve a page. */
const cleanPath = ({ pathname }: URL): string =>
  decodePath(pathname)
    .replace(/\.html?$/i, '')
    .replace(/\/index$/i, '/')
    .replace(/\/$/, '')
    .toLowerCase();
