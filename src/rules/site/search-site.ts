import {
  isSpecifierAddress,
  laterGrade,
  type ReferenceGrade,
  type ResourceKind,
  trimAddress,
} from '../page/addresses.ts';
import { type PageReference, searchPage } from '../page/html-references.ts';
import { type ImportMapEntry, resolveSpecifier } from '../page/import-map.ts';
import { decodeText, isHtml, isXhtml, LARGEST_PAGE, readBytes } from '../page/page-file.ts';
import { describeMisread, findMisreadText, MISREAD_HINT } from '../text-encoding.ts';
import {
  gradeWithin,
  judgeBareImport,
  judgeReference,
  type SiteReference,
  type SiteState,
} from './judge-reference.ts';
import { type FileReference, readFileReferences, type TextKind } from './read-references.ts';
import { noteRouter } from './routers.ts';
import { findServed } from './serving.ts';

/** The largest part of a script or style sheet that is searched, in bytes. */
const LARGEST_TEXT = 8_388_608;

/** The page for which a file is loaded. */
interface PageContext {
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
  readonly page: PageContext;
}

/** The files that are still to be searched, and those that were. */
export interface SearchQueue {
  readonly pending: FileVisit[];
  readonly seen: Set<string>;
  readonly searched: Set<string>;
}

export const createQueue = (): SearchQueue => ({ pending: [], seen: new Set(), searched: new Set() });

/** Adds a file that no page is known to use. */
export function enqueueFile(state: SiteState, queue: SearchQueue, path: string, grade: ReferenceGrade): void {
  const kind = getKindOfName(path);
  if (kind === null) return;
  enqueue(queue, { path, kind, grade, page: { base: state.resolver.toUrl(path), importMap: [], key: '' } });
}

function enqueue(queue: SearchQueue, visit: FileVisit): void {
  const key = `${visit.kind} ${visit.page.key} ${visit.path}`;
  // What is only used under a condition may be used without one elsewhere.
  if (queue.seen.has(key) || queue.seen.has(`${visit.grade} ${key}`)) return;
  const isSure = visit.grade !== 'conditional';
  queue.seen.add(isSure ? key : `${visit.grade} ${key}`);
  queue.pending.push(visit);
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
    const text = await readVisitedText(state, queue, visit);
    if (visit.kind === 'page') searchSitePage(state, queue, visit, text);
    else searchText(state, queue, visit, { text, kind: visit.kind });
  }
  queue.pending.length = 0;
}

/** The text of a file, at most its first part; empty for a page that is too large. */
export async function readSiteText(state: Pick<SiteState, 'files'>, path: string): Promise<string> {
  return decodeText(await readSiteBytes(state, path));
}

async function readSiteBytes({ files }: Pick<SiteState, 'files'>, path: string): Promise<Buffer> {
  const file = files.get(path);
  const limit = getLimit(path);
  if (file === undefined || (file.size > limit && isHtml(path))) return Buffer.alloc(0);
  return readBytes(file, limit);
}

/** The text of a file that is searched; at the first time, what keeps it from being read is noted. */
async function readVisitedText(state: SiteState, queue: SearchQueue, visit: FileVisit): Promise<string> {
  const bytes = await readSiteBytes(state, visit.path);
  if (!queue.searched.has(visit.path)) {
    noteSize(state, visit.path);
    judgeEncoding(state, visit, bytes);
  }
  queue.searched.add(visit.path);
  return decodeText(bytes);
}

/** How many bytes of a file are searched. */
const getLimit = (path: string): number => (isHtml(path) ? LARGEST_PAGE : LARGEST_TEXT);

function noteSize(state: SiteState, path: string): void {
  const limit = getLimit(path);
  const isLarger = (state.files.get(path)?.size ?? 0) > limit;
  if (isLarger) addIncomplete(state, path, `is larger than ${limit / 1_048_576} MB`);
}

function addIncomplete(state: SiteState, file: string, reason: string): void {
  const text = `the file was not searched completely, because it ${reason}`;
  state.notes.add({ kind: 'incomplete', key: file, file, line: 1, text, hint: undefined });
}

/**
 * Refuses a page that a person opens, if its text would be unreadable; of other files it is a note. Pages declares no
 * encoding of drawings.
 */
