import { getContentType } from '../media-type.ts';
import { baseName, encodePath } from '../naming.ts';
import {
  countLevels,
  formatAddress,
  isCode,
  isLoaded,
  type PageReference,
  type ReferenceGrade,
} from '../page/addresses.ts';
import { isHtml } from '../page/page-file.ts';
import {
  FindingCollector,
  type FindingText,
  type SiteFiles,
  type SiteFinding,
  type SiteOptions,
} from './findings.ts';
import { createAddressResolver, findServed, type ResolvedAddress } from './site-address.ts';

interface SiteReference extends PageReference {
  readonly file: string;
  readonly base: string;
}

/** Host names that mean a different host on every machine. */
const OWN_MACHINE = /^(?:localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)(?::\d+)?$/;

/** URLs that a visitor's browser can open. Others name a file of one machine, message or chat. */
const OPENED = /^(?:https?|wss?|ftp):$/;
const UNOPENED = "opens in no visitor's browser";

const ABSOLUTE = /^\s*(?:[\\/]|[a-z][a-z0-9+.-]*:)/i;

/** Resolves the references of a site, and collects those that lead to no file. */
export class ReferenceJudge {
  readonly resolver: ReturnType<typeof createAddressResolver>;
  readonly refusals = new FindingCollector();
  readonly unknown = new FindingCollector();
  readonly notes = new FindingCollector();
  /** Whether an absolute address of a page leads into the folder. */
  hasRightBase = false;
  readonly #files: SiteFiles;
  readonly #options: SiteOptions;
  readonly #topFolders: ReadonlySet<string>;
  /** The entry's links and scripts that lead out to files of the folder; `null` if one leads into the folder. */
  readonly #lost = new Map<string, Set<string> | null>();
  readonly #deepest: number;

