import { DeliveryError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { Text } from '../../words.ts';
import type { LocalFile } from '../inspect.ts';
import { loadPageRules } from '../load-page-rules.ts';
import {
  countLevels,
  formatAddress,
  isExternal,
  isLoaded,
  isSpecifierAddress,
  trimAddress,
} from './addresses.ts';
import type { PageFields, PageReference } from './html-references.ts';
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
  const found = new FoundReferences();
  const reader = createPageSearch((one, page) => found.add(one, page), isXhtml(name));
  for await (const piece of decodeText(file.read())) reader.write(piece);
  const search = reader.end();
  const { atStart, code } = found;
  const later = found.listLater();
  const notes = later.count > 0 ? [`${name} may load later: ${formatReferences(later)}`] : [];
  const needs = `${name} is not self-contained: ${formatReferences(atStart)}`;
  if (mode === 'enforce' && atStart.count > 0) {
    throw new DeliveryError('BAD_FILE', needs, {
      hint: embeddingHint(given, search.generator, atStart.first),
    });
  }
  const missing = place === undefined ? [] : await findMissing(code.first, search.base, place);
  if (missing.length > 0) {
    const list = formatReferences({ first: missing, count: missing.length });
    const message = `${name} needs files that its host does not have: ${list}`;
    throw new DeliveryError('BAD_FILE', message, {
      hint: 'deliver the folder with the page and these files, or write them into the page',
    });
  }
  if (mode === 'off') return [];
  if (!search.complete) notes.push(`${incomplete}, because it is nested too deeply or has too many elements`);
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
  return (w) =>
    [
      ...(own.length > 0 ? [w.say(folderHint(given, levels))] : []),
      way,
      `set ${w.input('self-contained', 'warn')}`,
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
  const entry = names.splice(-1 - levels).join('/');
  const isNamed = names.length > 0 && !names.includes('..');
  const folder = isNamed ? `${names.join('/')}/` : 'a folder that has the page and these files';
  return (w) => `set ${w.input('file')} to ${folder}${isNamed ? `, with ${w.input('entry', entry)}` : ''}`;
}

/** The style sheets and scripts that a page loads from its own host when it is opened, and that are not there. */
async function findMissing(
  references: readonly PageReference[],
  base: string,
  { url, findMissing: ask }: PagePlace,
): Promise<readonly PageReference[]> {
  const start = URL.parse(base.trim(), url.href)?.href ?? url.href;
  const own = references.flatMap((reference) => {
    const target = reference.isOpaque ? null : URL.parse(trimAddress(reference.address), start);
    return target?.origin === url.origin ? [{ reference, target }] : [];
  });
  const asked = new Map(own.map(({ target }) => [target.href, target]));
  const missing = new Set((await ask([...asked.values()])).map(({ href }) => href));
  return own.flatMap(({ reference, target }) => (missing.has(target.href) ? [reference] : []));
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

/** The references of a page that is delivered alone: a module of its import map counts where it is imported. */
class FoundReferences {
  readonly atStart = new References();
  /** What it needs of `atStart`. */
  readonly code = new References();
  readonly #later = new References();
  readonly #mapped: PageReference[] = [];
  readonly #imported = new Set<string>();

  add(reference: PageReference, { importMap }: PageFields): void {
    const { address: name, grade, isSpecifier, element } = reference;
    if (element === 'importmap') this.#mapped.push(reference);
    else if (!isSpecifier) this.#keep(reference);
    else {
      const entry = importMap.find(
        ({ specifier }) => specifier === name || (specifier.endsWith('/') && name.startsWith(specifier)),
      );
      if (entry !== undefined && isLoaded(grade)) this.#imported.add(entry.address);
      const address = entry?.address ?? (isSpecifierAddress(name) ? name : '');
      if (isExternal(address)) this.#keep({ ...reference, address });
    }
  }

  #keep(reference: PageReference): void {
    const { grade } = reference;
    if (grade === 'code') this.code.add(reference);
    if (isLoaded(grade)) this.atStart.add(reference);
    else if (grade === 'later') this.#later.add(reference);
  }

  /** What may be loaded later; called at the end of the page. */
  listLater(): References {
    for (const one of this.#mapped) if (!this.#imported.has(one.address)) this.#keep(one);
    return this.#later;
  }
}

function formatReferences({
  first,
  count,
}: {
  readonly first: readonly PageReference[];
  readonly count: number;
}): string {
  const listed = first
    .slice(0, MAX_LISTED)
    .map(({ line, element, address }) => `line ${line} ${element} ${formatAddress(address)}`);
  const more = count - listed.length;
  return `${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
