import { MEGABYTE } from '../../protocol/limits.ts';
import {
  isLoaded,
  laterGrade,
  type ReferenceGrade,
  type ResourceKind,
  trimAddress,
} from '../page/addresses.ts';
import { createPageSearch, type PageFields, type PageReference } from '../page/html-references.ts';
import { type ImportMapEntry, resolveSpecifier } from '../page/import-map.ts';
import { decodeText, isHtml, isXhtml, joinText, LARGEST_PAGE } from '../page/page-file.ts';
import { createEncodingCheck, describeMisread, MISREAD_HINT, type MisreadText } from '../text-encoding.ts';
import {
  judgeBareImport,
  judgeModule,
  judgeReference,
  type SiteReference,
  type SiteState,
} from './judge-reference.ts';
import { type FileReference, findFileReferences, type TextKind } from './site-files.ts';

/** The largest part of a script or style sheet that is searched, in bytes. */
const LARGEST_TEXT = 8 * MEGABYTE;

/** The page for which a file is loaded. */
interface ReferencingPage {
  /** The URL to which its addresses are relative. */
  readonly base: string;
  readonly importMap: readonly ImportMapEntry[];
  /** Distinguishes pages whose scripts mean different files; empty for the others. */
  readonly key: string;
}

/** A file to search, and how it is used. */
interface FileVisit {
  readonly path: string;
  readonly kind: 'page' | TextKind;
  readonly grade: ReferenceGrade;
  readonly page: ReferencingPage;
}

/** The files that are still to be searched, and those that were. */
interface SearchQueue {
  readonly pending: FileVisit[];
  /** How each file was used that is or was in the queue. */
  readonly seen: Map<string, ReferenceGrade>;
  readonly searched: Set<string>;
}

export const createQueue = (): SearchQueue => ({ pending: [], seen: new Map(), searched: new Set() });

/** Adds a file that no page is known to use. */
export function enqueueFile(state: SiteState, queue: SearchQueue, path: string, grade: ReferenceGrade): void {
  const kind = getKindOfName(path);
  if (kind === null) return;
  enqueue(queue, { path, kind, grade, page: { base: state.resolver.toUrl(path), importMap: [], key: '' } });
}

function enqueue({ pending, seen }: SearchQueue, visit: FileVisit): void {
  const key = `${visit.kind} ${visit.page.key} ${visit.path}`;
  const known = seen.get(key);
  // What one page loads with `async` may be code of another one.
  if (known !== undefined && laterGrade(known, visit.grade) === visit.grade) return;
  seen.set(key, visit.grade);
  pending.push(visit);
}

/** How a file without a known use is read. */
function getKindOfName(path: string): FileVisit['kind'] | null {
  if (isHtml(path)) return 'page';
  const [ending = ''] = /[^.]*$/.exec(path.toLowerCase()) ?? [];
  return KINDS_BY_ENDING.get(ending) ?? null;
}

const KINDS_BY_ENDING: ReadonlyMap<string, FileVisit['kind']> = new Map<string, FileVisit['kind']>([
  ['css', 'style'],
  ['js', 'module'],
  ['mjs', 'module'],
  ['svg', 'page'],
  ['webmanifest', 'manifest'],
]);

/** Searches all files of the queue, and what they load, one after the other. */
export async function searchQueue(state: SiteState, queue: SearchQueue): Promise<void> {
  for (let at = 0; at < queue.pending.length; at += 1) {
    state.options.signal?.throwIfAborted();
    const visit = queue.pending[at] as FileVisit;
    const text = decodeText(readVisited(state, queue, visit));
    if (visit.kind === 'page') await searchSitePage(state, queue, visit, text);
    else await searchText(state, queue, visit, { text, kind: visit.kind });
  }
  queue.pending.length = 0;
}

/**
 * The bytes of a file, at most its first part, and none of a page that is too large; at the first time, what keeps it
 * from being read is noted.
 */
async function* readVisited(
  state: SiteState,
  queue: SearchQueue,
  visit: FileVisit,
): AsyncGenerator<Buffer, void, undefined> {
  const { path } = visit;
  const file = state.files.get(path);
  if (file === undefined) return;
  const isKnown = queue.searched.has(path);
  queue.searched.add(path);
  const limit = isHtml(path) ? LARGEST_PAGE : LARGEST_TEXT;
  const isLarger = file.size > limit;
  if (isLarger && !isKnown) addIncomplete(state, path, `is larger than ${limit / MEGABYTE} MB`);
  if (isLarger && isHtml(path)) return;
  const encoding = createEncodingCheck();
  let size = 0;
  for await (const chunk of file.read()) {
    if (!isKnown) encoding.add(chunk);
    yield chunk;
    size += chunk.length;
    if (size >= limit) break;
  }
  if (!isKnown) judgeEncoding(state, visit, encoding.end(!isLarger));
}

