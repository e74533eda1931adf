import { type DefaultTreeAdapterTypes as Dom, parse } from 'parse5';
import { getAttribute, getLocalName, hasAttribute } from './page-tree.ts';

/** Elements whose text a browser does not show on the page, or only after a person did something. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set([
  ...[
    'head',
    'title',
    'script',
    'style',
    'template',
    'noscript',
    'noframes',
    'noembed',
    'datalist',
    'select',
  ],
  ...['textarea', 'iframe', 'object', 'video', 'audio', 'canvas', 'progress', 'meter', 'rp'],
]);

const HIDDEN_STYLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0\s*(?:;|!|$))/i;

/**
 * Whether a text is written where a browser shows it: not in a comment, an attribute, a script or a hidden
 * element. What style sheets and scripts hide is not known here.
 */
export const hasVisibleText = (html: string, text: string): boolean =>
  readVisibleText(html).includes(withoutSpace(text));

/** The text that a browser shows of a page, without spaces. What style sheets and scripts hide or add is not known here. */
export function readVisibleText(html: string): string {
  let shown = '';
  const pending: Dom.Node[] = [parse(html)];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.nodeName === '#text' && 'value' in node) shown += withoutSpace(node.value);
    if (!('childNodes' in node) || ('attrs' in node && isHidden(node))) continue;
    const isClosed = 'attrs' in node && getLocalName(node) === 'details' && !hasAttribute(node, 'open');
    const children = isClosed
      ? node.childNodes.filter((child) => getLocalName(child) === 'summary')
      : node.childNodes;
    for (const child of children.toReversed()) pending.push(child);
  }
  return shown;
}

const withoutSpace = (text: string): string => text.normalize('NFC').replace(/\s+/g, '');

function isHidden(element: Dom.Element): boolean {
  const name = getLocalName(element);
  return (
    WITHOUT_TEXT.has(name) ||
    hasAttribute(element, 'hidden') ||
    hasAttribute(element, 'popover') ||
    (name === 'dialog' && !hasAttribute(element, 'open')) ||
    HIDDEN_STYLE.test(getAttribute(element, 'style'))
  );
}
