import type { PageEvents } from './page-events.ts';
import { containsMarker, isOnlyWaiting, toPlainLine } from './page-text.ts';
import type { ScreenVerdict } from './screen-view.ts';
import type { PageSight } from './view-page.ts';

/** Why a page counts as shown or not. */
export interface Judgment {
  readonly verdict: ScreenVerdict;
  readonly reason: string;
}

/** Judges what was seen of a page; `null` where the page never answered a look. */
export function judge(sight: PageSight | null, events: PageEvents, marker: string | undefined): Judgment {
  const reason = findReason(sight, events, marker);
  return { verdict: reason === '' ? 'shown' : 'not-shown', reason };
}

function findReason(sight: PageSight | null, events: PageEvents, marker: string | undefined): string {
  const { httpCode } = events;
  if (events.hasCrashed) return 'the page crashed';
  if (httpCode !== null && (httpCode < 200 || httpCode > 299))
    return `the page was answered with ${httpCode}`;
  if (sight === null) return describeSilence(events);
  if (!isPainted(sight)) return describeBlank(events);
  if (isWaiting(sight)) return `it only shows "${toPlainLine(sight.text, 80)}"`;
  if (marker !== undefined && !containsMarker(sight.text, marker)) return 'the marker is not visible';
  return '';
}

export const isPainted = ({ painted }: PageSight): boolean =>
  painted.characters + painted.images + painted.drawings > 0;

export const isWaiting = ({ painted, text }: PageSight): boolean =>
  painted.images + painted.drawings === 0 && isOnlyWaiting(text);

function describeSilence({ dialogs, navigations }: PageEvents): string {
  if (dialogs > 5) return 'it opens one dialog after the other';
  if (navigations > 5) return 'it goes from one address to the next without end';
  return 'it does not respond';
}

/** The most likely reason first. */
function describeBlank({ exceptions, failed, navigations, dialogs }: PageEvents): string {
  const [exception] = exceptions.items;
  if (navigations > 5) return 'it is blank: it goes from one address to the next without end';
  if (dialogs > 5) return 'it is blank: it opens one dialog after the other';
  if (exception !== undefined) return `it is blank: ${toPlainLine(exception, 160)}`;
  const [first] = failed;
  if (first !== undefined) return `it is blank: ${toPlainLine(`${first.reason} ${first.url}`, 160)}`;
  return 'it is blank: no text, image or drawing can be seen';
}
