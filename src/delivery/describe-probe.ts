import type { RefusalMeaning } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { type ContentMatch, type ExpectedContent, isProof, type ProbeResult } from './url-probe.ts';

/** What each match means to a person. */
const DESCRIPTIONS: Readonly<Record<ContentMatch, string>> = {
  identical: 'the file, byte for byte',
  marked: 'the marker',
  gone: 'nothing any more',
  altered: 'the marker, but other bytes than the file',
  previous: 'the content from before',
  'cut-short': 'only the beginning of the file',
  different: 'other content',
  login: 'a login page: the host is in private mode, or the address is not public',
  echo: 'the marker only where a page does not show it: in its own address, its title, a comment, an attribute or a hidden part',
  gate: 'a page to sign in, a warning or an error in place of the content',
  'not-shown':
    'the right content, but as a download, as a text or in another encoding: its headers keep a browser from showing it',
  absent: 'no page',
};

/** How often the marker was found in an answer; `null` without a marker. */
export function countMarker(result: ProbeResult | null, { marker }: ExpectedContent): number | null {
  return marker === undefined ? null : (result?.fingerprint?.counts[0] ?? 0);
}

/** One answer in words; never the address itself, which is not proven yet. */
export function describeProbe(result: ProbeResult | null): string {
  if (result === null) return 'the address was not asked yet';
  if (result.failure !== undefined) return result.failure.message;
  const code = result.httpCode === null ? 'no answer' : `HTTP ${result.httpCode}`;
  const answers = result.asBrowser && !isProof(result) ? 'answers browsers' : 'answers';
  return result.match === 'absent'
    ? `the address ${answers} ${code}${result.refusal === undefined ? '' : `: ${result.refusal}`}`
    : `the address ${answers} ${code} with ${DESCRIPTIONS[result.match]}`;
}

/** @see protocol 7 (final URL does not answer 200 or lacks the marker) */
export function notProvenError(
  result: ProbeResult | null,
  { which = '', meaning }: { readonly which?: string; readonly meaning?: RefusalMeaning | undefined } = {},
): DeliveryError {
  const address = which === '' ? 'the address' : `the address ${which}`;
  const title = `${address} was not proven${meaning?.isFinal ? '' : ' in time'}`;
  return new DeliveryError('NOT_PROVEN', `${title}: ${describeProbe(result)}`, {
    httpCode: result?.httpCode ?? undefined,
    hint:
      meaning?.hint ??
      result?.failure?.hint ??
      (result?.httpCode === 429 ? BUSY_HINT : HINTS[result?.match ?? 'absent']),
    cause: result?.failure,
  });
}

/** A login page never becomes the file, so there is no point in waiting. @see protocol 1 (rule 2) */
export function loginPageError(result: ProbeResult): DeliveryError {
  return new DeliveryError('NOT_EXTERNAL', describeProbe(result), {
    httpCode: result.httpCode ?? undefined,
    hint: HINTS.login,
  });
}

/** @see https://docs.github.com/pages/getting-started-with-github-pages/github-pages-limits */
export const BUSY_HINT =
  'the host limits requests for a while: run the step again later, or use another channel; a GitHub Pages site has soft limits of 10 builds an hour, 100 GB a month and 1 GB in all';

const HINTS: Readonly<Partial<Record<ContentMatch, string>>> = {
  altered:
    "the host changes the file, and did not say that this page was built from our commit (`permissions: { pages: read }`): commit an empty .nojekyll to the site's root, or remove the front matter from the file",
  previous:
    'a cache still answers with the old page: run the step again in ten minutes, or set `path:` to a new name',
  'cut-short': 'the host answers incompletely: run the step again, or use another channel',
  different:
    'check that the address belongs to the file, and that `marker:`, where it is set, is plain text of it',
  login:
    'make the address public (a GitHub Enterprise in private mode shows sites to anybody only with Management Console → Pages → Public Pages), or use channel: K3',
  echo: 'set `marker:` to a text that only the content has and the page shows, or name the file in `file:`',
  gate: 'make the address public and without a page before it, or use channel: K1, K2 or K3',
  'not-shown':
    'let the host of the site answer with the type of the file (for a page `Content-Type: text/html; charset=utf-8`) and without `Content-Disposition: attachment`, or use channel: K2 or K3 for a download',
  absent: 'check that the address is public, or run the step again',
};
