import { isErrorScreen, isOnlyError, isOnlyWaiting, isOwnNotFound, toPlainLine } from './error-text.ts';
import type { PageEvents } from './page-events.ts';
import type { ScreenVerdict } from './screen-view.ts';
import type { PageSight } from './view-page.ts';

/** Why a page counts as shown or not. */
export interface PageJudgment {
  readonly verdict: ScreenVerdict;
  /** Empty for a shown page. */
  readonly reason: string;
}

/** What is known of a page beside one look at it. */
export interface PageContext {
  /** Whether it still runs. */
  readonly isAnswering?: boolean;
  /** Whether it looks different from one moment to the next. */
  readonly isMoving?: boolean;
  /** Whether it is there to show an error, such as `404.html`. */
  readonly isErrorPage?: boolean;
  /** Whether all that it shows is made by its scripts. */
  readonly isScripted?: boolean;
  /** What it asked for and can't get in this browser; empty where that is nothing. */
  readonly missing?: string;
}

/** Navigations and dialogs of a page that does not end them. */
const ENDLESS = 5;

/**
 * Judges what was seen of a page.
 *
 * @param sight `null` where no picture could be taken: nothing is painted, or the page is busy without end
 */
export function judge(sight: PageSight | null, events: PageEvents, context: PageContext = {}): PageJudgment {
  const { isAnswering = true } = context;
  // What was painted before a page stopped answering is all that a person gets of it.
  const reason =
    sight === null || !isAnswering
      ? describeSilence(events, isAnswering)
      : findReason(sight, events, context);
  if (reason === '') return { verdict: 'shown', reason };
  const { missing = '' } = context;
  if (missing === '' || describeWrongPage(events) !== '') return { verdict: 'not-shown', reason };
  return {
    verdict: 'not-checked',
    reason: `the page asks for ${missing}, which it can't get here (${reason})`,
  };
}

function findReason(sight: PageSight, events: PageEvents, context: PageContext): string {
  const wrong = describeWrongPage(events);
  if (wrong !== '') return wrong;
  if (sight.isErrorPage) return withCause("the page leads to one that can't be opened", events);
  if (!isPainted(sight))
    return withCause('the page is blank', events, 'no text, image or drawing can be seen');
  const other = PLAIN_TYPE.test(events.contentType) ? '' : describeOtherContent(sight, events, context);
  if (other !== '') return other;
  if (events.navigations > ENDLESS) return describeEndless(events);
  return sight.isMarkerVisible === false ? 'the marker is not visible on the page' : '';
}

/** Files that a browser shows as they are: every text in them is theirs. */
const PLAIN_TYPE = /^(?:text\/(?!html|xml)|image\/(?!svg)|application\/(?:json|javascript|manifest\+json))/;

/** Types of which a browser shows a drawn page, where nothing is wrong with it. */
const HTML_TYPE = /html/;
const DRAWN_TYPE = /html|svg/;

/** What a page shows in place of its content. */
function describeOtherContent(sight: PageSight, events: PageEvents, context: PageContext): string {
  const { text, title, heading, isSmall, hasMore, isMarkerVisible } = sight;
  const { contentType } = events;
  const isHtml = contentType === '' || HTML_TYPE.test(contentType);
  const isError =
    isErrorScreen(text, DRAWN_TYPE.test(contentType)) ||
    (isHtml &&
      isSmall &&
      !hasMore &&
      !context.isErrorPage &&
      isMarkerVisible !== true &&
      (isOnlyError(text, title) || isOwnNotFound(text, title, heading)));
  if (isError) {
    // What fails on another host, such as a counter, is no cause of that.
    const own = findCause(events, ({ isOwn }) => isOwn);
    return `the page shows an error: ${toPlainLine(text, 160)}${own === '' ? '' : `: ${own}`}`;
  }
  if (isHtml && isWithoutData(sight, events, context)) {
    return `the page shows only "${toPlainLine(text, 160)}": ${toPlainLine(events.ownData.missing, 160)}`;
  }
  // A picture that moves is what was delivered.
  if (!isHtml || !isSmall) return '';
  if (isOnlyWaiting(text)) return withCause(`the page shows nothing but "${toPlainLine(text, 80)}"`, events);
  return text.trim() === '' && context.isMoving === true
    ? withCause('the page shows nothing but a small moving picture', events)
    : '';
}

