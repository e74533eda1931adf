import { DeliveryError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { LocalFile } from '../inspect.ts';
import type { PageReference } from './html-references.ts';

/** Whether a page must hold all that it shows; `warn` delivers it and says in UNKNOWN what it needs. */
export type SelfContained = 'enforce' | 'warn' | 'off';

/**
 * Largest page that is searched, in bytes. Measured with Node 24: a page of this size takes 1 to 8 seconds and
 * 0.1 to 1.5 GB by what it is made of, and one built to be slow (a tag with millions of attributes) 28 seconds
 * and 2.3 GB; an ordinary page of 3 MB takes half a second and 0.3 GB.
 *
 * @see BOUNDS in page-tree for what holds the rest down
 */
export const LARGEST_PAGE = 32 * MEGABYTE;

/** References that are named one by one. */
const NAMED = 10;

/** Whether a browser shows a file of this name as a page. */
export function isHtml(name: string): boolean {
  return /\.(?:html?|shtml|xhtml|xht)$/i.test(name);
}

const isXhtml = (name: string): boolean => /\.xht(?:ml)?$/i.test(name);

/**
 * Refuses a page that needs anything from elsewhere when it is opened.
 *
 * @returns what UNKNOWN is to say: the references in mode `warn`, and that a page could not be searched
 * @throws {DeliveryError} `BAD_FILE` in mode `enforce`, with line, element and address of each.
 * @see protocol 1 (file rules: on screen)
 */
export async function checkSelfContained(
  file: Pick<LocalFile, 'name' | 'size' | 'read'>,
  mode: SelfContained,
): Promise<readonly string[]> {
  if (mode === 'off' || !isHtml(file.name)) return [];
  const unsearched = `${file.name} was not searched to its end for what it needs from elsewhere`;
  if (file.size > LARGEST_PAGE) {
    return [`${unsearched}, because it is larger than ${LARGEST_PAGE / MEGABYTE} MB`];
  }
  // The parsers are loaded only where there is a page. Eager: they stay in the one bundled file.
  const { searchPage } = await import(/* webpackMode: "eager" */ './html-references.ts');
  const { references, whole } = searchPage(await textOf(file), isXhtml(file.name));
  if (references.length > 0) {
    const needs = `${file.name} is not self-contained: ${inWords(references)}`;
    if (mode === 'warn') return whole ? [needs] : [needs, unsearched];
    throw new DeliveryError('BAD_FILE', needs, {
      hint: 'write styles and scripts into the page and images as data: addresses, or set `self-contained: warn`',
    });
  }
  return whole ? [] : [`${unsearched}, because it is nested too deeply or has too many elements`];
}

function inWords(references: readonly PageReference[]): string {
  const named = references
    .slice(0, NAMED)
    .map(({ line, element, address }) => `line ${line} ${element} ${address}`);
  const more = references.length - named.length;
  return `${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** The page's text: a byte order mark outweighs everything, and Pages serves the rest as UTF-8. */
async function textOf(file: Pick<LocalFile, 'read'>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.read() as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const mark = bytes.subarray(0, 2).toString('hex');
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}
