import { shorten } from '../../plain-text.ts';

/** How a browser uses a resource. A classic `script` imports nothing before it runs. */
export type ResourceKind = 'document' | 'style' | 'script' | 'module' | 'data';

/**
 * How much a page needs a resource. `code`: a style sheet or script that must not be missing. `async`: a script that the
 * page doesn't wait for. `content`: anything else that loads with it. `later`: later or never. `link`: on a click.
 */
export type ReferenceGrade = (typeof GRADES)[number];

const GRADES = ['code', 'async', 'content', 'later', 'link'] as const;

export interface FoundAddress {
  readonly offset: number;
  /** Where the address ends, or the quotes or `url()` around it. */
  readonly end: number;
  readonly address: string;
  readonly kind: ResourceKind;
  readonly grade: ReferenceGrade;
  /** Whether it is a module specifier, which an import map may change. */
  readonly isSpecifier?: boolean;
}

export interface PageReference extends Omit<FoundAddress, 'offset' | 'end'> {
  readonly line: number;
  readonly element: string;
}

/** Receives each address, because a large page has too many to keep. */
export type AddAddress = (found: FoundAddress) => void;

/** The later of two grades: a style sheet in a template never loads with the page. */
export function laterGrade(outer: ReferenceGrade, inner: ReferenceGrade): ReferenceGrade {
  return GRADES.indexOf(outer) > GRADES.indexOf(inner) ? outer : inner;
}

/** Whether a browser loads the resource with the page. */
export const isLoaded = (grade: ReferenceGrade): boolean => grade !== 'later' && grade !== 'link';

/** Whether the resource is a style sheet or script that loads with the page. */
export const isCode = (grade: ReferenceGrade): boolean => grade === 'code' || grade === 'async';

const LOCAL_SCHEMES = new Set(['about', 'blob', 'data', 'javascript', 'mailto', 'node', 'sms', 'tel']);

/** An address as the URL parser reads it, cut to a length, because a `data:` address may have megabytes. */
export const trimAddress = (address: string, maxLength?: number): string =>
  address
    .trim()
    .slice(0, maxLength)
    .replace(/[\t\n\r]/g, '');

/** Whether a browser must fetch the address, which may be relative. */
export function isExternal(address: string): boolean {
  const trimmed = trimAddress(address, 1_000);
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):/i.exec(trimmed) ?? [];
  return trimmed !== '' && !trimmed.startsWith('#') && !LOCAL_SCHEMES.has(scheme.toLowerCase());
}

/** The number of folders that a relative address leads up. */
export const countLevels = (address: string): number =>
  (/^(?:\.\.\/)+/.exec(address)?.[0].length ?? 0) / '../'.length;

/** Whether a module specifier is an address, not a bare name such as `react`, which needs an import map. */
export const isSpecifierAddress = (specifier: string): boolean =>
  /^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i.test(specifier);

/** Decodes percent-encoding, but keeps invalid escapes. */
export const decodePercents = (text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString(encoding),
  );

/**
 * The addresses of a `srcset`. Commas separate them, but may also be part of an address.
 * @see https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute
 */
export function* parseSrcset(
  srcset: string,
): Generator<{ offset: number; address: string }, void, undefined> {
  const next = /[\s,]*(\S+)/y;
  for (let match = next.exec(srcset); match !== null; match = next.exec(srcset)) {
    const [, run = ''] = match;
    const offset = next.lastIndex - run.length;
    let end = run.length;
    while (run[end - 1] === ',') end -= 1;
    if (end === run.length) {
      const comma = srcset.indexOf(',', next.lastIndex);
      next.lastIndex = comma === -1 ? srcset.length : comma;
    }
    yield { offset, address: run.slice(0, end) };
  }
}

/**
 * The address of a `<meta http-equiv="refresh">`; empty if it reloads the same page.
 * @see https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
 */
export function parseRefresh(content: string): string {
  const [, after = ''] = /^[\d.]*(?:\s*[;,]|\s(?!\s*[;,]))\s*(\S.*)$/s.exec(content.trim()) ?? [];
  const [, address = after] = /^url\s*=\s*(.*)$/is.exec(after) ?? [];
  const [, , quoted = address] = /^(["'])(.*?)(?:\1|$)/s.exec(address) ?? [];
  return quoted;
}

const MAX_SHOWN = 100;

export const hideQuery = (address: string): string =>
  address.replace(/^([a-z][a-z0-9+.-]*:)?([\\/]{2})[^\\/?#]*@/i, '$1$2***@').replace(/\?.+/s, '?…');

/** Formats an address for a message as one short line, without credentials and query. */
export function formatAddress(address: string): string {
  const line = hideQuery(trimAddress(address, 4_000)).replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
  const short = shorten(line, MAX_SHOWN);
  // Nobody would recognize the beginning of a secret, so only whole words stay.
  return short === line ? line : short.replace(/[\w.~+=-]+…$/, '…');
}

interface WithAttributes {
  readonly attrs: readonly { readonly name: string; readonly value: string }[];
}

export const getAttribute = ({ attrs }: WithAttributes, name: string): string =>
  attrs.find((attribute) => attribute.name === name)?.value ?? '';

export const hasAttribute = ({ attrs }: WithAttributes, name: string): boolean =>
  attrs.some((attribute) => attribute.name === name);

/** Returns a function that maps ascending offsets to lines. */
export function createLineCounter(text: string, firstLine: number): (offset: number) => number {
  let line = firstLine;
  let next = text.indexOf('\n');
  return (offset) => {
    for (; next !== -1 && next < offset; next = text.indexOf('\n', next + 1)) line += 1;
    return line;
  };
}
