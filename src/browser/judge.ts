import { withoutSpace } from '../plain-text.ts';
import { isErrorPageName, isErrorScreen, isOnlyError, isOnlyWaiting, isOwnNotFound } from './error-text.ts';
import { type PageEvents, toPlainLine } from './page-events.ts';
import { formatRequest, type PageToView, type ScreenView } from './screen-view.ts';
import type { PageSnapshot } from './view-page.ts';

/** Why a page counts as shown or not; the reason is empty for a shown page. */
export type PageJudgment = Pick<ScreenView, 'verdict' | 'reason'> & Partial<Pick<ScreenView, 'cause'>>;

/** What a page shows instead, and what it may follow from: an exception or a request, or empty. */
type Reason = readonly [text: string, cause?: string];

/** Navigations and dialogs of a page that does not end them. */
const ENDLESS = 5;

/**
 * Judges what was seen of a page.
 *
 * @param snapshot `null` where no picture could be taken: nothing is painted, or the page is busy without end
 * @param isAnswering whether it still runs
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
    reason: `the page asks for ${events.missing}, which it can't get here (${reason})`,
  };
}

/** What no snapshot of the page can make up for. */
function describeWrongPage({ crash, httpCode, ledTo }: PageEvents): string {
  if (crash.signal.aborted) return 'the page crashed';
  const isGood = httpCode === null || (httpCode >= 200 && httpCode <= 299);
  if (isGood) return '';
  return `the page ${ledTo === '' ? '' : `led to ${toPlainLine(ledTo, 160)}, which `}was answered with ${httpCode}`;
}

function describeSilence(events: PageEvents, isAnswering: boolean): string {
  const cause = describeEndless(events);
  if (cause !== '') return cause;
  // Nothing is painted before the style sheets are there.
  const open = isAnswering ? describeOpenRequest(events) : '';
  return open === '' ? 'the page does not respond' : `the page is blank: ${open}`;
}

function findReason(snapshot: PageSnapshot, events: PageEvents, page: PageToView): Reason {
  const { characters, images, drawings } = snapshot.painted;
  if (snapshot.isErrorPage) return ["the page leads to one that can't be opened", findCause(events)];
  if (characters + images + drawings === 0) {
    return ['the page is blank', findCause(events) || 'no text, image or drawing can be seen'];
  }
  const other = describeOtherContent(snapshot, events, page);
  if (other !== null) return other;
  if (events.navigations > ENDLESS) return [describeEndless(events)];
  return [snapshot.isMarkerVisible === false ? 'the marker is not visible on the page' : ''];
}

/** The most that a page shows whose scripts got none of the data that they show, in characters. */
const LONGEST_WITHOUT_DATA = 250;

/** CSS pixels of a picture that may only tell a person to wait: one that moves, and one that is left where a script has failed. */
const SMALL = { moving: 200, alone: 256 } as const;

/** What a page shows in place of its content. Other types are shown as they are: every text in them is theirs. */
function describeOtherContent(snapshot: PageSnapshot, events: PageEvents, page: PageToView): Reason | null {
  const { text, painted, largestPicture } = snapshot;
  const { contentType, ownData } = events;
  const isHtml = /html|^$/.test(contentType);
  const isDrawn = isHtml || /svg/.test(contentType);
  if ((isDrawn || /xml/.test(contentType)) && isErrorScreen(text, isDrawn))
    return describeError(text, events);
  if (!isHtml) return null;
  // Such a text may be what was delivered.
  const isMeant = isErrorPageName(new URL(page.url).pathname) || snapshot.isMarkerVisible === true;
  const isSmall = largestPicture <= SMALL.moving;
  const lacking = isMeant ? undefined : findMissingData(text, events, page);
  if (
    !isMeant &&
    isSmall &&
    !snapshot.hasMore &&
    (isOnlyError(text) || isOwnNotFound(snapshot, lacking !== undefined))
  ) {
    return describeError(text, events);
  }
  if (lacking !== undefined && ownData.found === 0 && painted.images === 0 && isShort(text)) {
    return [`the page shows only "${toPlainLine(text, 160)}"`, formatRequest(lacking)];
  }
  const cause = findCause(events);
  if (isSmall && isOnlyWaiting(text, snapshot.isStable !== true || cause !== '')) {
    return [`the page shows nothing but "${toPlainLine(text, 80)}"`, cause];
  }
  // What tells to wait moves, or stays where a script has failed.
  const isWaiting =
    (isSmall && snapshot.isStable !== true) ||
    (largestPicture <= SMALL.alone && events.exceptions.length > 0);
  return text.trim() === '' && isWaiting ? ['the page shows nothing but a small picture', cause] : null;
}

/**
 * The data that the scripts of a page did not get: of its own host, or of another one where the page itself says so.
 * Nothing for a page that shows what its own HTML says, as not all of it is made by scripts; a style may change the case.
 */
function findMissingData(text: string, { ownData, failed }: PageEvents, { ownText }: PageToView) {
  const isOwnShown =
    ownText === undefined ||
    (ownText !== '' && withoutSpace(text).toLowerCase().includes(ownText.toLowerCase()));
  if (isOwnShown) return undefined;
  return ownData.missing ?? failed.other.find(({ url }) => text.includes(url));
}

/** An address is no content: pages name what they lack. */
const isShort = (text: string): boolean =>
  withoutSpace(text.replace(/\S*\/\S*/g, '')).length <= LONGEST_WITHOUT_DATA;

/** What fails on another host, such as a counter, is no cause of an error that a page shows. */
const describeError = (text: string, events: PageEvents): Reason => [
  `the page shows an error: ${toPlainLine(text, 160)}`,
  findCause(events, []),
];

function describeEndless({ dialogs, navigations }: PageEvents): string {
  if (navigations > ENDLESS) return 'the page goes from one address to the next without end';
  return dialogs > ENDLESS ? 'the page opens one dialog after the other' : '';
}

/** What the page's own host lacks comes first: an exception may follow from it. A counter from elsewhere comes last. */
function findCause(events: PageEvents, failedElsewhere = events.failed.other): string {
  const { failed, exceptions } = events;
  const [cause] = [...failed.own.map(formatRequest), ...exceptions, ...failedElsewhere.map(formatRequest)];
  return describeEndless(events) || (cause ?? describeOpenRequest(events));
}

function describeOpenRequest({ open }: PageEvents): string {
  const [request] = open;
  return request === undefined ? '' : toPlainLine(`still waiting for ${request.url()}`, 160);
}

/** What a host or page does wrong by itself. Everything else may be the way to it, or this machine. */
const PAGE_ERRORS =
  /^net::ERR_((TOO_MANY|INVALID|UNSAFE)_REDIRECTS?|(UNKNOWN|DISALLOWED)_URL_SCHEME|BLOCKED_BY_(RESPONSE.*|CSP)|INVALID_URL|ABORTED)$/;

/** Judges a navigation that ended with one of the browser's error codes, such as `net::ERR_TOO_MANY_REDIRECTS`. */
export function judgeNavigationError(errorText: string, events: PageEvents): PageJudgment {
  // An answer without a page: the browser would show one of its own.
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
