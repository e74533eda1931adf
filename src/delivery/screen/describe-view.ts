import type { ScreenVerdict, ScreenView } from '../../browser/screen-view.ts';
import { SECOND } from '../../protocol/limits.ts';

const VERDICTS: Readonly<Record<ScreenVerdict, string>> = {
  shown: 'shown',
  'not-shown': 'not shown',
  'not-checked': 'not checked',
};

/** What a browser saw, in a few words, such as `shown (42 characters, 1 image; 0.8 s; HeadlessChrome/147.0)`. */
export function describeView(view: ScreenView): string {
  const { verdict, reason, painted, elapsed, browser } = view;
  const amounts = [
    [painted.characters, 'character'],
    [painted.images, 'image'],
    [painted.drawings, 'drawing'],
  ] as const;
  const seen = amounts.flatMap(([count, word]) =>
    count === 0 ? [] : [`${count} ${word}${count === 1 ? '' : 's'}`],
  );
  const details = [
    verdict === 'shown' ? seen.join(', ') : reason,
    elapsed === 0 ? '' : `${(elapsed / SECOND).toFixed(1)} s`,
    browser,
  ].filter((part) => part !== '');
  return details.length === 0 ? VERDICTS[verdict] : `${VERDICTS[verdict]} (${details.join('; ')})`;
}

/** A share from 0 to 1 in percent, such as `12 %` or `0.4 %`. */
export function formatShare(share: number): string {
  const percent = share * 100;
  const isSmall = percent > 0 && percent < 10;
  // Rounding must not turn nearly all into all.
  return percent < 100 && percent > 99
    ? `${(Math.floor(percent * 10) / 10).toFixed(1)} %`
    : `${isSmall ? percent.toFixed(1) : Math.round(percent)} %`;
}
