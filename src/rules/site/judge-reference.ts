import { getContentType } from '../media-type.ts';
import { encodePath } from '../naming.ts';
import { countLevels, formatAddress, isLoaded, type ReferenceGrade, trimAddress } from '../page/addresses.ts';
import { isHtml } from '../page/page-file.ts';
import { FindingCollector, type FoundPlace } from './findings.ts';
import { createNearNames, type NearNames } from './near-names.ts';
import { type AddressResolver, createAddressResolver, findServed, type SiteTarget } from './site-address.ts';
import type { SiteFiles, SiteOptions } from './site-files.ts';

/** An address of a file, ready to be resolved. */
export interface SiteReference {
  readonly file: string;
  readonly line: number;
  /** What uses it, such as `script`, `url()` or `import`. */
  readonly element: string;
  readonly address: string;
  /** The URL to which it is relative. */
  readonly base: string;
  readonly grade: ReferenceGrade;
}

type FindingText = Pick<FoundPlace, 'kind' | 'key' | 'text' | 'outside'> & {
  readonly hint?: string | undefined;
};

/** Hosts that lead to another place on every machine. */
const OWN_MACHINE = /^(?:localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)(?::\d+)?$/;

const ABSOLUTE = /^\s*(?:[\\/]|[a-z][a-z0-9+.-]*:)/i;

/** Resolves the references of a site, and collects those that do not lead to a file. */
export class ReferenceJudge {
  readonly resolver: AddressResolver;
  readonly refusals = new FindingCollector();
  readonly notes = new FindingCollector();
  /** Whether an absolute address of a page leads into the folder. */
  hasRightBase = false;
  readonly #files: SiteFiles;
  readonly #options: SiteOptions;
  readonly #nearNames: NearNames;
  readonly #topFolders: ReadonlySet<string>;

  constructor(files: SiteFiles, options: SiteOptions) {
    this.#files = files;
    this.#options = options;
    this.resolver = createAddressResolver(options);
    this.#nearNames = createNearNames(files.keys());
    this.#topFolders = new Set(Array.from(files.keys(), topFolder));
  }

  /**
   * Resolves a reference and reports it where it does not lead to a file.
   *
   * @param address what an import map makes of its address, else the address itself
   * @returns the file in the folder to which it leads; `null` for none
   */
  judge(reference: SiteReference, address = reference.address): string | null {
    const target = this.resolver.resolve(trimAddress(address), reference.base);
    if (target?.where === 'folder') {
      const served = findServed(target.path, (path) => this.#files.has(path));
      if (served === null) this.#judgeMissing(reference, target.path);
      else this.hasRightBase ||= isLoaded(reference.grade) && isAbsolute(reference) && isHtml(reference.file);
      return served;
    }
    if (target?.where === 'host') this.#judgeHost(reference, target);
    else if (target !== null) this.#judgeOutside(reference, target);
    return null;
  }

  /** A module that is imported by a bare name, which only an import map turns into an address. */
  judgeBareImport(reference: SiteReference): void {
    if (!isLoaded(reference.grade)) return;
    const text = `${describe(reference)} is a bare name, and the page has no import map with it`;
    const hint = 'bundle the modules, or add an import map to the page';
    this.#add(reference, { kind: 'bare-import', key: reference.address, text, hint });
  }

  /** A module that is another kind of file, as a project has it before its build: no browser runs it. */
  judgeModule(reference: SiteReference, path: string): void {
    const type = getContentType(path);
    if (reference.grade !== 'code' || /\/(?:javascript|wasm)\b/.test(type)) return;
    const text = `${describe(reference)} is ${type}, and no script that a browser runs`;
    this.#add(reference, { kind: 'missing', key: path, text, hint: 'deliver what the build writes' });
  }

  /** An address that leads into the folder, where no such file is. */
  #judgeMissing(reference: SiteReference, path: string): void {
    const mayBeBase = ABSOLUTE.test(reference.address) && !this.#topFolders.has(topFolder(path));
    const inFolder = mayBeBase ? this.#findSuffix(path) : null;
    if (inFolder === null) this.#addMissing(reference, path);
    else this.#addWrongBase(reference, `is missing, and the folder has ${inFolder}`);
  }

