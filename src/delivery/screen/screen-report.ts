import {
  createUncheckedView,
  type FailedRequest,
  formatRequest,
  isOwnRequest,
  type ScreenFacts,
  type ScreenView,
} from '../../browser/screen-view.ts';
import { DeliveryError } from '../../errors.ts';
import { formatSeconds, lineIf, nameFew, shorten } from '../../plain-text.ts';
import { SCREEN } from '../../protocol/limits.ts';
import { VISIT_COUNTERS } from '../../rules/page/visit-counters.ts';
import type { Text } from '../../words.ts';
import { attemptIn, type Delivery } from '../delivery.ts';

/** What a browser saw of a page. Lists have at most ten texts. */
export interface ScreenReport extends ScreenFacts {
  /** Whether it is the published page, or the refused local page. */
  readonly isPublished: boolean;
  /** The share of pixels, from 0 to 1, that match the local page; `null` if not known. */
  readonly agreement: number | null;
}

const MOST_LISTED = 10;

/** What a browser saw of a delivery's page; `null` without a browser check. */
export function reportScreen(delivery: Delivery): ScreenReport | null {
  const { localView, attempts } = delivery;
  const published = attempts[0]?.screen ?? attemptIn(delivery, 'K1')?.screen ?? null;
  const view = published?.view ?? localView;
  if (view === null) return null;
  const { picture: _, text: __, cause: ___, ...facts } = view;
  const lists = [...KINDS.map(([key]) => key), 'otherHosts' as const].map((key) => [
    key,
    view[key].slice(0, MOST_LISTED),
  ]);
  const agreement = published?.agreement ?? null;
  return { isPublished: published !== null, ...facts, ...Object.fromEntries(lists), agreement };
}

/** For TEST; empty if no browser opened the page. */
export function describeScreen(screen: ScreenReport | null): string[] {
  if (screen === null || screen.verdict === 'not-checked') return [];
  const { agreement } = screen;
  return [
    `screen: ${describeView(screen)}`,
    ...(agreement === null ? [] : [`same picture as before publishing: ${formatShare(agreement)}`]),
  ];
}

/** What a browser saw, such as `shown (42 characters, 1 image; 0.8 s; HeadlessChrome/147.0)`. */
export function describeView(view: ScreenFacts): string {
  const { verdict, reason, painted, elapsed, browser } = view;
  const seen = (['character', 'image', 'drawing'] as const).flatMap((word) => {
    const count = painted[`${word}s`];
    return count === 0 ? [] : [`${count} ${word}${count === 1 ? '' : 's'}`];
  });
  const details = [
    verdict === 'shown' ? seen.join(', ') : reason,
    elapsed === 0 ? '' : formatSeconds(elapsed),
    browser,
  ].filter((part) => part !== '');
  return `${verdict.replace('-', ' ')}${details.length === 0 ? '' : ` (${details.join('; ')})`}`;
}

