import type { FetchedContent } from '../http/fetch-back.ts';
import { leadsToSignIn } from '../http/follow.ts';
import { isAbsence, isReplaced, isSaved, isShownAsPage, readLength, readType } from '../http/response.ts';
import { PARTIAL_PROBE } from '../protocol/limits.ts';
import { isPartOfAddress } from '../rules/external-address.ts';
import { loadPageRules } from '../rules/load-page-rules.ts';
import { type BrowserDisplay, getContentType, getTypeClass } from '../rules/media-type.ts';
import { isReadAsWritten, readEncoding } from '../rules/text-encoding.ts';
import { type Check, isRemovedCheck, type MatchedAnswer } from './check.ts';
import type { ContentMatch } from './probe-result.ts';

/** Right content, if its headers let a browser show it. */
export const RIGHT: readonly ContentMatch[] = ['identical', 'extended', 'altered', 'marked'];

/** Compares an answer with what the URL must show. @param isBeginning whether only its start was read */
export async function matchAnswer(
  fetched: FetchedContent,
  check: Check,
  isBeginning: boolean,
): Promise<MatchedAnswer> {
  if (fetched.status === 200 && isReplaced(fetched)) return { match: 'gate' };
  const match = await (isBeginning ? matchBeginning : matchContent)(fetched, check);
  const { display = 'none', judge } = check.expect;
  if (judge !== undefined) return judge(fetched, check, match);
  if (display === 'none' || !RIGHT.includes(match)) return { match };
  const shown = { display, name: check.url.pathname, isPart: !check.isPage };
  return { match: (await isHiddenByHeaders(fetched, shown)) ? 'not-shown' : match };
}

/**
 * Whether the headers keep a browser from showing or using the content.
 * @param isPart whether a page loads it: it may be a fragment, or a text that a script reads
 */
export async function isHiddenByHeaders(
  fetched: FetchedContent,
  { display, name, isPart }: { display: BrowserDisplay; name: string; isPart: boolean },
): Promise<boolean> {
  const encoding = await findEncoding(fetched, isPart ? 'utf-8' : 'windows-1252');
  if (encoding !== 'utf-8' && !isReadAsWritten(fetched.readPrefix(), encoding)) return true;
  const own = getTypeClass(getContentType(name));
  const shown = getTypeClass(readType(fetched));
  // Rules for HTML don't fit XHTML, so XHTML counts only for an XHTML file.
  const isXhtml = own !== shown && [own, shown].includes('xhtml');
  if (display === 'page') return !isShownAsPage(fetched) || isXhtml;
  const isOther = !isPart && (isXhtml || (own !== '' && shown !== '' && own !== shown));
  return isOther || (display !== 'none' && isSaved(fetched));
}

/** The encoding in which a browser reads an answer: the host's, the page's, or `fallback`. */
async function findEncoding(fetched: FetchedContent, fallback: string): Promise<string> {
  const type = readType(fetched);
  const isPlain = /^text\/plain\b/i.test(type);
  const declared = readEncoding(/; charset=(.*)$/s.exec(type)?.[1] ?? '');
  if (declared !== null || !(isPlain || /^(?:text\/html\b|$)/i.test(type))) return declared ?? 'utf-8';
  return isPlain ? fallback : ((await loadPageRules()).readCharset(fetched.readPrefix()) ?? fallback);
}

async function matchBeginning(fetched: FetchedContent, { expect: { file } }: Check): Promise<ContentMatch> {
  const { fingerprint } = fetched;
  if (file === undefined || fingerprint === null) return 'absent';
  const length = readLength(fetched);
  if (length !== null && length !== file.size) return 'different';
  const sha256 = await file.prefixSha256?.(PARTIAL_PROBE);
  return fingerprint.sha256 === sha256 ? 'identical' : 'different';
}

async function matchContent(fetched: FetchedContent, check: Check): Promise<ContentMatch> {
  const { status, fingerprint, addresses, blobSha } = fetched;
  const { file, marker } = check.expect;
  const login = leadsToSignIn(addresses);
  if (isRemovedCheck(check) && isAbsence(status) && !login) return 'gone';
  if (fingerprint !== null && fingerprint.sha256 === file?.sha256) return 'identical';
  // A login page may contain any marker.
  if (login) return 'login';
  if (fingerprint === null) return 'absent';
  if (blobSha !== null) {
    return file?.sha256 === null && file.blobSha === blobSha ? 'identical' : 'previous';
  }
  if (isRemovedCheck(check)) return 'served';
  const { size, sha256 } = fingerprint;
  if (
    file !== undefined &&
    size < file.size &&
    (size === 0 || (await file.prefixSha256?.(size)) === sha256)
  ) {
    return 'cut-short';
  }
  if (marker === undefined || fingerprint.markerCount === 0) return file ? 'different' : 'unmarked';
  // A site's build may put the marker anywhere in the page.
  return isPartOfAddress(marker, addresses) ? 'echo' : 'altered';
}
