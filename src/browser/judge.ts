import type { PageEvents } from './page-events.ts';
import { isOnlyWaiting, toPlainLine } from './page-text.ts';
import type { ScreenVerdict } from './screen-view.ts';
import type { PageSight } from './view-page.ts';

/** Why a page counts as shown or not. */
export interface Judgment {
  readonly verdict: ScreenVerdict;
  /** Empty for a shown page. */
  readonly reason: string;
}

/** Navigations and dialogs of a page that does not end them. */
const ENDLESS = 5;

/** Judges what was seen of a page; `null` where the page never answered a look. */
export function judge(sight: PageSight | null, events: PageEvents): Judgment {
  const reason = findReason(sight, events);
  return { verdict: reason === '' ? 'shown' : 'not-shown', reason };
}

function findReason(sight: PageSight | null, events: PageEvents): string {
  const { httpCode } = events;
  if (events.hasCrashed) return 'the page crashed';
  if (httpCode !== null && (httpCode < 200 || httpCode > 299))
    return `the page was answered with ${httpCode}`;
  if (sight === null) return describeSilence(events);
  if (!isPainted(sight)) return `the page is blank: ${describeBlank(events)}`;
  if (isWaiting(sight)) return `the page shows nothing but "${toPlainLine(sight.text, 80)}"`;
  if (events.navigations > ENDLESS) return describeEndless(events);
  return sight.isMarkerVisible === false ? 'the marker is not visible on the page' : '';
}

const isPainted = ({ painted }: PageSight): boolean =>
  painted.characters + painted.images + painted.drawings > 0;

const isWaiting = ({ painted, text }: PageSight): boolean =>
  painted.images + painted.drawings === 0 && isOnlyWaiting(text);

function describeEndless({ dialogs, navigations }: PageEvents): string {
  if (navigations > ENDLESS) return 'the page goes from one address to the next without end';
  return dialogs > ENDLESS ? 'the page opens one dialog after the other' : '';
}

/** Nothing is painted before the style sheets are there. */
function describeSilence(events: PageEvents): string {
  const endless = describeEndless(events);
  if (endless !== '') return endless;
  const open = describeOpenRequest(events);
  return open === '' ? 'the page does not respond' : `the page is blank: ${open}`;
}

function describeOpenRequest({ openUrls: [open] }: PageEvents): string {
  return open === undefined ? '' : toPlainLine(`still waiting for ${open}`, 160);
}

/** The most likely cause first. */
function describeBlank(events: PageEvents): string {
  const endless = describeEndless(events);
  if (endless !== '') return endless;
  const [exception] = events.exceptions.items;
  if (exception !== undefined) return toPlainLine(exception, 160);
  const [failed] = events.failed;
  if (failed !== undefined) return toPlainLine(`${failed.reason} ${failed.url}`, 160);
  return describeOpenRequest(events) || 'no text, image or drawing can be seen';
}

/** Errors of the way to the host, of certificates and of this machine: they say nothing about the page. */
const OWN_ERRORS =
  /_(PROXY|TUNNEL|NAME_|INTERNET|ADDRESS|CONNECTION_|CONNECT|NETWORK|TIMED_OUT|CERT_|SSL_|SOCKET|DNS|HTTP2|QUIC|OUT_OF_MEMORY|INSUFFICIENT|ACCESS_DENIED|BLOCKED_BY)/;

/** Judges a navigation that ended with one of the browser's error codes, such as `net::ERR_TOO_MANY_REDIRECTS`. */
export function judgeNavigationError(errorText: string, events: PageEvents, isDownload: boolean): Judgment {
  if (isDownload)
    return { verdict: 'not-shown', reason: 'the browser downloads the page instead of showing it' };
  // An error without a page of its own: the browser would show one instead.
  if (errorText.includes('ERR_HTTP_RESPONSE_CODE_FAILURE')) return judge(null, events);
  if (errorText.includes('_CERT_')) {
    return { verdict: 'not-checked', reason: `the browser does not trust the certificate: ${errorText}` };
  }
  return OWN_ERRORS.test(errorText)
    ? { verdict: 'not-checked', reason: `the browser can't reach the page: ${errorText}` }
    : { verdict: 'not-shown', reason: `the browser can't open the page: ${errorText}` };
}
