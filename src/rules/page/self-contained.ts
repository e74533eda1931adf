import { DeliveryError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { LocalFile } from '../inspect.ts';
import { loadPageRules } from '../load-page-rules.ts';
import { formatAddress, isSpecifierAddress, laterGrade } from './addresses.ts';
import type { PageReference, PageSearch } from './html-references.ts';
import { decodeText, isHtml, isXhtml, LARGEST_PAGE, readBytes, type SelfContained } from './page-file.ts';

/** How many references a message lists. */
const MAX_LISTED = 10;

/**
 * Refuses a page that loads external resources when it is opened. What it may load later is a note.
 *
 * @param name how the page is called
 * @returns the lines for UNKNOWN: what may load later; in mode `warn` what loads at the start; and that a page could
 *   not be searched completely
 * @throws {DeliveryError} `BAD_FILE` in mode `enforce`, with line, element and address of each reference.
 * @see protocol 1 (file rules: on screen)
 */
export async function checkSelfContained(
  file: Pick<LocalFile, 'name' | 'size' | 'read'>,
  mode: SelfContained,
  name = file.name,
): Promise<readonly string[]> {
  if (mode === 'off' || !isHtml(name)) return [];
  const incomplete = `${name} was not searched completely for external resources`;
  if (file.size > LARGEST_PAGE) {
    return [`${incomplete}, because it is larger than ${LARGEST_PAGE / MEGABYTE} MB`];
  }
  const { searchPage } = await loadPageRules();
  const search = searchPage(decodeText(await readBytes(file)), isXhtml(name));
  const references = gradeAlone(search);
  const atStart = references.filter(({ grade }) => grade === 'start' || grade === 'conditional');
  const later = references.filter(({ grade }) => grade === 'later');
  const notes = later.length > 0 ? [`${name} may load later: ${formatReferences(later)}`] : [];
  if (atStart.length > 0) {
    const needs = `${name} is not self-contained: ${formatReferences(atStart)}`;
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
