import { DeliveryError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { Text } from '../../words.ts';
import type { LocalFile } from '../inspect.ts';
import { loadPageRules } from '../load-page-rules.ts';
import { countLevels, formatAddress, isLoaded, isSpecifierAddress } from './addresses.ts';
import type { PageReference } from './html-references.ts';
import { decodeText, isHtml, isXhtml, LARGEST_PAGE, type SelfContained } from './page-file.ts';

/** How many references a message lists, and how many are kept to find out what to do. */
const MAX_LISTED = 10;
const MAX_KEPT = 1_000;

/** Where a page will be shown. */
interface PagePlace {
  readonly url: URL;
  readonly findMissing: FindMissing;
}

interface PageNames {
  readonly name?: string;
  readonly given?: string | undefined;
  readonly place?: PagePlace | undefined;
}

/** Those of the addresses on the host of a page that lead to nothing. */
export type FindMissing = (urls: readonly URL[]) => Promise<readonly URL[]>;

/**
 * Refuses a page that loads external resources when it is opened. What its markup or a script may load later is a
 * note: no condition is guessed.
 *
 * @param options.name how the page will be called
 * @param options.given its path as the user wrote it
 * @param options.place absent where it is not known: then nothing of its own host counts as missing
 * @returns the lines for UNKNOWN: what may load later; in mode `warn` what loads at the start; and that a page could
 *   not be searched completely. Mode `off` has none.
 * @throws {DeliveryError} `BAD_FILE` in mode `enforce`, and in any mode where a style sheet or script of its own host is missing,
 *   with line, element and address of each reference.
 * @see protocol 1 (file rules: on screen)
 */
export async function checkSelfContained(
  file: Pick<LocalFile, 'name' | 'size' | 'read'>,
  mode: SelfContained,
  { name = file.name, given = name, place }: PageNames = {},
): Promise<readonly string[]> {
  if (!isHtml(name)) return [];
  const incomplete = `${name} was not searched completely for external resources`;
  if (file.size > LARGEST_PAGE) {
    return mode === 'off' ? [] : [`${incomplete}, because it is larger than ${LARGEST_PAGE / MEGABYTE} MB`];
  }
  const { createPageSearch } = await loadPageRules();
  const [atStart, code, later] = [new References(), new References(), new References()];
  const reader = createPageSearch((reference) => {
    const { grade, isSpecifier, address, element } = reference;
    // What a bare name means is told where the import map has it.
    if (grade === 'link' || (isSpecifier && !isSpecifierAddress(address))) return;
    if (grade === 'code') code.add(reference);
    const isAtStart = isLoaded(grade) || element === 'importmap';
    (isAtStart ? atStart : later).add(reference);
  }, isXhtml(name));
  for await (const piece of decodeText(file.read())) reader.write(piece);
  const page = reader.end();
  const notes =
    later.count > 0 ? [`${name} may load later: ${formatReferences(later.first, later.count)}`] : [];
  const needs = `${name} is not self-contained: ${formatReferences(atStart.first, atStart.count)}`;
  if (mode === 'enforce' && atStart.count > 0) {
    throw new DeliveryError('BAD_FILE', needs, { hint: embeddingHint(given, page.generator, atStart.first) });
  }
  const missing = place === undefined ? [] : await findMissing(code.first, page.base, place);
  if (missing.length > 0) {
    const message = `${name} needs files that are missing: ${formatReferences(missing)}`;
    throw new DeliveryError('BAD_FILE', message, {
      hint: 'deliver the folder with the page and these files, or write them into the page',
    });
  }
  if (mode === 'off') return [];
  if (!page.complete) notes.push(`${incomplete}, because it is nested too deeply or has too many elements`);
  return atStart.count > 0 ? [needs, ...notes] : notes;
}

/** How tools write all into one page, by what only their own pages have: a generator's name, or a host. */
const EMBEDDERS: readonly (readonly [RegExp, string])[] = [
  [/^quarto\b/i, 'set `embed-resources: true` in the options of Quarto'],
  [/^https:\/\/cdn\.bokeh\.org\//, 'write the page with `mode="inline"` of Bokeh'],
  [/^https:\/\/cdn\.plot\.ly\//, 'write the page with `include_plotlyjs=True` of Plotly'],
];

function embeddingHint(given: string, generator: string, references: readonly PageReference[]): Text {
  const marks = [generator, ...references.map(({ address }) => address)];
  const [, way = 'write styles and scripts into the page and images as data: addresses'] =
    EMBEDDERS.find(([mark]) => marks.some((one) => mark.test(one))) ?? [];
  const own = references.filter(({ address }) => !/^(?:[a-z][a-z\d+.-]*:|\/)/i.test(address));
  const levels = Math.max(...own.map(({ address }) => countLevels(address)));
  const isElsewhere = references.every(({ address }) => /^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(address));
  return (w) =>
    [
      ...(own.length > 0 ? [`put the missing files in place and ${w.say(folderHint(given, levels))}`] : []),
      way,
      // A file of its own that is missing is refused in any mode.
      ...(isElsewhere ? [`set ${w.input('self-contained', 'warn')}`] : []),
    ].join(', or ');
}

/**
 * What to deliver instead of a page or a folder whose page needs what lies above it.
 *
 * @param given the page's path as the user wrote it
 * @param levels how many folders above its own one
 */
export function folderHint(given: string, levels: number): Text {
  const names = given.split(/[\\/]/);
  const entry = names.splice(-1 - levels);
  const isNamed = names.length > 0 && !names.includes('..');
  const folder = isNamed ? `the folder ${names.join('/')}/` : 'a folder that has the page and these files';
  return (w) =>
    `deliver ${folder}${entry.length > levels ? `, with ${w.input('entry', entry.join('/'))}` : ''}`;
}

/** The style sheets and scripts that a page loads from its own host when it is opened, and that are not there. */
async function findMissing(
  references: readonly PageReference[],
  base: string,
  { url, findMissing: ask }: PagePlace,
): Promise<readonly PageReference[]> {
  const start = (URL.parse(base.trim(), url.href) ?? url).href;
  const targets = references.map(({ address }) => URL.parse(address, start));
  const own = targets.filter((target) => target?.origin === url.origin).map((target) => target as URL);
  const asked = [...new Map(own.map((target) => [target.href, target])).values()];
  const missing = new Set((await ask(asked)).map(({ href }) => href));
  return references.filter((_, at) => missing.has(targets[at]?.href ?? ''));
}

/** The first references of a kind, and how many there are: of a large page not all are kept. */
class References {
  readonly first: PageReference[] = [];
  count = 0;

  add(reference: PageReference): void {
    this.count += 1;
    if (this.count <= MAX_KEPT) this.first.push(reference);
  }
}

function formatReferences(first: readonly PageReference[], count = first.length): string {
  const listed = first
    .slice(0, MAX_LISTED)
    .map(({ line, element, address }) => `line ${line} ${element} ${formatAddress(address)}`);
  const more = count - listed.length;
  return `${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