/** A share as percent, such as `12 %` or `0.4 %`. */
export function formatShare(share: number): string {
  const percent = share * 100;
  // Rounding must not turn nearly all into all.
  if (percent < 100 && percent > 99) return `${(Math.floor(percent * 10) / 10).toFixed(1)} %`;
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** For UNKNOWN: why no browser has opened a page, and what its own text shows. */
export const describeUnseen = (reason: string, hint = '', unfilledTags: readonly string[] = []): string[] => [
  `whether a browser shows the page: ${reason}${hint === '' ? '' : ` (${hint})`}`,
  ...listProblems({ ...createUncheckedView(reason), unfilledTags }),
];

/**
 * Fails a page that shows nothing. Other problems are in UNKNOWN, or fail with `screen: enforce`.
 * A fault of the browser itself only leaves the page unknown.
 *
 * @param refusesHosts whether a page that requests other hosts is refused
 * @param known URLs that UNKNOWN already names as missing
 */
export function judgeView(
  view: ScreenView,
  isEnforced: boolean,
  refusesHosts = false,
  known: readonly string[] = [],
) {
  const { verdict, reason, hint, overflow } = view;
  const hosts = describeHosts(view);
  const failure = findFailure(view, isEnforced) ?? (refusesHosts ? otherHostsError(view) : null);
  const isShown = verdict === 'shown';
  const failedRequests = view.failedRequests.filter(({ url }) => !known.includes(url));
  const seen = isShown
    ? [...listProblems({ ...view, failedRequests }), ...hosts]
    : describeUnseen(reason, hint, view.unfilledTags);
  return {
    failure,
    notes: lineIf(isShown && overflow > 0, `at the width of a phone the page is ${overflow} pixels too wide`),
    unknown: failure === null ? seen : [],
  };
}

function describeHosts({ otherHosts }: ScreenView): readonly string[] {
  const named = otherHosts.map(({ host, requests }) => `${host} (${requests})`);
  return lineIf(named.length > 0, `requests to other hosts: ${nameFew(named, NAMED)}`);
}

function otherHostsError(view: ScreenView): DeliveryError | null {
  const otherHosts = view.otherHosts.filter(({ host }) => !VISIT_COUNTERS.host.test(host));
  if (view.verdict !== 'shown' || otherHosts.length === 0) return null;
  const [line] = describeHosts({ ...view, otherHosts });
  return new DeliveryError('NOT_SHOWN', `the page is not self-contained when a browser opens it: ${line}`, {
    hint: (w) =>
      `put what its scripts load into the page${w.orSet('self-contained', 'warn', ', which only names it')}`,
  });
}

const isLacking = (request: FailedRequest): boolean => isOwnRequest(request) && /^4\d\d$/.test(request.error);

function findFailure(view: ScreenView, isEnforced: boolean): DeliveryError | null {
  if (view.verdict === 'not-shown') {
    const further = listProblems({ ...view, isMarkerVisible: null }, view.cause);
    const evidence = [view.reason, ...further].join('; ');
    return new DeliveryError('NOT_SHOWN', `a browser does not show the page: ${evidence}`, {
      hint: view.hint || hintFor(view),
    });
  }
  if (!isEnforced) return null;
  if (view.verdict === 'not-checked') return uncheckedError(view);
  const problems = listProblems(view);
  if (problems.length === 0) return null;
  return new DeliveryError('NOT_SHOWN', `a browser shows the page with errors: ${problems.join('; ')}`, {
    hint: (w) => `correct the page${w.orSet('screen', 'auto', ', which only names them')}`,
  });
}

function uncheckedError({ reason, hint, httpCode }: ScreenView): DeliveryError {
  const missing =
    httpCode === null ? 'no browser has opened the page' : "a browser can't tell whether the page is shown";
  return new DeliveryError('NOT_SHOWN', `${missing}: ${reason}`, {
    hint: (w) =>
      hint === ''
        ? `set ${w.input('screen', 'auto')} to deliver without a browser`
        : `${hint}${w.orSet('screen', 'auto', ' to deliver without a browser')}`,
  });
}

function hintFor({ httpCode, isMarkerVisible, cause, failedRequests, painted }: ScreenView): Text {
  const lacking = failedRequests.find((request) => isLacking(request) && formatRequest(request) === cause);
  if (lacking !== undefined) {
    return (w) =>
      `deliver a folder in which the page finds ${lacking.url}, or write the data into the page${w.orSet('screen', 'off', ', which skips this check')}`;
  }
  if (isMarkerVisible === false && httpCode === 200) {
    return (w) => `correct the page, or set ${w.input('marker')} to a text on it`;
  }
  const elsewhere = failedRequests.find(({ url }) => /^https?:/.test(url));
  const copy =
    elsewhere === undefined
      ? ''
      : `deliver copies of files from other hosts (here: ${formatRequest(elsewhere)}), or `;
  const isBlank = painted.characters + painted.images + painted.drawings === 0;
  const way = isBlank
    ? 'correct the styles or scripts that keep it blank'
    : 'correct what its scripts load or compute';
  return (w) =>
    `${copy || `${way}, or `}write into the HTML what the page must show${w.orSet('screen', 'off', ', which skips this check')}`;
}

const KINDS = [
  ['exceptions', 'uncaught exception'],
  ['failedRequests', 'not loaded'],
  ['blockedRequests', 'request to an internal address, which was blocked'],
  ['consoleErrors', 'console error'],
  ['unfilledTags', 'template tag that nothing filled in'],
] as const;

/** Several problems of each kind are named, because the first may matter least. */
const NAMED = 3;

/** The first problems of each kind. @param known a problem to leave out */
function listProblems(view: ScreenView, known = ''): string[] {
  const texts = { ...view, failedRequests: view.failedRequests.map(formatRequest) };
  const lines = KINDS.flatMap(([key, kind]) => {
    const found = texts[key].filter((text) => text !== known);
    const more = found.length - NAMED;
    return found
      .slice(0, NAMED)
      .map((text) => `${kind}: ${shorten(text, SCREEN.text)}`)
      .map((line, at) => (at === NAMED - 1 && more > 0 ? `${line} and ${more} more` : line));
  });
  return view.isMarkerVisible === false ? [...lines, 'the expected text is not visible on the page'] : lines;
}
