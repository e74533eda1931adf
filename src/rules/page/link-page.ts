import { createHash } from 'node:crypto';
import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import { shorten } from '../../plain-text.ts';
import { readEncoding } from '../text-encoding.ts';
import { getAttribute, hasAttribute, parseRefresh } from './addresses.ts';
import { searchPage } from './html-references.ts';
import { resolveSpecifier } from './import-map.ts';
import { type PageTree, parsePage } from './parse-page.ts';

/** Whether a page asks to sign in or redirects a browser. True for a page that is nested too deeply to read. */
export const isGatePage = ({ document, isComplete }: PageTree): boolean =>
  !isComplete || holds([document], isGate);

/**
 * The encoding that a page declares, or `null`. If it declares several, UTF-8 comes last, because browsers differ.
 * @see https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
 */
export function readCharset(html: string): string | null {
  const found = new Set<string | null>();
  holds([parsePage(html, { scriptingEnabled: false }).document], (element) => {
    if (!('tagName' in element) || element.tagName !== 'meta') return false;
    const isHeader = getAttribute(element, 'http-equiv').toLowerCase() === 'content-type';
    const content = isHeader ? getAttribute(element, 'content') : '';
    const [, , within = ''] = /charset\s*=\s*(["']?)([^\s;"']+)/i.exec(content) ?? [];
    const label = hasAttribute(element, 'charset') ? getAttribute(element, 'charset') : within;
    found.add(readEncoding(label)?.replace(/^utf-.*/, 'utf-8') ?? null);
    return false;
  });
  found.delete(null);
  return [...found].find((encoding) => encoding !== 'utf-8') ?? found.values().next().value ?? null;
}

/**
 * What a host added to a page. The page must have every node of the file in the same order and under the same parents,
 * and no addition may ask to sign in or change the meaning of the page.
 *
 * @param own the delivered page; both pages are parsed from their bytes as Latin-1 text
 * @returns the names of the additions in order; `null` if the page does not contain the whole file
 */
export function findAdditions(own: PageTree, shown: PageTree): readonly string[] | null {
  const added: Dom.ChildNode[] = [];
  if (!own.isComplete || !shown.isComplete || !holds([own.document], saysSomething)) return null;
  if (!hasAll(own.document, shown.document, added, DEEPEST) || holds(added, isTakeover)) return null;
  return [...new Set(added.map(nameNode))];
}

/** Whether a node has text or loads something: any page contains a blank page. */
const saysSomething = (node: Dom.Node): boolean =>
  'attrs' in node
    ? (getAttribute(node, 'src') || getAttribute(node, 'href')) !== ''
    : 'value' in node && !isBlank(node);

const DEEPEST = 512;

/** Whether the page has all children of the file's node in order; collects all others. */
function hasAll(file: Dom.ParentNode, page: Dom.ParentNode, added: Dom.ChildNode[], levels: number): boolean {
  if (levels === 0) return false;
  const wanted = readNode(file).children;
  let found = 0;
  for (const node of readNode(page).children) {
    const next = wanted[found];
    const within: Dom.ChildNode[] = [];
    const isFound =
      next !== undefined &&
      readNode(next).key === readNode(node).key &&
      containersOf(next).every((container, at) => {
        const shown = containersOf(node)[at];
        return shown !== undefined && hasAll(container, shown, within, levels - 1);
      });
    if (isFound) found += 1;
    for (const addition of isFound ? within : [node]) added.push(addition);
  }
  return found === wanted.length;
}

interface ComparedNode {
  /** Equal for nodes that differ only in their children. */
  readonly key: string;
  readonly children: readonly Dom.ChildNode[];
}

/** Each node is read once, because it is compared with many nodes. */
const READ = new WeakMap<Dom.Node, ComparedNode>();

function readNode(node: Dom.Node): ComparedNode {
  const read = READ.get(node) ?? {
    key: JSON.stringify([node.nodeName, ownParts(node)]),
    children: 'childNodes' in node ? node.childNodes.filter((child) => !isBlank(child)) : [],
  };
  READ.set(node, read);
  return read;
}

/** The parents of a node's children: the content of a template is separate. */
const containersOf = (node: Dom.ChildNode): readonly Dom.ParentNode[] => [
  ...('content' in node ? [(node as Dom.Template).content] : []),
  ...('childNodes' in node ? [node] : []),
];

const isBlank = (node: Dom.ChildNode): boolean => 'value' in node && node.value.trim() === '';

function ownParts(node: Dom.Node): unknown {
  if ('attrs' in node) return node.attrs.map(({ name, value }) => [name, value]).sort();
  if ('value' in node) return node.value.trim();
  if ('publicId' in node) return [node.name, node.publicId, node.systemId];
  return 'data' in node ? node.data : [];
}

/** Whether all addresses of a page resolve equally from two URLs of it. @param html as Latin-1 text */
export async function hasSameAddresses(html: string, ...urls: [string, string]): Promise<boolean> {
  const [first, second] = await Promise.all(urls.map((url) => hashAddresses(html, url)));
  return first === second;
}

/** A hash of the resolved addresses, because there may be too many to keep. */
async function hashAddresses(html: string, url: string): Promise<string> {
  const hash = createHash('sha256');
  await searchPage([html], url, ({ address, isSpecifier }, { base, importMap }) => {
    const meant = isSpecifier ? resolveSpecifier(address, importMap, base) : address;
    hash.update(`${meant === null ? '' : URL.parse(meant, base)?.href}\n`);
  });
  return hash.digest('hex');
}

/** The parents of what may be on the screen: a template only if it becomes a shadow root. */
const shownIn = (node: Dom.Node): readonly Dom.ParentNode[] =>
  'content' in node && getAttribute(node, 'shadowrootmode') !== ''
    ? [node.content]
    : 'childNodes' in node
      ? [node]
      : [];

function holds(nodes: readonly Dom.Node[], isMeant: (node: Dom.Node) => boolean): boolean {
  const pending = [...nodes];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (isMeant(node)) return true;
    for (const { childNodes } of shownIn(node)) for (const child of childNodes) pending.push(child);
  }
  return false;
}

function isGate(node: Dom.Node): boolean {
  if (!('attrs' in node)) return false;
  if (node.tagName === 'input') return getAttribute(node, 'type').trim().toLowerCase() === 'password';
  return (
    node.tagName === 'meta' &&
    getAttribute(node, 'http-equiv').trim().toLowerCase() === 'refresh' &&
    parseRefresh(getAttribute(node, 'content')) !== ''
  );
}

/** Whether an addition is a gate, or changes headers, the encoding or the base of the page. */
const isTakeover = (node: Dom.Node): boolean =>
  isGate(node) ||
  node.nodeName === 'base' ||
  (node.nodeName === 'meta' &&
    'attrs' in node &&
    node.attrs.some(({ name }) => name === 'http-equiv' || name === 'charset'));

const SHOWN = 60;

function nameNode(node: Dom.ChildNode): string {
  if ('tagName' in node) return `<${shorten(node.tagName, SHOWN)}>`;
  if ('value' in node) {
    const text = Buffer.from(node.value, 'latin1').toString().trim().replace(/\s+/g, ' ');
    return `“${shorten(text, SHOWN)}”`;
  }
  return node.nodeName === '#comment' ? 'a comment' : 'a doctype';
}
