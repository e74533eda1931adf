import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import { withoutSpace } from '../../plain-text.ts';
import { getAttribute, hasAttribute } from './addresses.ts';
import { parsePage } from './parse-page.ts';

/** Elements whose text no browser shows: what names the page, and what replaces an element that does not work. */
const NEVER_SHOWN: ReadonlySet<string> = new Set([
  ...['title', 'style', 'template', 'noscript', 'noframes', 'noembed', 'datalist'],
  ...['iframe', 'object', 'video', 'audio', 'canvas', 'progress', 'meter', 'rp'],
]);

/** Elements whose text a browser does not show on the page, or only after a person or a script did something. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set([...NEVER_SHOWN, 'head', 'script', 'select', 'textarea']);

const HIDDEN_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0\s*(?:;|!|$))/i;

/**
 * Whether a browser may show a text of a page. Scripts may show what they hold, and a person opens details; no
 * attribute, comment, title or hidden element counts.
 *
 * @param text as it is in the source, with or without markup
 */
export function mayShowText(html: string, text: string): boolean {
  const plain = readVisibleText(text);
  if (plain === '') return false;
  const shown = readTexts(html, true);
  return shown.includes(plain) || shown.includes(withoutSpace(text));
}

/**
 * The text that a browser shows of a page, without spaces: nothing in a comment, an attribute, a script or a hidden
 * element. What style sheets and scripts hide or add is not known here.
 */
export const readVisibleText = (html: string): string => readTexts(html, false);

/** The text of a page, without spaces. @param isPossible whether what a script or a person may show is read as well */
function readTexts(html: string, isPossible: boolean): string {
  const without = isPossible ? NEVER_SHOWN : WITHOUT_TEXT;
  let shown = '';
  const pending: Dom.Node[] = [parsePage(html).document];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.nodeName === '#text' && 'value' in node) shown += withoutSpace(node.value);
    if (!('childNodes' in node)) continue;
    if ('attrs' in node) {
      if (hidesItself(node)) continue;
      if (without.has(node.nodeName)) continue;
    }
    const children = isPossible ? node.childNodes : shownChildren(node);
    for (const child of children.toReversed()) pending.push(child);
  }
  return shown;
}

/** Of closed details only the summary is shown. */
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
