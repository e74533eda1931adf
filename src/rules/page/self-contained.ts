import { DeliveryError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { LocalFile } from '../inspect.ts';
import type { PageReference } from './html-references.ts';

/** Whether a page must contain everything that it shows; `warn` delivers it and lists in UNKNOWN what it needs. */
export type SelfContained = 'enforce' | 'warn' | 'off';

/**
 * The largest page that is searched, in bytes. Measured with Node 24: a page of this size takes 1 to 8 seconds
 * and 0.1 to 1.5 GB, depending on its content; a hostile one (a tag with millions of attributes) takes 28 seconds
 * and 2.3 GB. An ordinary page of 3 MB takes half a second and 0.3 GB. `SEARCH_LIMITS` bounds the rest.
 */
export const LARGEST_PAGE = 32 * MEGABYTE;

/** How many references a message lists. */
const MAX_LISTED = 10;

/** Whether a browser shows a file with this name as a page. */
export function isHtml(name: string): boolean {
  return /\.(?:html?|shtml|xhtml|xht)$/i.test(name);
}

const isXhtml = (name: string): boolean => /\.xht(?:ml)?$/i.test(name);

/**
 * Refuses a page that needs external resources when it is opened.
 *
 * @returns the lines for UNKNOWN: in mode `warn` the references, and that a page could not be searched completely
 * @throws {DeliveryError} `BAD_FILE` in mode `enforce`, with line, element and address of each reference.
 * @see protocol 1 (file rules: on screen)
 */
export async function checkSelfContained(
  file: Pick<LocalFile, 'name' | 'size' | 'read'>,
  mode: SelfContained,
): Promise<readonly string[]> {
  if (mode === 'off' || !isHtml(file.name)) return [];
  const incomplete = `${file.name} was not searched completely for external resources`;
  if (file.size > LARGEST_PAGE) {
    return [`${incomplete}, because it is larger than ${LARGEST_PAGE / MEGABYTE} MB`];
  }
  // The parsers are loaded only for a page. `eager` keeps the bundle one file.
  const { searchPage } = await import(/* webpackMode: "eager" */ './html-references.ts');
  const { references, complete } = searchPage(await readText(file), isXhtml(file.name));
  if (references.length > 0) {
    const needs = `${file.name} is not self-contained: ${formatReferences(references)}`;
    if (mode === 'warn') return complete ? [needs] : [needs, incomplete];
    throw new DeliveryError('BAD_FILE', needs, {
      hint: 'write styles and scripts into the page and images as data: addresses, or set `self-contained: warn`',
    });
  }
  return complete ? [] : [`${incomplete}, because it is nested too deeply or has too many elements`];
}

function formatReferences(references: readonly PageReference[]): string {
  const listed = references
    .slice(0, MAX_LISTED)
    .map(({ line, element, address }) => `line ${line} ${element} ${address}`);
  const more = references.length - listed.length;
  return `${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** The text of the page: a byte order mark decides the encoding; without one, Pages serves UTF-8. */
async function readText(file: Pick<LocalFile, 'read'>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.read() as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const byteOrderMark = bytes.subarray(0, 2).toString('hex');
  const encoding = byteOrderMark === 'fffe' ? 'utf-16le' : byteOrderMark === 'feff' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}
