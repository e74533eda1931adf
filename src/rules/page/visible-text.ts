import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import { withoutSpace } from '../../plain-text.ts';
import { getAttribute, hasAttribute } from './addresses.ts';
import { type PageTree, parsePage } from './parse-page.ts';

/** Elements whose text a browser does not show on the page, or only after a person or a script did something. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set([
  ...['head', 'title', 'style', 'script', 'template', 'noscript', 'noframes', 'noembed', 'datalist'],
  ...['iframe', 'object', 'video', 'audio', 'canvas', 'progress', 'meter', 'rp', 'select', 'textarea'],
]);

const HIDDEN_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0\s*(?:;|!|$))/i;

/** Whether a browser shows a text of a page. @param text as it is in the source, with or without markup */
export function showsText(page: PageTree, text: string): boolean {
  const plain = readVisibleText(text);
  return plain !== '' && readShownText(page).includes(plain);
}

/** The text of a page, as `readShownText` has it. */
export const readVisibleText = (html: string): string => readShownText(parsePage(html));

/** The text that a browser shows of a page, without spaces, as far as no style sheet or script hides or adds any. */
function readShownText({ document }: PageTree): string {
  let shown = '';
  const pending: Dom.Node[] = [document];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.nodeName === '#text' && 'value' in node) shown += withoutSpace(node.value);
    if (!('childNodes' in node)) continue;
    if ('attrs' in node && (WITHOUT_TEXT.has(node.nodeName) || hidesItself(node))) continue;
    for (const child of shownChildren(node).toReversed()) pending.push(child);
  }
  return shown;
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
