import { withoutSpace } from '../plain-text.ts';
import type { PageBox } from './dom-types.ts';
import { evaluateApart, type OpenPage, takePicture } from './open-page.ts';
import { findDifference, hasContrast } from './pixels.ts';

/** Places of a marker that are looked at, of those that the browser's search finds, and milliseconds for them. */
const MARKER_PLACES = { looked: 12, found: 50, time: 1_500 } as const;

/**
 * Whether the marker is in the pixels, anywhere on the page: it is scrolled to.
 *
 * @param text what is seen in the window
 */
export async function isVisibleMarker(opened: OpenPage, marker: string, text: string): Promise<boolean> {
  const isIn = (shown: string): boolean => withoutSpace(shown).includes(withoutSpace(marker));
  if (isIn(text)) return true;
  const end = opened.clock.now() + MARKER_PLACES.time;
  let next = 0;
  for (let looked = 0; looked < MARKER_PLACES.looked && opened.clock.now() < end; looked += 1) {
    const place = await lookAtMarker(opened, marker, next);
    if (place.isSeen) return true;
    // The search ends at the end of a paragraph.
    if (place.number === null) return isIn(text + place.text);
    next = place.number + 1;
  }
  return false;
}

interface MarkerPlace {
  /** Of the place, from zero; `null` where there are no more. */
  readonly number: number | null;
  /** Empty for what is in a shadow root. */
  readonly box: PageBox;
  /** Of the whole page where the search finds nothing in it; else empty. */
  readonly text: string;
}

/** Selects the next place of the marker, and looks whether this changes the pixels, and what they are without it. */
async function lookAtMarker(
  opened: OpenPage,
  marker: string,
  first: number,
): Promise<MarkerPlace & { readonly isSeen: boolean }> {
  const main = opened.page.mainFrame();
  try {
    const place = (await evaluateApart(
      main,
      `(${SELECT_MARKER})(${JSON.stringify(marker)}, ${first})`,
    )) as MarkerPlace;
    if (place.number === null) return { ...place, isSeen: false };
    const { grid: selected } = await takePicture(opened);
    await evaluateApart(main, 'getSelection().empty()');
    const { grid } = await takePicture(opened);
    const changed = findDifference(selected, grid, place.box);
    return { ...place, isSeen: changed !== null && hasContrast(grid, changed) };
  } finally {
    await evaluateApart(main, 'globalThis.endSearch?.()');
  }
}

/**
 * Selects a place at which the browser's own search finds a text, and scrolls to it, in inner boxes as well. What this changes
 * in the page is undone by `endSearch`.
 */
const SELECT_MARKER = `(marker, first) => {
  const selection = getSelection();
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(\`
    * { user-select: text !important; scroll-behavior: auto !important }
    *::selection { background: #f0f !important }
  \`);
  document.adoptedStyleSheets.push(sheet);
  const scrolled = [...document.querySelectorAll('*')]
    .filter((one) => one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth)
    .map((one) => [one, { top: one.scrollTop, left: one.scrollLeft, behavior: 'instant' }]);
  globalThis.endSearch = () => {
    selection.empty();
    for (const [one, place] of scrolled) one.scrollTo(place);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  };
  const root = document.scrollingElement ?? document.documentElement;
  const scrollTo = (range, element) => {
    for (let one = element; one !== null; one = one.parentElement) {
      const { x, y, width, height } = range.getBoundingClientRect();
      if (width < 1 || (one !== root && !/auto|scroll/.test(getComputedStyle(one).overflow))) continue;
      const view = one === root ? new DOMRect(0, 0, innerWidth, innerHeight) : one.getBoundingClientRect();
      const isIn = x >= view.left && x + width <= view.right && y >= view.top && y + height <= view.bottom;
      const [left, top] = [x - view.x - view.width / 2, y - view.y - view.height / 2];
      if (!isIn) one.scrollBy({ left, top, behavior: 'instant' });
    }
  };
  selection.empty();
  const words = marker.trim().replace(/\\s+/g, ' ');
  let number = 0;
  for (; number < ${MARKER_PLACES.found} && find(words); number += 1) {
    const range = selection.getRangeAt(0);
    const { startContainer: start } = range;
    const element = start.nodeType === 1 ? start : start.parentElement;
    const isShown = element?.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
    if (number < first || !isShown) continue;
    scrollTo(range, element);
    const { x, y, width, height } = range.getBoundingClientRect();
    const isAside = width >= 1 && (x + width <= 0 || y + height <= 0 || x >= innerWidth || y >= innerHeight);
    if (!isAside) return { number, box: { x, y, width, height }, text: '' };
  }
  return { number: null, box: new DOMRect().toJSON(), text: number === 0 ? (document.body?.innerText ?? '') : '' };
}`;
