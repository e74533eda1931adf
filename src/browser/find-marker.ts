import { withoutSpace } from '../plain-text.ts';
import type { PageBox } from './dom-types.ts';
import { evaluateApart, type OpenPage, SCROLL_BACK, takePicture } from './open-page.ts';
import { findDifference, hasContrast } from './pixels.ts';

const SEARCH_TIME = 3_000;

/** Uses the browser's search, which scrolls. A match is visible if selecting it changes pixels. */
export async function isMarkerOnPage(opened: OpenPage, marker: string): Promise<boolean> {
  const run = (expression: string): Promise<unknown> => evaluateApart(opened.page.mainFrame(), expression);
  await run(START_SEARCH);
  const searchText = JSON.stringify(marker.trim().replace(/\s+/g, ' '));
  const end = opened.clock.now() + SEARCH_TIME;
  for (let matches = 0; opened.clock.now() < end; matches += 1) {
    const area = (await run(`(${FIND_NEXT})(${searchText})`)) as PageBox | null;
    if (area === null) {
      await run(SCROLL_BACK);
      // The search doesn't match across paragraphs.
      const text = matches === 0 ? String(await run('document.body?.innerText')) : '';
      return withoutSpace(text).includes(withoutSpace(marker));
    }
    const { grid: selected } = await takePicture(opened);
    await run('getSelection().collapseToEnd()');
    const { grid } = await takePicture(opened);
    const changed = findDifference(selected, grid, area);
    if (changed !== null && hasContrast(grid, changed)) return true;
  }
  await run(SCROLL_BACK);
  return false;
}

/** Makes all text selectable, shows the selection, and scrolls without animation. */
const START_SEARCH = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(\`
    * { user-select: text !important; scroll-behavior: auto !important }
    *::selection { background: #f0f !important }
  \`);
  document.adoptedStyleSheets.push(sheet);
  getSelection().empty();
}`;

/** Scrolls the next match to the middle. A match in a shadow root measures 0. */
const FIND_NEXT = `(text) => {
  if (!find(text)) return null;
  const range = getSelection().getRangeAt(0);
  const scrollTo = (box, { x, y, width, height }) => {
    const area = range.getBoundingClientRect();
    if (area.width > 0) box.scrollBy(area.x - x - width / 2, area.y - y - height / 2);
  };
  for (let box = range.startContainer.parentElement; box !== null; box = box.parentElement) {
    scrollTo(box, box.getBoundingClientRect());
  }
  scrollTo(window, { x: 0, y: 0, width: innerWidth, height: innerHeight });
  return range.getBoundingClientRect().toJSON();
}`;
