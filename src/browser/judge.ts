import { withoutSpace } from '../plain-text.ts';
import { isErrorPageName, isErrorScreen, isOnlyError, isOnlyWaiting, isOwnNotFound } from './error-text.ts';
import { type PageEvents, toPlainLine } from './page-events.ts';
import { formatRequest, type PageToView, type ScreenView } from './screen-view.ts';
import type { PageSnapshot } from './view-page.ts';

/** The reason is empty for a shown page. */
export type PageJudgment = Pick<ScreenView, 'verdict' | 'reason'> & Partial<Pick<ScreenView, 'cause'>>;

/** What the page shows instead; the cause is an exception or a request. */
type Reason = readonly [text: string, cause?: string];

const ENDLESS = 5;

/**
 * Decides whether a page is shown.
 *
 * @param snapshot `null` if no picture could be taken: nothing is painted, or scripts keep the page busy
 * @param isAnswering whether the page still runs scripts
 */
export function judge(
  snapshot: PageSnapshot | null,
  events: PageEvents,
  page: PageToView,
  isAnswering = true,
): PageJudgment {
  const wrong = describeWrongPage(events);
  const silent = snapshot === null || !isAnswering ? describeSilence(events, isAnswering) : '';
  const [text, cause = ''] =
    snapshot === null || wrong + silent !== '' ? [wrong || silent] : findReason(snapshot, events, page);
  const reason = cause === '' ? text : `${text}: ${toPlainLine(cause, 160)}`;
  if (reason === '') return { verdict: 'shown', reason };
  if (events.missing === '' || wrong !== '') return { verdict: 'not-shown', reason, cause };
  return {
    verdict: 'not-checked',
    cause,
    reason: `the page requests ${events.missing}, which this check can't provide (${reason})`,
  };
}

function describeWrongPage({ crash, httpCode, ledTo }: PageEvents): string {
  if (crash.signal.aborted) return 'the page crashed';
  const isGood = httpCode === null || (httpCode >= 200 && httpCode <= 299);
  if (isGood) return '';
  const redirect = ledTo === '' ? '' : ` leads to ${toPlainLine(ledTo, 160)}, which`;
  return `the page${redirect} answers HTTP ${httpCode}`;
}

function describeSilence(events: PageEvents, isAnswering: boolean): string {
  const cause = describeEndless(events);
  if (cause !== '') return cause;
  // Browsers paint nothing until the style sheets arrive.
  const open = isAnswering ? describeOpenRequest(events) : '';
  return open === '' ? 'the page does not respond' : `the page is blank: ${open}`;
}

function findReason(snapshot: PageSnapshot, events: PageEvents, page: PageToView): Reason {
  const { characters, images, drawings } = snapshot.painted;
  if (snapshot.isErrorPage) return ["the page leads to a page that can't be opened", findCause(events)];
  if (characters + images + drawings === 0) {
    const { length = 0 } = page.ownText ?? '';
    const hidden = length === 0 ? '' : `its text of ${length} characters is hidden`;
    return ['the page is blank', findCause(events) || hidden || 'no text, image or drawing can be seen'];
  }
  const other = describeOtherContent(snapshot, events, page);
  if (other !== null) return other;
  if (events.navigations > ENDLESS) return [describeEndless(events)];
  return [snapshot.isMarkerVisible === false ? 'the expected text is not visible on the page' : ''];
}

const LONGEST_WITHOUT_DATA = 250;

/** Largest side of a waiting picture in CSS pixels: one that moves, or one that stays because a script failed. */
const SMALL = { moving: 200, alone: 256 } as const;

/** What the page shows in place of its content. Only HTML and XML can: any text in other types is content. */
function describeOtherContent(snapshot: PageSnapshot, events: PageEvents, page: PageToView): Reason | null {
  const { text, largestPicture } = snapshot;
  const { contentType, ownData } = events;
  const isHtml = /html|^$/.test(contentType);
  const isDrawn = isHtml || /svg/.test(contentType);
  if ((isDrawn || /xml/.test(contentType)) && isErrorScreen(text, isDrawn))
    return describeError(text, events);
  if (!isHtml) return null;
  // The error text may be the delivered content.
  const isMeant = isErrorPageName(new URL(page.url).pathname) || snapshot.isMarkerVisible === true;
  const isSmall = largestPicture <= SMALL.moving;
  const lacking = isMeant ? undefined : findMissingData(snapshot, events, page);
  if (
    !isMeant &&
    isSmall &&
    !snapshot.hasMore &&
    (isOnlyError(text) || isOwnNotFound(snapshot, lacking !== undefined))
  ) {
    return describeError(text, events);
  }
  if (lacking !== undefined && ownData.found === 0 && isShort(text)) {
    return [`the page shows only "${toPlainLine(text, 160)}"`, formatRequest(lacking)];
  }
  const cause = findCause(events);
  if (isSmall && isOnlyWaiting(text, snapshot.isStable !== true || cause !== '')) {
    return [`the page shows only "${toPlainLine(text, 80)}"`, cause];
  }
  const isWaiting =
    (isSmall && snapshot.isStable !== true) ||
    (largestPicture <= SMALL.alone && events.exceptions.length > 0);
  return text.trim() === '' && isWaiting ? ['the page shows only a small picture', cause] : null;
}