/** The most that a page shows whose scripts got none of the data that they show, in characters. */
const LONGEST_WITHOUT_DATA = 200;

/** Whether all that is shown is made by scripts, and their own host lacks all that they asked for. */
function isWithoutData(
  { painted, isMarkerVisible }: PageSight,
  { ownData }: PageEvents,
  { isScripted = false, isErrorPage = false }: PageContext,
): boolean {
  const isShort = painted.characters <= LONGEST_WITHOUT_DATA && painted.images === 0;
  const gotNothing = ownData.missing !== '' && ownData.found === 0;
  return isScripted && gotNothing && isShort && !isErrorPage && isMarkerVisible !== true;
}

const isPainted = ({ painted }: PageSight): boolean =>
  painted.characters + painted.images + painted.drawings > 0;

function describeEndless({ dialogs, navigations }: PageEvents): string {
  if (navigations > ENDLESS) return 'the page goes from one address to the next without end';
  return dialogs > ENDLESS ? 'the page opens one dialog after the other' : '';
}

/** What no sight of the page can make up for. */
function describeWrongPage({ hasCrashed, httpCode, ledTo }: PageEvents): string {
  if (hasCrashed) return 'the page crashed';
  const isGood = httpCode === null || (httpCode >= 200 && httpCode <= 299);
  if (isGood) return '';
  return `the page ${ledTo === '' ? '' : `led to ${toPlainLine(ledTo, 160)}, which `}was answered with ${httpCode}`;
}

/** Nothing is painted before the style sheets are there. */
function describeSilence(events: PageEvents, isAnswering: boolean): string {
  const certain = describeWrongPage(events) || describeEndless(events);
  if (certain !== '' || !isAnswering) return certain || 'the page does not respond';
  const open = describeOpenRequest(events);
  return open === '' ? 'the page does not respond' : `the page is blank: ${open}`;
}

const describeOpenRequest = ({ openUrl }: PageEvents): string =>
  openUrl === undefined ? '' : toPlainLine(`still waiting for ${openUrl}`, 160);

/** @param otherwise what is said where no cause is known */
function withCause(text: string, events: PageEvents, otherwise = ''): string {
  const cause = findCause(events) || otherwise;
  return cause === '' ? text : `${text}: ${cause}`;
}

/** The most likely cause first. */
function findCause(events: PageEvents, isMeant = (_: PageEvents['failed'][number]) => true): string {
  const endless = describeEndless(events);
  if (endless !== '') return endless;
  const [exception] = events.exceptions.items;
  if (exception !== undefined) return toPlainLine(exception, 160);
  // What the page's own host lacks matters more than a counter or a font from elsewhere.
  const failed = events.failed.find(({ isOwn }) => isOwn) ?? events.failed.find(isMeant);
  if (failed !== undefined) return toPlainLine(`${failed.reason} ${failed.url}`, 160);
  return describeOpenRequest(events);
}

/** What a host or page does wrong by itself. Everything else may be the way to it, or this machine. */
const PAGE_ERRORS =
  /^net::ERR_((TOO_MANY|INVALID|UNSAFE)_REDIRECTS?|(UNKNOWN|DISALLOWED)_URL_SCHEME|BLOCKED_BY_(RESPONSE.*|CSP)|INVALID_URL|ABORTED)$/;

/** Judges a navigation that ended with one of the browser's error codes, such as `net::ERR_TOO_MANY_REDIRECTS`. */
export function judgeNavigationError(
  errorText: string,
  events: PageEvents,
  isDownload: boolean,
): PageJudgment {
  if (isDownload)
    return { verdict: 'not-shown', reason: 'the browser downloads the page instead of showing it' };
  // An answer without a page: the browser would show one of its own.
  if (errorText === 'net::ERR_HTTP_RESPONSE_CODE_FAILURE') return judge(null, events);
  if (PAGE_ERRORS.test(errorText)) {
    return { verdict: 'not-shown', reason: `the browser can't open the page: ${errorText}` };
  }
  return { verdict: 'not-checked', reason: `the browser can't reach the page: ${errorText}` };
}