function judgeEncoding({ files, refusals, notes }: SiteState, visit: FileVisit, bytes: Buffer): void {
  const { path, grade } = visit;
  if (/\.svg$/i.test(path)) return;
  const misread = findMisreadText(bytes, bytes.length === files.get(path)?.size);
  if (misread === null) return;
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

function searchSitePage(state: SiteState, queue: SearchQueue, visit: FileVisit, text: string): void {
  const { path } = visit;
  const url = state.resolver.toUrl(path);
  if (visit.grade === 'start') noteRouter(state.router, text, state.options.sitePath);
  const search = searchPage(text, isXhtml(path) || /\.svg$/i.test(path));
  if (!search.complete) addIncomplete(state, path, 'is nested too deeply or has too many elements');
  state.generator ||= search.generator;
  const base = search.base === '' ? url : (URL.parse(search.base.trim(), url)?.href ?? url);
  const key = search.importMap.length === 0 ? '' : path;
  const page: PageContext = { base, importMap: search.importMap, key };
  for (const reference of search.references) {
    if (reference.isOpaque && URL.canParse(reference.address) === false) continue;
    followReference(state, queue, { ...visit, page }, { ...reference, base });
  }
}

function searchText(
  state: SiteState,
  queue: SearchQueue,
  visit: FileVisit,
  { text, kind }: { readonly text: string; readonly kind: TextKind },
): void {
  const url = state.resolver.toUrl(visit.path);
  if (visit.grade === 'start') noteRouter(state.router, text, state.options.sitePath);
  for (const reference of readFileReferences(text, kind)) {
    const base = reference.isPageRelative ? visit.page.base : url;
    followReference(state, queue, visit, { ...reference, base });
  }
}

/** Resolves a reference, and adds the file to which it leads to the queue. */
function followReference(
  state: SiteState,
  queue: SearchQueue,
  visit: FileVisit,
  found: (PageReference | FileReference) & { readonly base: string },
): void {
  // Only its host is known.
  if (found.isPartial && !/^\s*(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(found.address)) return;
  const { line, element, rule, base } = found;
  const isMapEntry = element === 'importmap';
  // A folder is no file; what is imported from it is judged where it is imported.
  if (isMapEntry && found.address.endsWith('/') && leadsInside(state, found.address, base)) return;
  const hasOther = found.others?.some((other) => isServed(state, other, base)) === true;
  const own = hasOther ? laterGrade(found.grade, 'conditional') : found.grade;
  const grade = gradeWithin(visit.grade, isMapEntry ? 'later' : own);
  const reference: SiteReference = {
    file: visit.path,
    line,
    element,
    address: found.address,
    base,
    grade,
    rule,
  };
  const address = found.isSpecifier ? resolveImport(visit.page, reference) : found.address;
  if (address === null) {
    judgeBareImport(state, reference);
    return;
  }
  const path = judgeReference(state, reference, address);
  const kind = path === null || isMapEntry ? null : getFollowedKind(found.kind, path);
  if (path === null || kind === null) return;
  if (grade === 'start' || (grade === 'link' && visit.grade === 'start')) {
    enqueue(queue, { path, kind, grade: 'start', page: visit.page });
  } else if (grade === 'conditional') enqueue(queue, { path, kind, grade, page: visit.page });
}

const leadsInside = ({ resolver }: SiteState, address: string, base: string): boolean =>
  resolver.resolve(trimAddress(address), base).where === 'folder';

/** Whether an address leads to a file of the folder, or has its content in itself. */
function isServed({ resolver, files }: SiteState, address: string, base: string): boolean {
  const target = resolver.resolve(trimAddress(address), base);
  if (target.where === 'none') return /^\s*data:/i.test(address);
  return target.where === 'folder' && findServed(target.path, (path) => files.has(path)) !== null;
}

function resolveImport(
  { importMap, base }: PageContext,
  { address, base: importer }: SiteReference,
): string | null {
  if (importMap.length === 0) return isSpecifierAddress(address) ? address : null;
  return resolveSpecifier(address, importMap, importer, base);
}

/** How the file to which a reference leads is searched; `null` if it has no references that matter. */
function getFollowedKind(kind: ResourceKind, path: string): FileVisit['kind'] | null {
  if (kind === 'document') return isHtml(path) || /\.svg$/i.test(path) ? 'page' : null;
  if (kind === 'module' || kind === 'script') return /\.(?:json|css|wasm)$/i.test(path) ? null : kind;
  return kind === 'data' ? null : kind;
}