/**
 * Data that scripts did not get from the page's host, or from another host that the page names. The page needs it if it
 * asks to wait, shows the error code, or shows less than half of the text of its own HTML.
 */
function findMissingData(snapshot: PageSnapshot, { ownData, failed }: PageEvents, { ownText }: PageToView) {
  const { text, painted, largestPicture, isWaiting, hasMore } = snapshot;
  const missing = ownData.missing ?? failed.other.find(({ url }) => text.includes(url));
  if (missing === undefined) return undefined;
  const isNamed = text.includes(missing.error) && ownText?.includes(missing.error) === false;
  const isNeeded =
    !hasMore && (isWaiting || isNamed)
      ? largestPicture <= SMALL.moving
      : painted.images === 0 && !isOwnShown(text, ownText);
  return isNeeded ? missing : undefined;
}

/** Styles may hide a part of the page's own text, change its case, or add text within it. */
function isOwnShown(text: string, ownText: string | undefined): boolean {
  if (ownText === undefined) return true;
  const seen = withoutSpace(text).toLowerCase();
  const parts = ownText.toLowerCase().match(/.{1,10}/gs) ?? [];
  return parts.length > 0 && 2 * parts.filter((part) => seen.includes(part)).length >= parts.length;
}

/** Pages name the URLs that they lack, so URLs don't count. */
const isShort = (text: string): boolean =>
  withoutSpace(text.replace(/\S*\/\S*/g, '')).length <= LONGEST_WITHOUT_DATA;

/** A failure on another host, such as a counter, doesn't cause the page's error. */
const describeError = (text: string, events: PageEvents): Reason => [
  `the page shows an error: ${toPlainLine(text, 160)}`,
  findCause(events, []),
];

function describeEndless({ dialogs, navigations }: PageEvents): string {
  if (navigations > ENDLESS) return 'the page redirects without end';
  return dialogs > ENDLESS ? 'the page opens dialogs without end' : '';
}

/** Own failed requests come first, because they may cause exceptions. Other hosts' failures come last. */
function findCause(events: PageEvents, failedElsewhere = events.failed.other): string {
  const { failed, exceptions } = events;
  const [cause] = [...failed.own.map(formatRequest), ...exceptions, ...failedElsewhere.map(formatRequest)];
  return describeEndless(events) || (cause ?? describeOpenRequest(events));
}

function describeOpenRequest({ open }: PageEvents): string {
  const [request] = open;
  return request === undefined ? '' : toPlainLine(`still waiting for ${request.url()}`, 160);
}

/** Errors by the host or the page. The network or this machine may cause all others. */
const PAGE_ERRORS =
  /^net::ERR_((TOO_MANY|INVALID|UNSAFE)_REDIRECTS?|(UNKNOWN|DISALLOWED)_URL_SCHEME|BLOCKED_BY_(RESPONSE.*|CSP)|INVALID_URL|ABORTED)$/;

/** Decides by an error code of the browser, such as `net::ERR_TOO_MANY_REDIRECTS`. */
export function judgeNavigationError(errorText: string, events: PageEvents): PageJudgment {
  // An empty answer: a browser would show its own error page.
  if (errorText === 'net::ERR_HTTP_RESPONSE_CODE_FAILURE') {
    return { verdict: 'not-shown', reason: describeWrongPage(events) || 'the page does not respond' };
  }
  if (PAGE_ERRORS.test(errorText)) {
    return { verdict: 'not-shown', reason: `the browser can't open the page: ${errorText}` };
  }
  const [refusal] = events.refused.values();
  const reason =
    refusal === undefined ? `the browser can't reach the page: ${errorText}` : `not opened: ${refusal}`;
  return { verdict: 'not-checked', reason };
}
