import { text as joinText } from 'node:stream/consumers';
import { MEGABYTE } from '../../protocol/limits.ts';
import { isImage } from '../media-type.ts';
import {
  type AddAddress,
  createLineCounter,
  isExternal,
  isLoaded,
  laterGrade,
  type PageReference,
  type ReferenceGrade,
  type ResourceKind,
} from '../page/addresses.ts';
import { searchPage } from '../page/html-references.ts';
import { type ImportMap, NO_IMPORT_MAP, resolveSpecifier } from '../page/import-map.ts';
import { readCharset } from '../page/link-page.ts';
import { decodeText, isHtml, isXhtml, LARGEST_PAGE } from '../page/page-file.ts';
import { findCssReferences, findScriptReferences } from '../page/script-references.ts';
import { createEncodingCheck, type MisreadText } from '../text-encoding.ts';
import type { FindingCollector, SiteFiles, SiteFinding, SiteInspection, SiteOptions } from './findings.ts';
import { describeBase, describeEmbedding, describeRouter, findGenerator } from './generators.ts';
import { ReferenceJudge } from './judge-reference.ts';
import { judgeShownFile } from './shown-file.ts';
import { getKindOfName, gradeVisit, hasReferences, isOpenedPage, isSvg } from './site-address.ts';

/**
 * Resolves every reference of a folder, or of a single page, as a browser would on GitHub Pages. Missing code is refused
 * in pages that a person may open. In other pages, which may be attachments, it is a note.
 */
export async function inspectSite(files: SiteFiles, options: SiteOptions): Promise<SiteInspection> {
  const judge = new ReferenceJudge(files, options);
  const search = new SiteSearch(files, judge, options);
  const paths = [...files.keys()];
  await search.searchAll([options.entry, ...paths.filter(isOpenedPage)], 'code');
  await search.searchAll(paths, 'later');
  // A browser shows a part of a picture that was cut short.
  for (const path of search.pictures) await search.judgeShown(path, true);
  if (!options.isFolder) await search.judgeShown(options.entry);
  judge.end();
  const findMaker = async (page: string) => findGenerator(await readStart(page, files), paths);
  const maker = await findMaker(options.entry);
  const addHint = async (finding: SiteFinding): Promise<SiteFinding> => {
    const { kind, file, hint } = finding;
    if (kind !== 'base') return NEEDED.has(kind) ? { ...finding, hint: hint ?? embedding } : finding;
    const own = file === options.entry ? maker : await findMaker(file);
    const setting = describeBase(own, options.sitePath, judge.hasRightBase);
    // A generator also writes the `<base>`, and would write it again.
    return { ...finding, hint: own?.base === undefined ? (hint ?? setting) : setting };
  };
  const embedding = options.isFolder || maker === undefined ? undefined : describeEmbedding(maker);
  const list = (findings: FindingCollector) => Promise.all(findings.list().map(addHint));
  return {
    refusals: await list(judge.refusals),
    unknown: await list(judge.unknown),
    notes: await list(judge.notes),
    hasAbsolute: judge.hasRightBase,
    routerSetting: search.hasScript ? describeRouter(maker, options.sitePath, judge.hasRightBase) : null,
  };
}

/** What a page may need besides itself. */
const NEEDED: ReadonlySet<SiteFinding['kind']> = new Set(['host', 'machine', 'outside']);

/** The beginning of a page, which tells its generator. */
async function readStart(path: string, files: SiteFiles): Promise<string> {
  const file = isHtml(path) && !isXhtml(path) ? files.get(path) : undefined;
  let start = '';
  if (file === undefined || file.size > LARGEST_PAGE) return start;
  for await (const piece of decodeText(file.pieces())) {
    start += piece;
    if (start.length > MEGABYTE) break;
  }
  return start;
}

const LARGEST_TEXT = 8 * MEGABYTE;
const MOST_PICTURES = 100;

interface FileVisit {
  readonly path: string;
  readonly kind: ResourceKind;
  readonly grade: ReferenceGrade;
  readonly importMap: ImportMap;
}

/** Searches the files of a site, and the files that they load, one at a time. */
class SiteSearch {
  hasScript = false;
  /** The entry's pictures in files of their own. */
  readonly pictures = new Set<string>();
  readonly #files: SiteFiles;
  readonly #judge: ReferenceJudge;
  readonly #options: SiteOptions;
  readonly #pending: FileVisit[] = [];
  /** The earliest grade of each file that was pending. */
  readonly #seen = new Map<string, ReferenceGrade>();
  readonly #searched = new Set<string>();
  /** The last file that is not in UTF-8. */
  #misread = '';

  constructor(files: SiteFiles, judge: ReferenceJudge, options: SiteOptions) {
    this.#files = files;
    this.#judge = judge;
    this.#options = options;
  }