  #judgeHost(reference: SiteReference, { host, path }: SiteTarget): void {
    const { selfContained, origin = '', sitePath } = this.#options;
    const { grade } = reference;
    const isOwnMachine = OWN_MACHINE.test(host);
    if (grade === 'link' || (selfContained === 'off' && !isOwnMachine)) return;
    const isStart = isLoaded(grade);
    const text = `${describe(reference)} ${isStart ? 'is loaded' : 'may be loaded later'} from ${isOwnMachine ? 'the machine that made it' : 'another host'}`;
    const copy = isStart ? this.#findSuffix(path) : null;
    const inFolder = copy === 'index.html' ? null : copy;
    const mayWarn = selfContained === 'enforce' && !isOwnMachine;
    const advice =
      inFolder === null
        ? `deliver a copy of it in the folder${mayWarn ? ', or let `self-contained` be `warn`' : ''}`
        : `the folder has ${inFolder}: use its relative address, or build the site for ${origin}${sitePath}`;
    const finding: FindingText = {
      kind: isStart ? 'host' : 'later-host',
      // All that the folder has have one cause.
      key: inFolder === null ? `${host}/${path}` : host,
      text,
      hint: isStart ? advice : undefined,
    };
    this.#add(
      reference,
      finding,
      (isStart && selfContained === 'enforce') || (grade === 'code' && isOwnMachine),
    );
  }

  /** An address on the host of the site, outside of the folder. */
  #judgeOutside(reference: SiteReference, { path, where }: SiteTarget): void {
    const { address, file, grade } = reference;
    const inFolder = this.#findSuffix(path);
    if (inFolder !== null && isAbsolute(reference)) {
      this.#addWrongBase(reference, `leads out of the folder ${this.#options.sitePath}`);
    } else if (grade !== 'link' && where === 'root') {
      const text = `${describe(reference)} is outside the folder, and no part of this delivery`;
      const levels = countLevels(address) - file.split('/').length + 1;
      const isCode = grade === 'code';
      const finding: FindingText = { kind: 'unchecked', key: `${isCode} ${path}`, text };
      this.#add(reference, isCode ? { ...finding, outside: { path, levels } } : finding, false);
    } else if (grade !== 'link') this.#addMissing(reference, path, inFolder);
  }

  /** The file of the folder that a path means if its first folders are left out. */
  #findSuffix(path: string): string | null {
    const isFile = (name: string): boolean => this.#files.has(name);
    for (let from = 0; from !== -1; ) {
      const suffix = path.slice(from);
      const served = findServed(suffix, isFile);
      // The index of the folder is the end of every path.
      if (served !== null && (from === 0 || (suffix !== '' && served !== 'index.html'))) return served;
      const slash = path.indexOf('/', from);
      from = slash === -1 ? -1 : slash + 1;
    }
    return null;
  }

  /** All of them have one cause, so they are one finding; what to change is known at the end, or is the page's `<base>`. */
  #addWrongBase(reference: SiteReference, problem: string): void {
    const hint = ABSOLUTE.test(reference.address)
      ? undefined
      : `let the \`<base href>\` of the page begin with \`${this.#options.sitePath}\``;
    this.#add(reference, { kind: 'base', key: '', text: `${describe(reference)} ${problem}`, hint });
  }

  #addMissing(reference: SiteReference, path: string, inFolder: string | null = null): void {
    const { grade } = reference;
    const near = inFolder === null ? this.#nearNames(path) : [inFolder];
    this.#add(reference, {
      kind: grade === 'link' ? 'link-missing' : 'missing',
      key: path,
      text: `${describe(reference)} is missing`,
      hint: describeNear(path, near, grade),
    });
  }

  /** Only without its code a page is refused. */
  #add(reference: SiteReference, finding: FindingText, isRefused = reference.grade === 'code'): void {
    const { file, line } = reference;
    (isRefused ? this.refusals : this.notes).add({ file, line, hint: undefined, ...finding });
  }
}

const topFolder = (path: string): string => (path.includes('/') ? path.replace(/\/.*/s, '') : '');

/** Whether an address leads from the root of the host, by itself or through the base of its page. */
const isAbsolute = ({ address, base, file }: SiteReference): boolean =>
  ABSOLUTE.test(address) || !base.endsWith(`/${encodePath(file)}`);

function describeNear(missing: string, near: readonly string[], grade: ReferenceGrade): string | undefined {
  if (near.length === 0)
    return grade === 'code' ? 'add the file to the folder, or remove the reference' : undefined;
  const hasCase = near.some((name) => name.toLowerCase() === missing.toLowerCase());
  const names = near.join(' and ');
  return `the folder has ${names}${hasCase ? '; upper and lower case differ on GitHub Pages' : ''}`;
}

/** The text of a link is its address; of anything else, what uses it too. */
const describe = ({ element, address, grade }: SiteReference): string =>
  `${grade === 'link' ? 'the link to' : element} ${formatAddress(address)}`;
