import type { ScreenFacts } from '../../browser/screen-view.ts';
import { neutralizeText } from '../../plain-text.ts';
import { type Delivery, mainAttempt } from '../delivery.ts';
import { describeView, formatShare } from './describe-view.ts';
import { hideOrigin } from './judge-view.ts';

/** What a browser saw of a page. All lists have at most ten texts, and all texts are bounded. */
export interface ScreenReport extends ScreenFacts {
  /** Whether it is the published page; else the local one, which was refused. */
  readonly isPublished: boolean;
  /** The share of pixels, from 0 to 1, that it has in common with the page before publishing; `null` if not known. */
  readonly agreement: number | null;
}

/** What a browser saw of a delivery's page; `null` where none was to look. */
export function reportScreen(delivery: Delivery): ScreenReport | null {
  const { localView, attempts } = delivery;
  const published = mainAttempt(delivery)?.screen ?? attempts.get('K1')?.screen ?? null;
  const view = published?.view ?? localView;
  if (view === null) return null;
  const { picture: _, ...facts } = view;
  const page = delivery.tasks.get('K1')?.served?.url;
  const clean = (text: string): string => neutralizeText(page === undefined ? text : hideOrigin(text, page));
  return {
    isPublished: published !== null,
    ...facts,
    reason: clean(view.reason),
    title: clean(view.title),
    exceptions: view.exceptions.map(clean),
    failedRequests: view.failedRequests.map(clean),
    blockedRequests: view.blockedRequests.map(clean),
    consoleErrors: view.consoleErrors.map(clean),
    agreement: published?.agreement ?? null,
  };
}

/** The part of the report's line TEST; empty where no browser has opened the page. */
export function describeScreen(delivery: Delivery): string[] {
  const screen = reportScreen(delivery);
  if (screen === null || screen.verdict === 'not-checked') return [];
  const { agreement } = screen;
  return [
    `screen: ${describeView({ ...screen, picture: null })}`,
    ...(agreement === null ? [] : [`same picture as before publishing: ${formatShare(agreement)}`]),
  ];
}
