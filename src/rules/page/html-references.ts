import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import { dataContent, type FoundAddress, isExternal, type ResourceKind, shownAddress } from './addresses.ts';
import { cssReferences } from './css-references.ts';
import { addressReaderFor } from './fetching-attributes.ts';
import {
  attribute,
  BOUNDS,
  inOrder,
  localName,
  locationOf,
  parsePage,
  TEXT_ELEMENTS,
  textOf,
} from './page-tree.ts';
import { jsonReferences, scriptReferences } from './script-references.ts';

/** Something that a browser would fetch from elsewhere. */
export interface PageReference {
  /** From 1. */
  readonly line: number;
  /** Such as `link`, `img`, `style` or `script`. */
  readonly element: string;
  /** For reading: one short line, without credentials and query. */
  readonly address: string;
}

export interface PageSearch {
  /** In the order of the page. */
  readonly references: readonly PageReference[];
  /** Whether all of the page was searched; if not, it is nested deeper or longer than the bounds. */
  readonly whole: boolean;
}

/**
 * Everything a browser would fetch from elsewhere when it opens the page. Relative addresses count: the file
 * is delivered alone.
 *
 * @param html its text; as XML where `xhtml` says so, which closes elements that HTML leaves open
 */
export function externalReferences(html: string, xhtml = false): readonly PageReference[] {
  return searchPage(html, xhtml).references;
}

/** The same, and whether the search came to its end. */
export function searchPage(html: string, xhtml = false): PageSearch {
  const references: PageReference[] = [];
  let nodes = 0;
  let whole = true;

  const searchDocument = (text: string, firstLine: number, level: number, isXml: boolean): void => {
    if (level > BOUNDS.documents) {
      whole = false;
      return;
    }
    const { document, complete } = parsePage(isXml ? withEndTags(text) : text, () => ++nodes <= BOUNDS.nodes);
    if (!complete) whole = false;
    for (const node of inOrder(document)) {
      if ('tagName' in node) searchElement(node, firstLine - 1, level);
      else if (isXml && 'data' in node) searchInstruction(node, firstLine - 1);
    }
  };

  /** Keeps what leads elsewhere, and searches what a data: address brings along. */
  const keep = (
    found: readonly FoundAddress[],
    text: string,
    firstLine: number,
    element: string,
    level: number,
  ): void => {
    const lineAt = lines(text, firstLine);
    for (const { offset, address, kind } of found) {
      if (isExternal(address)) {
        references.push({ line: lineAt(offset), element, address: shownAddress(address) });
      } else if (kind !== 'data') {
        const content = dataContent(address);
        if (content !== null) searchContent({ ...content, kind }, lineAt(offset), element, level);
      }
    }
  };

  const searchContent = (
    { kind, type, text }: { readonly kind: ResourceKind; readonly type: string; readonly text: string },
    line: number,
    element: string,
    level: number,
  ): void => {
    if (level >= BOUNDS.documents) {
      whole = false;
      return;
    }
    // Lines within an address are nobody's lines: all that is found there stands on the line of the address.
    const from = references.length;
    if (kind === 'style') keep(cssReferences(text), '', line, element, level + 1);
    else if (kind === 'script') keep(scriptReferences(text), '', line, element, level + 1);
    else if (/html|xml/.test(type)) searchDocument(text, line, level + 1, type.includes('xml'));
    for (let at = from; at < references.length; at += 1) {
      references[at] = { ...(references[at] as PageReference), line };
    }
  };

  const searchElement = (element: Dom.Element, above: number, level: number): void => {
    const name = localName(element);
    const { startLine, attrs } = locationOf(element);
    for (const { name: plain, prefix, value } of element.attrs) {
      const full = prefix ? `${prefix}:${plain}` : plain;
      const line = above + (attrs?.[full] ?? attrs?.[full.toLowerCase()] ?? startLine);
      if (name === 'iframe' && full === 'srcdoc') searchDocument(value, line, level + 1, false);
      else keep(addressReaderFor(name, full.toLowerCase())(value, element), value, line, name, level);
    }
    const [first] = element.childNodes;
    if (first === undefined || !TEXT_ELEMENTS.has(name)) return;
    const text = textOf(element);
    const line = above + locationOf(first).startLine;
    if (name === 'noscript') searchDocument(text, line, level + 1, false);
    else if (name === 'script') keep(scriptContent(element, text), text, line, name, level);
    else if (isCss(element)) keep(cssReferences(text), text, line, name, level);
  };

  const searchInstruction = (comment: Dom.CommentNode, above: number): void => {
    const [, , address = ''] = /\shref\s*=\s*(["'])(.*?)\1/s.exec(comment.data.slice(0, 4_000)) ?? [];
    keep(
      [{ offset: 0, address, kind: 'style' }],
      '',
      above + locationOf(comment).startLine,
      'xml-stylesheet',
      0,
    );
  };

  searchDocument(html, 1, 0, xhtml);
  return { references, whole };
}

const isCss = (style: Dom.Element): boolean =>
  ['', 'text/css'].includes(attribute(style, 'type').trim().toLowerCase());

/** A type that a browser runs; any other makes the script a block of data. */
const RUNS = /^(?:module|(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script[\d.]*)?$/;

function scriptContent(script: Dom.Element, text: string): readonly FoundAddress[] {
  const type = attribute(script, 'type').trim().toLowerCase();
  if (type === 'importmap' || type === 'speculationrules') return jsonReferences(text);
  return RUNS.test(type) ? scriptReferences(text) : [];
}

/** The line of each offset, asked for in rising order. */
function lines(text: string, firstLine: number): (offset: number) => number {
  let line = firstLine;
  let next = text.indexOf('\n');
  return (offset) => {
    for (; next !== -1 && next < offset; next = text.indexOf('\n', next + 1)) line += 1;
    return line;
  };
}

/** XML lets any element close itself; HTML would take all that follows for such an element's text. */
function withEndTags(xml: string): string {
  return xml.replace(
    /<((?:[\w-]+:)?(?:iframe|noembed|noframes|noscript|script|style|textarea|title|xmp))\b((?:[^"'<>]|"[^"]*"|'[^']*'){0,2000}?)\/>/gi,
    '<$1$2></$1>',
  );
}
