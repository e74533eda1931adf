import type { ScreenFacts } from '../../browser/screen-view.ts';
import { formatSeconds } from '../../plain-text.ts';
import { attemptIn, type Delivery } from '../delivery.ts';

/** What a browser saw of a page. All lists have at most ten texts, and all texts are bounded. */
export interface ScreenReport extends ScreenFacts {
  /** How many there were in all, with those that are not listed; at most 1,000. */
  readonly counts: {
    readonly exceptions: number;
    readonly failedRequests: number;
    readonly blockedRequests: number;
    readonly consoleErrors: number;
  };
  /** Whether it is the published page; else the local one, which was refused. */
  readonly isPublished: boolean;
  /** The share of pixels, from 0 to 1, that it has in common with the page before publishing; `null` if not known. */
  readonly agreement: number | null;
}

const MOST_LISTED = 10;

/** What a browser saw of a delivery's page; `null` where none was to look. */
export function reportScreen(delivery: Delivery): ScreenReport | null {
  const { localView, attempts } = delivery;
  const published = attempts[0]?.screen ?? attemptIn(delivery, 'K1')?.screen ?? null;
  const view = published?.view ?? localView;
  if (view === null) return null;
  const { picture: _, ...facts } = view;
  const ofEach = <T>(read: (list: readonly string[]) => T) => ({
    exceptions: read(view.exceptions),
    failedRequests: read(view.failedRequests),
    blockedRequests: read(view.blockedRequests),
    consoleErrors: read(view.consoleErrors),
  });
  const lists = ofEach((list) => list.slice(0, MOST_LISTED));
  const counts = ofEach(({ length }) => length);
  const agreement = published?.agreement ?? null;
  return { isPublished: published !== null, ...facts, ...lists, counts, agreement };
}

/** The part of the report's line TEST; empty where no browser has opened the page. */
export function describeScreen(delivery: Delivery): string[] {
  const screen = reportScreen(delivery);
  if (screen === null || screen.verdict === 'not-checked') return [];
  const { agreement } = screen;
  return [
    `screen: ${describeView(screen)}`,
    ...(agreement === null ? [] : [`same picture as before publishing: ${formatShare(agreement)}`]),
  ];
}

/** What a browser saw, in a few words, such as `shown (42 characters, 1 image; 0.8 s; HeadlessChrome/147.0)`. */
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

/** A share from 0 to 1 in percent, such as `12 %` or `0.4 %`. */
export function formatShare(share: number): string {
  const percent = share * 100;
  // Rounding must not turn nearly all into all.
  if (percent < 100 && percent > 99) return `${(Math.floor(percent * 10) / 10).toFixed(1)} %`;
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}