  /** Searches files that were not searched yet, and everything that they load. */
  async searchAll(paths: readonly string[], grade: ReferenceGrade): Promise<void> {
    for (const path of paths) {
      const visit = { path, kind: getKindOfName(path), grade, importMap: NO_IMPORT_MAP };
      if (visit.kind !== 'data' && !this.#searched.has(path)) this.#enqueue(visit);
    }
    for (let visit = this.#pending.shift(); visit !== undefined; visit = this.#pending.shift()) {
      this.#options.signal?.throwIfAborted();
      const pieces = decodeText(this.#read(visit));
      if (visit.kind === 'document') await this.#searchPage(visit, pieces);
      else this.#searchText(visit, await joinText(pieces));
    }
  }

  /** Judges a file that is delivered alone, if it is neither a page nor code. @param isPart whether a page shows it */
  async judgeShown(path: string, isPart = false): Promise<void> {
    const file = this.#searched.has(path) ? undefined : this.#files.get(path);
    const problem = file && (await judgeShownFile(path, file));
    if (!problem) return;
    const { kind, line, isOpen, ...text } = problem;
    const list = isOpen || isPart ? this.#judge.unknown : this.#judge.refusals;
    const missing = new URL(this.#judge.resolver.toUrl(path)).pathname;
    list.add(kind, path, { file: path, line }, () => ({ ...text, ...(isPart && { missing }) }));
  }

  #enqueue(visit: FileVisit): void {
    const { path, kind, grade, importMap } = visit;
    // The imports of a module depend on the import map of its page.
    const key = `${kind} ${path} ${/script|module/.test(kind) ? importMap.id : ''}`;
    const known = this.#seen.get(key);
    // One page may load a script with `async`, and another page without it.
    if (known !== undefined && laterGrade(known, grade) === grade) return;
    this.#seen.set(key, grade);
    this.#pending.push(visit);
  }

  /** Reads the first bytes of a file, but nothing of XHTML (it has its own rules) or of a page that is too large. */
  async *#read(visit: FileVisit): AsyncGenerator<Buffer, void, undefined> {
    const { path } = visit;
    const file = this.#files.get(path);
    if (file === undefined) return;
    const isKnown = this.#searched.has(path);
    this.#searched.add(path);
    const limit = isHtml(path) ? LARGEST_PAGE : LARGEST_TEXT;
    const reason = isXhtml(path) ? 'is XHTML' : `is larger than ${limit / MEGABYTE} MB`;
    const isPart = isXhtml(path) || file.size > limit;
    if (isPart && !isKnown) this.#addIncomplete(path, reason);
    if (isPart && isHtml(path)) return;
    const encoding = createEncodingCheck(readCharset);
    let size = 0;
    for await (const chunk of file.pieces()) {
      if (!isKnown) encoding.add(chunk);
      yield chunk;
      size += chunk.length;
      if (size >= limit) break;
    }
    if (!isKnown) this.#judgeEncoding(visit, encoding.end(!isPart));
  }

  #addIncomplete(file: string, reason: string): void {
    const describe = () => ({ text: `the file was not searched completely, because it ${reason}` });
    this.#judge.unknown.add('incomplete', file, { file, line: 1 }, describe);
  }

  /** Refuses an unreadable page if a person may open it; notes other misread files. */
  #judgeEncoding({ path, grade }: FileVisit, misread: MisreadText | null): void {
    if (misread !== null) this.#misread = path;
    // A drawing declares its own encoding.
    if (misread === null || isSvg(path)) return;
    const { line, text, isUnreadable } = misread;
    const { refusals, notes } = this.#judge;
    const list = isUnreadable && isHtml(path) && grade !== 'later' ? refusals : notes;
    list.add('encoding', path, { file: path, line }, () => ({ text, hint: 'save it as UTF-8' }));
  }

  async #searchPage(visit: FileVisit, pieces: AsyncIterable<string>): Promise<void> {
    const { path, grade } = visit;
    const url = this.#judge.resolver.toUrl(path);
    const page = await searchPage(pieces, url, (found, { base, importMap }) => {
      this.#follow({ ...visit, importMap }, found, base);
    });
    const { complete, hasScript, problems } = page;
    if (isLoaded(grade)) this.hasScript ||= hasScript;
    if (!complete) this.#addIncomplete(path, 'is nested too deeply');
    const { refusals, unknown, notes } = this.#judge;
    for (const { kind, line, isOpen, ...said } of complete ? problems : []) {
      if (kind === 'encoding' && path === this.#misread) continue;
      const list = grade === 'later' ? notes : isOpen ? unknown : refusals;
      list.add(kind, path, { file: path, line }, () => said);
    }
  }

  #searchText(visit: FileVisit, code: string): void {
    const { path, kind } = visit;
    const base = this.#judge.resolver.toUrl(path);
    const getLine = createLineCounter(code, 1);
    const add: AddAddress = ({ offset, ...found }) => {
      if (!isExternal(found.address)) return;
      const style = found.kind === 'style' ? '@import' : 'url()';
      const element = kind === 'style' ? style : 'import';
      this.#follow(visit, { ...found, line: getLine(offset), element }, base);
    };
    if (kind === 'style') findCssReferences(code, add);
    else findScriptReferences(code, kind === 'module', add);
  }

  #follow(visit: FileVisit, found: PageReference, base: string): void {
    const grade = laterGrade(visit.grade, found.grade);
    const address = found.isSpecifier
      ? resolveSpecifier(found.address, visit.importMap, base)
      : found.address;
    if (address === null && visit.importMap.isOpen) return;
    const path = this.#judge.judge({ ...found, file: visit.path, base, grade }, address);
    const isShown = path !== null && visit.path === this.#options.entry && isLoaded(grade) && isImage(path);
    const isSmall = isShown && (this.#files.get(path)?.size ?? 0) <= LARGEST_TEXT;
    if (isSmall && this.pictures.size < MOST_PICTURES) this.pictures.add(path);
    const isFollowed = isLoaded(grade === 'link' ? visit.grade : grade);
    if (path === null || !isFollowed || !hasReferences(found.kind, path)) return;
    this.#enqueue({ ...visit, path, kind: found.kind, grade: gradeVisit(found.kind, grade) });
  }
}
