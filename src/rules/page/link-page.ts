import { createHash } from 'node:crypto';
import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import { shorten } from '../../plain-text.ts';
import { readEncoding } from '../text-encoding.ts';
import { getAttribute, hasAttribute, parseRefresh } from './addresses.ts';
import { searchPage } from './html-references.ts';
import { resolveSpecifier } from './import-map.ts';
import { type PageTree, parsePage } from './parse-page.ts';

/** Whether a page asks to sign in, or leads a browser to another one; so may one that can't be read to its end. */
export const isGatePage = ({ document, isComplete }: PageTree): boolean =>
  !isComplete || holds([document], isGate);

/**
 * The encoding that a page declares, at its beginning or later; `null` for none that browsers know. Of several it is one
 * beside UTF-8, because browsers differ.
 *
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
 * What a host has added to a page: every node of the file must be in the page, in the same order and under the same
 * parents, and no addition may ask to sign in or change what the rest means.
 *
 * @param own the page as it was delivered; `shown` as it is served; both of Latin-1 text of their bytes
 * @returns the names of what was added, in order; `null` where the page does not have all of the file
 */
export function findAdditions(own: PageTree, shown: PageTree): readonly string[] | null {
  const added: Dom.ChildNode[] = [];
  if (!own.isComplete || !shown.isComplete || !holds([own.document], saysSomething)) return null;
  if (!hasAll(own.document, shown.document, added, DEEPEST) || holds(added, isTakeover)) return null;
  return [...new Set(added.map(nameNode))];
}

/** Whether it is a text or loads something: any page has all of a blank one. */
const saysSomething = (node: Dom.Node): boolean =>
  'attrs' in node
    ? (getAttribute(node, 'src') || getAttribute(node, 'href')) !== ''
    : 'value' in node && !isBlank(node);

/** A browser nests elements no deeper. */
const DEEPEST = 512;

/** Whether a node has the children of another one in order; what else it has is added to the list. */
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
      containersOf(next).every((one, at) => {
        const other = containersOf(node)[at];
        return other !== undefined && hasAll(one, other, within, levels - 1);
      });
    if (isFound) found += 1;
    for (const one of isFound ? within : [node]) added.push(one);
  }
  return found === wanted.length;
}

interface ComparedNode {
  /** The same for nodes that are the same, but for what they contain. */
  readonly key: string;
  readonly children: readonly Dom.ChildNode[];
}

/** Of each node once: it may be large, and is compared with many. */
const READ = new WeakMap<Dom.Node, ComparedNode>();

function readNode(node: Dom.Node): ComparedNode {
  const read = READ.get(node) ?? {
    key: JSON.stringify([node.nodeName, ownParts(node)]),
    children: 'childNodes' in node ? node.childNodes.filter((one) => !isBlank(one)) : [],
  };
  READ.set(node, read);
  return read;
}

/** What has the children of a node; what a template holds is beside them. */
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

/** Whether every address of a page leads to the same place from two URLs of it. @param html as Latin-1 text */
export async function hasSameAddresses(html: string, one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((url) => hashAddresses(html, url)));
  return first === second;
}

/** The SHA-256 of where they lead: of many long ones none is kept. */
async function hashAddresses(html: string, url: string): Promise<string> {
  const hash = createHash('sha256');
  await searchPage([html], url, ({ address, isSpecifier }, { base, importMap }) => {
    const meant = isSpecifier ? resolveSpecifier(address, importMap, base) : address;
    hash.update(`${meant === null ? '' : URL.parse(meant, base)?.href}\n`);
  });
  return hash.digest('hex');
}

/** What of a node may be on the screen: of a template only what becomes a shadow root, which replaces its parent's content. */
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

/** Whether an addition is a gate, or stands for headers, an encoding or a base of everything else. */
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
