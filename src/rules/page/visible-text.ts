import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import { withoutSpace } from '../../plain-text.ts';
import { getAttribute, hasAttribute } from './addresses.ts';
import { TEMPLATE_TAG } from './page-file.ts';
import { type PageTree, parsePage } from './parse-page.ts';

/** Elements with text that a browser does not show, or only after a person or script acts. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set([
  ...['head', 'title', 'style', 'script', 'template', 'noscript', 'noframes', 'noembed', 'datalist'],
  ...['iframe', 'object', 'video', 'audio', 'canvas', 'progress', 'meter', 'rp', 'select', 'textarea'],
]);

const HIDDEN_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0\s*(?:;|!|$))/i;

/** Whether a browser shows a text on a page. @param text from the source, with or without markup */
export function showsText(page: PageTree, text: string): boolean {
  const plain = readVisibleText(text);
  return plain !== '' && readShownText(page).includes(plain);
}

/** The visible text of a page, without spaces. */
export const readVisibleText = (html: string): string => readShownText(parsePage(html));

/** Template tags that a browser shows, of a page without a script that could fill them in. */
export function findUnfilledTags(html: string): readonly string[] {
  if (/<script\b/i.test(html)) return [];
  const texts = [...listShownTexts(parsePage(html), /^(?:code|pre|samp|kbd)$/)];
  return [...new Set(texts.flatMap((text) => TEMPLATE_TAG.exec(text)?.[0] ?? []))];
}

const readShownText = (page: PageTree): string => [...listShownTexts(page)].map(withoutSpace).join('');

/** The visible texts, without the effects of style sheets and scripts. @param skipped names of elements to leave out */
function* listShownTexts({ document }: PageTree, skipped = /^$/): Generator<string, void, undefined> {
  const pending: Dom.Node[] = [document];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.nodeName === '#text' && 'value' in node) yield node.value;
    if (!('childNodes' in node)) continue;
    const isHidden = WITHOUT_TEXT.has(node.nodeName) || skipped.test(node.nodeName);
    if ('attrs' in node && (isHidden || hidesItself(node))) continue;
    for (const child of shownChildren(node).toReversed()) pending.push(child);
  }
}

function shownChildren(node: Dom.ParentNode): readonly Dom.ChildNode[] {
  const isClosed = 'attrs' in node && node.nodeName === 'details' && !hasAttribute(node, 'open');
  return isClosed ? node.childNodes.filter((child) => child.nodeName === 'summary') : node.childNodes;
}

function hidesItself(element: Dom.Element): boolean {
  return (
    hasAttribute(element, 'hidden') ||
    hasAttribute(element, 'popover') ||
    (element.nodeName === 'dialog' && !hasAttribute(element, 'open')) ||
    HIDDEN_STYLE.test(getAttribute(element, 'style'))
  );
}
