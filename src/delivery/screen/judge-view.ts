import type { ScreenView } from '../../browser/screen-view.ts';
import { DeliveryError } from '../../errors.ts';
import { SCREEN } from '../../protocol/limits.ts';
import type { ScreenMode } from '../../request/values.ts';
import type { Words } from '../../words.ts';
import type { PlaceProblem } from './compare-root.ts';

/** What a browser's view of a page means for its delivery. */
interface ScreenJudgement {
  /** Why the page is not ready; `null` where it may be handed over. */
  readonly failure: DeliveryError | null;
  /** What a person should know of the page. */
  readonly notes: readonly string[];
  /** What was not looked at. */
  readonly unknown: readonly string[];
}

const WHAT_IS_UNKNOWN = 'whether a browser shows the page';

/** For UNKNOWN: why no browser has opened a page. */
export const describeUnseen = (reason: string, hint = ''): string =>
  `${WHAT_IS_UNKNOWN}: ${reason}${hint === '' ? '' : ` (${hint})`}`;

/**
 * Judges what a browser saw. A page that shows nothing is not ready; what else went wrong is a note, or fails
 * with `enforce`, which needs a browser too. A fault of the browser itself fails nothing else.
 *
 * @param page the address that was opened: its host is left out of all texts, so that nothing hands it over
 * @see design 7
 */
export function judgeView(view: ScreenView, mode: Exclude<ScreenMode, 'off'>, page: URL): ScreenJudgement {
  const reason = hideOrigin(view.reason, page);
  if (isUnchecked(view, page)) {
    const unseen = describeUnseen(reason, view.hint);
    return mode === 'enforce' ? failWith(uncheckedError(reason, view)) : { ...OK, unknown: [unseen] };
  }
  const problems = listProblems(view, page);
  if (view.verdict === 'not-shown') {
    const further = problems.filter((line) => !isPartOf(line, reason));
    return failWith(notShownError([reason, ...further], view, page));
  }
  const notes = [...problems, ...listRemarks(view)];
  return mode === 'enforce' && problems.length > 0
    ? { ...failWith(faultyPageError(problems)), notes: listRemarks(view) }
    : { ...OK, notes };
}

const OK: ScreenJudgement = { failure: null, notes: [], unknown: [] };

const failWith = (failure: DeliveryError): ScreenJudgement => ({ ...OK, failure });

/**
 * Whether the browser saw nothing of the page. The address was fetched back before: where no connection to it
 * could be made, the fault is in the browser's own way to the network.
 */
function isUnchecked({ verdict, httpCode, failedRequests }: ScreenView, { href }: URL): boolean {
  const isUnconnected = failedRequests.some(
    (line) => line.startsWith('net::ERR_') && line.endsWith(` ${href}`),
  );
  return verdict === 'not-checked' || (httpCode === null && isUnconnected);
}

function uncheckedError(reason: string, { hint, httpCode }: ScreenView): DeliveryError {
  const missing =
    httpCode === null ? 'no browser has opened the page' : 'a browser can not tell whether the page is shown';
  return new DeliveryError('NOT_SHOWN', `${missing}: ${reason}`, {
    hint: (w) =>
      `${hint === '' ? '' : `${hint}; or `}set ${w.input('screen', 'auto')} to deliver without a browser`,
  });
}

const BLANK_HINT = (w: Words) =>
  `open the page in a browser with its developer tools; ${w.input('screen', 'off')} delivers it without a look`;
const MARKER_HINT = (w: Words) => `correct the page, or set ${w.input('marker')} to a text on it`;

function notShownError(
  evidence: readonly string[],
  { httpCode, hint, isMarkerVisible, reason, failedRequests }: ScreenView,
  { origin }: URL,
): DeliveryError {
  const lacking = failedRequests
    .map((line) => /^4\d\d (\S+)$/.exec(line)?.[1] ?? '')
    .find((address) => address.startsWith(`${origin}/`) && reason.includes(address));
  const isWithoutMarker = isMarkerVisible === false && httpCode === 200;
  return new DeliveryError('NOT_SHOWN', `a browser does not show the page: ${evidence.join('; ')}`, {
    hint:
      hint ||
      (lacking !== undefined ? lackingHint(lacking.slice(origin.length)) : undefined) ||
      (isWithoutMarker ? MARKER_HINT : BLANK_HINT),
  });
}

const lackingHint = (path: string) => (w: Words) =>
  `put what the page asks for into the folder that is delivered, or correct its address: ${path}; ${w.input('screen', 'off')} delivers it without a look`;

/** A page that was built for another place. */
export const lostPageError = ({ hint }: PlaceProblem): DeliveryError =>
  new DeliveryError(
    'NOT_SHOWN',
    'the page shows in its folder only what it shows at any path for which nothing was built',
    { hint },
  );

function faultyPageError(problems: readonly string[]): DeliveryError {
  return new DeliveryError('NOT_SHOWN', `a browser shows the page with errors: ${problems.join('; ')}`, {
    hint: (w) => `correct the page, or set ${w.input('screen', 'auto')}, which only notes them`,
  });
}

/** What went wrong on the page, a line for each kind. */
function listProblems(view: ScreenView, page: URL): string[] {
  const { counts } = view;
  const kinds = [
    ['uncaught exception', counts.exceptions, view.exceptions],
    ['failed request', counts.failedRequests, view.failedRequests],
    ['request to an internal address, which was blocked', counts.blockedRequests, view.blockedRequests],
    ['console error', counts.consoleErrors, view.consoleErrors],
  ] as const;
  const lines = kinds.flatMap(([kind, count, [first]]) => {
    if (count === 0) return [];
    const more = count > 1 ? ` and ${count - 1} more` : '';
    return [
      first === undefined ? `${kind}: ${count}` : `${kind}: ${cutText(hideOrigin(first, page))}${more}`,
    ];
  });
  return view.isMarkerVisible === false ? [...lines, 'the marker is not visible on the page'] : lines;
}

/** What is no fault. */
const listRemarks = ({ overflow }: ScreenView): string[] =>
  overflow > 0 ? [`at the width of a phone the page is ${overflow} pixels too wide`] : [];

/** Whether the reason says the same, in as many words. */
const isPartOf = (problem: string, reason: string): boolean =>
  reason.includes(problem.slice(problem.indexOf(': ') + 2).replace(/ and \d+ more$|…$/, ''));

const cutText = (text: string): string =>
  text.length > SCREEN.text ? `${text.slice(0, SCREEN.text).toWellFormed()}…` : text;

/** The text with addresses of the page's own host as paths. */
export const hideOrigin = (text: string, { origin }: URL): string =>
  text.replaceAll(`${origin}/`, '/').replaceAll(origin, '');
