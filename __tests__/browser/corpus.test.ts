import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ScreenView } from '../../src/browser/screen-view.ts';
import { BLANK_PAGES, type CorpusPage, REPORTED_PAGES, SHOWN_PAGES } from './corpus.ts';
import { isSaid, reportPages, viewPages } from './view-pages.ts';

/** Every second page, because each needs a second of a processor: `npm run corpus` judges all of them. */
const isChosen = (_page: CorpusPage, index: number): boolean => index % 2 === 0;
const BLANK = BLANK_PAGES.filter(isChosen);
const SHOWN = SHOWN_PAGES.filter(isChosen);

let views: ReadonlyMap<string, ScreenView>;
let said: ReadonlyMap<string, string>;

beforeAll(async () => {
  views = await viewPages([...BLANK, ...SHOWN]);
  said = await reportPages(REPORTED_PAGES);
}, 600_000);

describe('a page that shows a person nothing', () => {
  test.each(BLANK)('is not shown: $name', ({ name, reason = '' }) => {
    expect(views.get(name)).toMatchObject({ verdict: 'not-shown', reason: expect.stringContaining(reason) });
  });
});

describe('a page that a person sees', () => {
  test.each(SHOWN)('is shown: $name', ({ name, marker, tags = '' }) => {
    const view = views.get(name);
    expect(view?.unfilledTags.join(' ')).toBe(tags);
    expect(view).toMatchObject({
      verdict: 'shown',
      reason: '',
      isMarkerVisible: marker === undefined ? null : true,
    });
  });
});

describe('a page that is broken or needs other hosts', () => {
  test.each(REPORTED_PAGES)('is refused, or named in UNKNOWN: $name', ({ name, says }) => {
    expect(isSaid(says, said.get(name)) ? says : said.get(name)).toBe(says);
  });
});
