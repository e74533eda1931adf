import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ScreenView } from '../../src/browser/screen-view.ts';
import { BLANK_PAGES, type CorpusPage, SHOWN_PAGES } from './corpus.ts';
import { viewPages } from './view-pages.ts';

/** Every second page, because each needs a second of a processor: `npm run corpus` judges all of them. */
const isChosen = (_page: CorpusPage, index: number): boolean => index % 2 === 0;
const BLANK = BLANK_PAGES.filter(isChosen);
const SHOWN = SHOWN_PAGES.filter(isChosen);

let views: ReadonlyMap<string, ScreenView>;

beforeAll(async () => {
  views = await viewPages([...BLANK, ...SHOWN]);
}, 600_000);

describe('a page that shows a person nothing', () => {
  test.each(BLANK)('is not shown: $name', ({ name, reason = '' }) => {
    expect(views.get(name)).toMatchObject({ verdict: 'not-shown', reason: expect.stringContaining(reason) });
  });
});

describe('a page that a person sees', () => {
  test.each(SHOWN)('is shown: $name', ({ name, marker }) => {
    expect(views.get(name)).toMatchObject({
      verdict: 'shown',
      reason: '',
      isMarkerVisible: marker === undefined ? null : true,
    });
  });
});
