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

/** Elements within a line. */
const INLINE: ReadonlySet<string> = new Set([
  ...['a', 'abbr', 'b', 'bdi', 'bdo', 'cite', 'code', 'del', 'dfn', 'em', 'font', 'i', 'ins', 'kbd', 'label'],
  ...['mark', 'q', 'ruby', 'rt', 's', 'samp', 'small', 'span', 'strong', 'sub', 'sup', 'time', 'u', 'var'],
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
  const isCode = ({ nodeName }: Dom.Element): boolean => /^(?:code|pre|samp|kbd)$/.test(nodeName);
  const texts = [...listShownTexts(parsePage(html), isCode)];
  return [...new Set(texts.flatMap(({ text }) => TEMPLATE_TAG.exec(text)?.[0] ?? []))];
}

const readShownText = (page: PageTree): string =>
  [...listShownTexts(page)].map(({ text }) => withoutSpace(text)).join('');

/** A visible text, and where it is. */
interface ShownText {
  readonly text: string;
  /** The nearest element around it that begins a line. */
  readonly block: Dom.Node;
  /** The nearest link around it. */
  readonly link: Dom.Element | null;
}

/** The visible texts, without the effects of style sheets and scripts. */
export function* listShownTexts(
  { document }: PageTree,
  isSkipped: (element: Dom.Element) => boolean = () => false,
): Generator<ShownText, void, undefined> {
  const pending: (Omit<ShownText, 'text'> & { readonly node: Dom.Node })[] = [
    { node: document, block: document, link: null },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node } = next;
    if (node.nodeName === '#text' && 'value' in node) yield { ...next, text: node.value };
    if (!('childNodes' in node)) continue;
    const element = 'attrs' in node ? node : null;
    if (element && (WITHOUT_TEXT.has(element.nodeName) || hidesItself(element) || isSkipped(element)))
      continue;
    const block = INLINE.has(node.nodeName) ? next.block : node;
    const link = element?.nodeName === 'a' ? element : next.link;
    for (const child of shownChildren(node).toReversed()) pending.push({ node: child, block, link });
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