  constructor(files: SiteFiles, options: SiteOptions) {
    this.#files = files;
    this.#options = options;
    this.resolver = createAddressResolver(options);
    this.#topFolders = new Set(Array.from(files.keys(), topFolder));
    this.#deepest = Array.from(files.keys()).reduce(
      (most, path) => Math.max(most, path.split('/').length),
      0,
    );
  }

  /**
   * Resolves a reference, and reports it if it leads to no file. @returns the path of the file in the folder, or `null`
   * @param address the address after the import map; `null` for a bare name that no map resolves
   */
  judge(reference: SiteReference, address: string | null): string | null {
    const target = address === null ? null : this.resolver.resolve(address, reference.base);
    if (address === null) this.#judgeBareImport(reference);
    if (target === null) return null;
    const served = target.where === 'folder' ? findServed(target.path, this.#isFile) : null;
    if (served !== null) {
      this.#lost.set(this.#useOf(reference), null);
      this.hasRightBase ||= isLoaded(reference.grade) && isAbsolute(reference) && isHtml(reference.file);
      if (reference.kind === 'module') this.#judgeModule(reference, served);
    } else if (target.where === 'host') this.#judgeHost(reference, target);
    else if (target.where === 'folder' && this.#options.isFolder) this.#judgeMissing(reference, target);
    else this.#judgeOutside(reference, target);
    return served;
  }

  /** Refuses a wrong base if all links of the entry lead out, or all its scripts. A single one may be meant so. */
  end(): void {
    const isLost = ['link', 'script'].some((use) => (this.#lost.get(use)?.size ?? 0) > 1);
    for (const list of isLost ? [this.unknown, this.notes] : []) list.moveTo(this.refusals, 'base');
  }

  #useOf({ file, grade, kind }: SiteReference): 'link' | 'script' | '' {
    if (file !== this.#options.entry) return '';
    return grade === 'link' ? 'link' : /script|module/.test(kind) ? 'script' : '';
  }

  #judgeBareImport(reference: SiteReference): void {
    if (!isLoaded(reference.grade)) return;
    this.#add(reference, 'bare-import', reference.address, () => ({
      text: `${nameOf(reference)} is a bare module name that no import map of the page resolves`,
      hint: 'bundle the modules, or add the name to an import map',
    }));
  }

  /** Reports a module that no browser runs, such as a source file from before the build. */
  #judgeModule(reference: SiteReference, path: string): boolean {
    const type = getContentType(path);
    if (!isCode(reference.grade) || /\/(?:javascript|wasm)\b/.test(type)) return false;
    this.#add(reference, 'missing', path, () => ({
      text: `${nameOf(reference)} is ${type}, which no browser runs as a script`,
      hint: 'deliver the output of the build',
    }));
    return true;
  }

  readonly #isFile = (path: string): boolean => this.#files.has(path);

  #judgeMissing(reference: SiteReference, { url, path }: ResolvedAddress): void {
    const { grade } = reference;
    const mayBeBase = isAbsolute(reference) && !this.#topFolders.has(topFolder(path));
    const inFolder = mayBeBase ? this.#findSuffix(path) : null;
    const describe = (): FindingText => ({
      // A full URL may name a file that the site has already.
      text: `${nameOf(reference)} is ${/^\s*https?:/i.test(reference.address) ? 'not part of this delivery' : 'missing'}`,
      hint: this.#describeNear(path, grade),
      missing: url.pathname + url.search,
    });
    if (inFolder !== null)
      this.#addWrongBase(reference, inFolder, `is missing, but the folder has ${inFolder}`);
    else this.#add(reference, grade === 'link' ? 'link-missing' : 'missing', path, describe);
  }

  /** Names files with the same name in another folder or another letter case. */
  #describeNear(missing: string, grade: ReferenceGrade): string | undefined {
    const name = baseName(missing).toLowerCase();
    const near = [...this.#files.keys()].filter((path) => baseName(path).toLowerCase() === name).slice(0, 2);
    // Most folders have an index, so its name doesn't help.
    if (near.length === 0 || name === 'index.html') {
      return isLoaded(grade) ? 'add the file to the folder, or remove the reference' : undefined;
    }
    const isCase = near.some((path) => path.toLowerCase() === missing.toLowerCase());
    return `the folder has ${near.join(' and ')}${isCase ? '; GitHub Pages distinguishes upper and lower case' : ''}`;
  }

  /** A link to a developer's own machine may be meant so in a folder, such as in documentation. */
  #judgeDeadLink(reference: SiteReference, key: string): void {
    this[this.#options.isFolder ? 'notes' : 'unknown'].add('link-missing', key, reference, () => ({
      text: `${nameOf(reference)} ${UNOPENED}`,
      hint: 'correct or remove the link',
    }));
  }

  #judgeHost(reference: SiteReference, { url: { href, host, protocol }, path }: ResolvedAddress): void {
    const { isFolder, selfContained, origin = '', sitePath } = this.#options;
    const { grade } = reference;
    const canOpen = OPENED.test(protocol);
    const isMachine = !canOpen || OWN_MACHINE.test(host);
    if (grade === 'link' && isMachine) this.#judgeDeadLink(reference, href);
    if (grade === 'link' || (selfContained === 'off' && !isMachine)) return;
    const isStart = isLoaded(grade);
    const inFolder = isStart ? this.#findSuffix(path) : null;
    const hint =
      inFolder === null
        ? 'deliver a copy of it in the folder'
        : `the folder has ${inFolder}: use its relative URL, or build the site for ${origin}${sitePath}`;
    const source = isMachine ? 'the machine that built it' : 'another host';
    const way = canOpen ? `${isStart ? 'is loaded' : 'may be loaded later'} from ${source}` : UNOPENED;
    const loaded = isMachine ? 'machine' : protocol === 'http:' ? 'insecure' : 'host';
    const kind = isStart ? loaded : 'later-host';
    const change = kind === 'insecure' ? 'begin its URL with `https:`' : undefined;
    const describe = (): FindingText => ({
      // An import map's name says nothing about the host.
      text: `${nameOf(reference.isSpecifier ? { ...reference, address: href } : reference)} ${way}`,
      hint: isStart && isFolder ? hint : canOpen ? change : 'put it into the page',
      ...(!canOpen && { missing: href }),
    });
    const isRefused = (isStart && selfContained === 'enforce') || (grade === 'code' && isMachine && canOpen);
    // Files that the folder has share a cause, so they count as one finding.
    const key = inFolder === null ? `${host}/${path}` : host;
    const list = isRefused ? 'refusals' : isStart ? 'unknown' : 'notes';
    this[list].add(kind, key, reference, describe);
  }

  /** Judges an address on the site's host that is not part of the delivery. */
  #judgeOutside(reference: SiteReference, { url, path }: ResolvedAddress): void {
    const { isFolder, selfContained, sitePath } = this.#options;
    const { address, file, grade } = reference;
    const inFolder = isAbsolute(reference) ? this.#findSuffix(path) : null;
    if (inFolder !== null) {
      this.#addWrongBase(reference, inFolder, `leads out of the folder ${sitePath}`, path);
      return;
    }
    if (grade === 'link') {
      const text = `${nameOf(reference)} leads to no file of this delivery`;
      if (!isFolder && !isAbsolute(reference)) this.#add(reference, 'link-missing', path, () => ({ text }));
      return;
    }
    const describe = (): FindingText => ({
      text: `${nameOf(reference)} is outside the ${isFolder ? 'folder' : 'page'}, so it is not part of this delivery`,
      levels: ABSOLUTE.test(address) ? undefined : countLevels(address) - file.split('/').length + 1,
      url: grade === 'code' ? url.origin + url.pathname : undefined,
    });
    const isNeeded = !isFolder && selfContained === 'enforce' && isLoaded(grade);
    const list = isNeeded ? 'refusals' : isLoaded(grade) ? 'unknown' : 'notes';
    this[list].add('outside', `${grade} ${path}`, reference, describe);
  }

  /** The file that a path matches if its first folders are removed. */
  #findSuffix(path: string): string | null {
    if (!this.#options.isFolder) return null;
    const names = path.split('/');
    for (let left = Math.max(names.length - this.#deepest, 0); left < names.length; left += 1) {
      const suffix = names.slice(left).join('/');
      const served = findServed(suffix, this.#isFile);
      // Every path ends in the index of the folder, so that match proves nothing.
      if (served !== null && served !== 'index.html') return served;
    }
    return null;
  }

  /** Adds a finding that all addresses with a wrong base share. Its hint is added at the end, except for `<base>`. */
  #addWrongBase(reference: SiteReference, inFolder: string, problem: string, path?: string): void {
    if (reference.kind === 'module' && this.#judgeModule(reference, inFolder)) return;
    const use = this.#useOf(reference);
    const lost = this.#lost.get(use);
    if (lost !== null) this.#lost.set(use, lost?.add(inFolder) ?? new Set([inFolder]));
    const hint = `begin the \`<base href>\` of the page with \`${this.#options.sitePath}\``;
    this.#add(reference, 'base', '', () => ({
      text: `${nameOf(reference)} ${problem}`,
      hint: ABSOLUTE.test(reference.address) ? undefined : hint,
      ...(path !== undefined && { path }),
    }));
  }

  #add(reference: SiteReference, kind: SiteFinding['kind'], key: string, describe: () => FindingText): void {
    const { grade, file, element } = reference;
    // A reader of the entry meets these. A style sheet may name pictures that no page needs.
    const isMet = grade === 'link' ? kind === 'base' : grade === 'content' && element !== 'style';
    const list = isMet && file === this.#options.entry ? 'unknown' : LISTS[grade];
    this[list].add(kind, key, reference, describe);
  }
}

const LISTS = {
  code: 'refusals',
  async: 'unknown',
  content: 'notes',
  later: 'notes',
  link: 'notes',
} as const satisfies Record<ReferenceGrade, string>;

const topFolder = (path: string): string => (path.includes('/') ? path.replace(/\/.*/s, '') : '');

/** Whether an address starts at the root of the host, by itself or through the base of its page. */
const isAbsolute = ({ address, base, file }: SiteReference): boolean =>
  ABSOLUTE.test(address) || !base.endsWith(`/${encodePath(file)}`);

const ELEMENTS: Readonly<Record<string, string>> = {
  img: 'the picture',
  image: 'the picture',
  background: 'the background',
};

const nameOf = ({ element, address, grade }: SiteReference): string =>
  `${grade === 'link' ? 'the link to' : (ELEMENTS[element] ?? element)} ${formatAddress(address)}`;
