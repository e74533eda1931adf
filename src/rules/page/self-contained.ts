import { DeliveryError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { LocalFile } from '../inspect.ts';
import { formatAddress, isSpecifierAddress, laterGrade } from './addresses.ts';
import type { PageReference, PageSearch } from './html-references.ts';

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

/** Whether a browser reads a page with this name as XML. */
export const isXhtml = (name: string): boolean => /\.xht(?:ml)?$/i.test(name);

/**
 * Refuses a page that loads external resources when it is opened. What it may load later is a note.
 *
 * @returns the lines for UNKNOWN: what may load later; in mode `warn` what loads at the start; and that a page could
 *   not be searched completely
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
  const search = searchPage(decodeText(await readBytes(file)), isXhtml(file.name));
  const references = gradeAlone(search);
  const atStart = references.filter(({ grade }) => grade === 'start' || grade === 'conditional');
  const later = references.filter(({ grade }) => grade === 'later');
  const notes = later.length > 0 ? [`${file.name} may load later: ${formatReferences(later)}`] : [];
  if (atStart.length > 0) {
    const needs = `${file.name} is not self-contained: ${formatReferences(atStart)}`;
    if (mode === 'warn') return search.complete ? [needs, ...notes] : [needs, ...notes, incomplete];
    throw new DeliveryError('BAD_FILE', needs, {
      hint: 'write styles and scripts into the page and images as data: addresses, or set `self-contained: warn`',
    });
  }
  if (search.complete) return notes;
  return [...notes, `${incomplete}, because it is nested too deeply or has too many elements`];
}

/** The references of a page that is delivered alone: a module of an import map is loaded where it is imported. */
function gradeAlone({ references, importMap }: PageSearch): readonly PageReference[] {
  const imported = references.filter(({ grade, isSpecifier }) => grade === 'start' && isSpecifier);
  const isImported = (address: string): boolean =>
    importMap.some(
      (entry) =>
        entry.address === address &&
        imported.some(
          (one) =>
            one.address === entry.specifier ||
            (entry.specifier.endsWith('/') && one.address.startsWith(entry.specifier)),
        ),
    );
  return references
    .filter(({ address, isSpecifier }) => !isSpecifier || isSpecifierAddress(address))
    .map((reference) =>
      reference.element === 'importmap' && !isImported(reference.address)
        ? { ...reference, grade: laterGrade(reference.grade, 'later') }
        : reference,
    );
}

function formatReferences(references: readonly PageReference[]): string {
  const listed = references
    .slice(0, MAX_LISTED)
    .map(({ line, element, address }) => `line ${line} ${element} ${formatAddress(address)}`);
  const more = references.length - listed.length;
  return `${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/**
 * All bytes of a file.
 *
 * @param limit how many bytes are read at most
 */
export async function readBytes(
  { read }: { read(): AsyncIterable<Uint8Array> },
  limit = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of read()) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks);
}

/** The text of a page: a byte order mark decides the encoding; without one, Pages serves UTF-8. */
export function decodeText(bytes: Buffer): string {
  const byteOrderMark = bytes.subarray(0, 2).toString('hex');
  const encoding = byteOrderMark === 'fffe' ? 'utf-16le' : byteOrderMark === 'feff' ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}
