/**
 * Addresses as a page writes them: which of them lead elsewhere, and what they look like in a message.
 *
 * @see https://url.spec.whatwg.org/#concept-basic-url-parser
 */

/** What a browser makes of the answer; decides whether the content of a `data:` address is searched too. */
export type ResourceKind = 'document' | 'style' | 'script' | 'data';

/** An address in some text, and where it stands there. */
export interface FoundAddress {
  readonly offset: number;
  readonly address: string;
  readonly kind: ResourceKind;
}

/** Nothing is fetched for these: the content is in the address, in memory, or there is none. */
const FETCHES_NOTHING = new Set(['about', 'blob', 'data', 'javascript', 'mailto', 'node', 'sms', 'tel']);

/** The last of the characters that the URL standard takes away at both ends. */
const SPACE = 0x20;

/**
 * An address as the URL parser sees it: without space around it, and without line breaks and tabs within.
 *
 * @param most of how many characters its beginning is enough; a data: address may be megabytes long
 */
export function trimAddress(address: string, most = address.length): string {
  let start = 0;
  while (start < address.length && address.charCodeAt(start) <= SPACE) start += 1;
  let end = Math.min(start + most, address.length);
  while (end > start && address.charCodeAt(end - 1) <= SPACE) end -= 1;
  return address.slice(start, end).replace(/[\t\n\r]/g, '');
}

/** Enough of an address to tell its scheme and host. */
const BEGINNING = 1_000;

/** Whether a browser leaves the page for it. A relative address does, since no other file is delivered. */
export function isExternal(address: string): boolean {
  const said = trimAddress(address, BEGINNING);
  if (said === '' || said.startsWith('#')) return false;
  return !FETCHES_NOTHING.has(schemeOf(said) ?? '');
}

/** Whether it names a host: what a script's literal must do to count where a bare text may be anything. */
export function namesHost(address: string): boolean {
  return /^(?:(?:https?|wss?|ftp):|[\\/]{2})/i.test(trimAddress(address, BEGINNING));
}

/** Whether a module specifier is an address; a bare name such as `react` is resolved by an import map or not at all. */
export function isSpecifierAddress(specifier: string): boolean {
  return /^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i.test(specifier);
}

const schemeOf = (address: string): string | undefined =>
  /^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1]?.toLowerCase();

/** Content of a `data:` address; `null` for any other, and for a broken one. */
export function dataContent(address: string): { readonly type: string; readonly text: string } | null {
  const said = trimAddress(address);
  const comma = said.indexOf(',');
  if (schemeOf(said.slice(0, 5)) !== 'data' || comma === -1) return null;
  const [type = '', ...parameters] = said.slice('data:'.length, comma).toLowerCase().split(';');
  const body = bytesOf(said.slice(comma + 1).replace(/#.*/s, ''));
  const isBase64 = parameters.at(-1)?.trim() === 'base64';
  return { type: type.trim(), text: isBase64 ? Buffer.from(body, 'base64').toString('utf8') : body };
}

/** Percent-decoding that leaves a broken escape as it is. */
function bytesOf(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}

/**
 * The addresses of a `srcset`: commas part candidates, but may also stand within an address.
 *
 * @see https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute
 */
export function srcsetAddresses(srcset: string): string[] {
  const addresses: string[] = [];
  const next = /[\s,]*(\S+)/y;
  for (let match = next.exec(srcset); match !== null; match = next.exec(srcset)) {
    const [, run = ''] = match;
    let end = run.length;
    while (run[end - 1] === ',') end -= 1;
    addresses.push(run.slice(0, end));
    if (end === run.length) next.lastIndex = descriptorsEnd(srcset, next.lastIndex);
  }
  return addresses;
}

function descriptorsEnd(srcset: string, from: number): number {
  let parentheses = 0;
  for (let at = from; at < srcset.length; at += 1) {
    const char = srcset[at];
    if (char === '(') parentheses += 1;
    else if (char === ')') parentheses = Math.max(parentheses - 1, 0);
    else if (char === ',' && parentheses === 0) return at + 1;
  }
  return srcset.length;
}

/**
 * Where a refresh leads; empty when it shows the same page again.
 *
 * @see https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
 */
export function refreshAddress(content: string): string {
  const [, after = ''] = /^[\d.]*(?:\s*[;,]|\s)\s*(\S.*)$/s.exec(content.trim()) ?? [];
  const [, address = after] = /^url\s*=\s*(.*)$/is.exec(after) ?? [];
  const [, , quoted = address] = /^(["'])(.*?)(?:\1|$)/s.exec(address) ?? [];
  return quoted;
}

/** The most characters of an address that a message repeats. */
const SHOWN = 100;

/** An address for a message: one short line, without credentials and query. */
export function shownAddress(address: string): string {
  const line = trimAddress(address, 4_000)
    .replace(/^([a-z][a-z0-9+.-]*:)?([\\/]{2})[^\\/?#]*@/i, '$1$2***@')
    .replace(/\?.+/s, '?…')
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
  const letters = [...line];
  return letters.length <= SHOWN ? line : `${letters.slice(0, SHOWN - 1).join('')}…`;
}
