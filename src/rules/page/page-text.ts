import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import type { PageText } from '../changed-pages.ts';
import { getAttribute } from './addresses.ts';
import { parsePage } from './parse-page.ts';
import { listShownTexts } from './visible-text.ts';

/** What stands between the name of a page and the name of its site. */
const TITLE_SEPARATOR = /\s+(?:[|·•—–-]|::)\s+/;

/** The visible text of a page in blocks, without navigation: a block that only links to other pages is navigation. */
export function readPageText(html: string): PageText {
  const page = parsePage(html);
  const blocks: { block: Dom.Node; text: string; leads: boolean; hasWords: boolean }[] = [];
  for (const { text, block, link } of listShownTexts(page, isNavigation)) {
    if (blocks.at(-1)?.block !== block) blocks.push({ block, text: '', leads: false, hasWords: false });
    const [last] = blocks.slice(-1);
    if (last === undefined) continue;
    last.text += text;
    if (leadsAway(link)) last.leads = true;
    // Between links there may be signs, such as arrows.
    else last.hasWords ||= /[\p{L}\p{N}]/u.test(text);
  }
  const title = collapse(findTitle(page.document));
  const shown = blocks.flatMap(({ text, leads, hasWords }) => (leads && !hasWords ? [] : collapse(text)));
  return { title, blocks: [...title.split(TITLE_SEPARATOR), ...shown].filter((text) => text !== '') };
}

const collapse = (text: string): string => text.replace(/\s+/g, ' ').trim();

const isNavigation = (element: Dom.Element): boolean =>
  element.nodeName === 'nav' || getAttribute(element, 'role').toLowerCase() === 'navigation';

const leadsAway = (link: Dom.Element | null): boolean =>
  link !== null && /^[^#]/.test(getAttribute(link, 'href'));

/** The text of the head's title. */
function findTitle(document: Dom.Document): string {
  let nodes: readonly Dom.Node[] = document.childNodes;
  for (const name of ['html', 'head', 'title']) {
    const [found] = nodes.filter(({ nodeName }) => nodeName === name);
    nodes = found !== undefined && 'childNodes' in found ? found.childNodes : [];
  }
  return nodes.map((node) => ('value' in node ? node.value : '')).join('');
}