function addIncomplete(state: SiteState, file: string, reason: string): void {
  const text = `the file was not searched completely, because it ${reason}`;
  state.notes.add({ kind: 'incomplete', key: file, file, line: 1, text, hint: undefined });
}

/**
 * Refuses a page that a person opens, if its text would be unreadable; of other files it is a note. Pages declares no
 * encoding of drawings.
 */
function judgeEncoding(
  { refusals, notes }: SiteState,
  { path, grade }: FileVisit,
  misread: MisreadText | null,
): void {
  if (misread === null || /\.svg$/i.test(path)) return;
  const isPage = isHtml(path);
  const isRefused = isPage && grade !== 'later' && misread.isUnreadable;
  (isRefused ? refusals : notes).add({
    kind: 'encoding',
    key: path,
    file: path,
    line: misread.line,
    text: describeMisread(misread, isPage),
    hint: isRefused ? MISREAD_HINT : undefined,
  });
}

async function searchSitePage(
  state: SiteState,
  queue: SearchQueue,
  visit: FileVisit,
  text: AsyncIterable<string>,
): Promise<void> {
  const { path } = visit;
  const url = state.resolver.toUrl(path);
  let fields: PageFields | undefined;
  let page = visit.page;
  const search = createPageSearch(
    (reference, current) => {
      if (reference.isOpaque && !URL.canParse(reference.address)) return;
      if (current !== fields) {
        fields = current;
        const { base, importMap } = current;
        const key = importMap.length === 0 ? '' : path;
        page = { base: URL.parse(base.trim(), url)?.href ?? url, importMap, key };
      }
      followReference(state, queue, { ...visit, page }, { ...reference, base: page.base });
    },
    isXhtml(path) || /\.svg$/i.test(path),
  );
  for await (const piece of text) search.write(piece);
  const { complete, generator, hasScript } = search.end();
  if (isLoaded(visit.grade)) state.hasScript ||= hasScript;
  if (!complete) addIncomplete(state, path, 'is nested too deeply or has too many elements');
  if (generator !== '') state.generators.set(path, generator);
}

async function searchText(
  state: SiteState,
  queue: SearchQueue,
  visit: FileVisit,
  { text, kind }: { readonly text: AsyncIterable<string>; readonly kind: TextKind },
): Promise<void> {
  const base = state.resolver.toUrl(visit.path);
  findFileReferences(await joinText(text), kind, (reference) =>
    followReference(state, queue, visit, { ...reference, base }),
  );
}

/** Resolves a reference, and adds the file to which it leads to the queue. */
function followReference(
  state: SiteState,
  queue: SearchQueue,
  visit: FileVisit,
  found: (PageReference | FileReference) & { readonly base: string },
): void {
  const { line, element, address: written, base } = found;
  // A folder is no file; what is imported from it is judged where it is imported.
  const isFolderOfMap = element === 'importmap' && written.endsWith('/');
  if (isFolderOfMap && state.resolver.resolve(trimAddress(written), base).where === 'folder') return;
  const grade = found.grade === 'link' ? 'link' : laterGrade(visit.grade, found.grade);
  const reference: SiteReference = { file: visit.path, line, element, address: written, base, grade };
  const { importMap, base: page } = visit.page;
  const address = found.isSpecifier ? resolveSpecifier(written, importMap, base, page) : written;
  if (address === null) {
    judgeBareImport(state, reference);
    return;
  }
  const path = judgeReference(state, reference, address);
  if (path !== null && found.kind === 'module') judgeModule(state, reference, path);
  const kind = path === null ? null : getFollowedKind(found.kind, path);
  if (path === null || kind === null) return;
  const isFollowed = grade === 'link' ? isLoaded(visit.grade) : isLoaded(grade);
  if (isFollowed) enqueue(queue, { path, kind, grade: gradeVisit(kind, grade), page: visit.page });
}

/** A page that is opened has code of its own; in a style sheet nothing is code. */
function gradeVisit(kind: FileVisit['kind'], grade: ReferenceGrade): ReferenceGrade {
  if (kind === 'page') return 'code';
  return kind === 'style' ? 'content' : grade;
}

/** How the file to which a reference leads is searched; `null` if it has no references that matter. */
function getFollowedKind(kind: ResourceKind, path: string): FileVisit['kind'] | null {
  if (kind === 'document') return isHtml(path) || /\.svg$/i.test(path) ? 'page' : null;
  if (kind === 'module' || kind === 'script') return /\.(?:json|css|wasm)$/i.test(path) ? null : kind;
  return kind === 'data' ? null : kind;
}
