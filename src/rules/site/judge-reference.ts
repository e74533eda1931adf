import { getContentType } from '../media-type.ts';
import { encodePath } from '../naming.ts';
import { countLevels, formatAddress, isLoaded, type ReferenceGrade, trimAddress } from '../page/addresses.ts';
import { isHtml } from '../page/page-file.ts';
import type { FindingCollector, FoundPlace } from './findings.ts';
import type { NearNames } from './near-names.ts';
import type { AddressResolver, SiteTarget } from './site-address.ts';
import { decodePath, findServed } from './site-address.ts';
import type { SiteFiles, SiteOptions } from './site-files.ts';

/** An address of a file, ready to be resolved. */
export interface SiteReference {
  /** The file that has it. */
  readonly file: string;
  readonly line: number;
  /** What uses it, such as `script`, `url()` or `import`. */
  readonly element: string;
  readonly address: string;
  /** The URL to which it is relative. */
  readonly base: string;
  readonly grade: ReferenceGrade;
}

/** What is known about a site while its references are resolved. */
export interface SiteState {
  readonly files: SiteFiles;
  readonly options: SiteOptions;
  readonly resolver: AddressResolver;
  readonly nearNames: NearNames;
  readonly refusals: FindingCollector;
  readonly notes: FindingCollector;
  /** The content of the `<meta name="generator">` of each page that has one. */
  readonly generators: Map<string, string>;
  /** Whether an absolute address of a page leads into the folder. */
  hasRightBase: boolean;
  /** Whether a page that is opened has a script. */
  hasScript: boolean;
  /** The names of the folders at the top. */
  readonly topFolders: ReadonlySet<string>;
}

/**
 * Resolves a reference and reports it where it does not lead to a file.
 *
 * @param address what an import map makes of its address, else the address itself
 * @returns the file in the folder to which it leads; `null` for none
 */
export function judgeReference(
  state: SiteState,
  reference: SiteReference,
  address = reference.address,
): string | null {
  const target = state.resolver.resolve(trimAddress(address), reference.base);
  if (target.where === 'none') return null;
  if (target.where === 'host') {
    judgeHost(state, reference, target);
    return null;
  }
  if (target.where === 'folder') {
    const served = findServed(target.path, (path) => state.files.has(path));
    if (served === null) judgeMissing(state, reference, target.path);
    else state.hasRightBase ||= isLoaded(reference.grade) && isAbsolute(reference) && isHtml(reference.file);
    return served;
  }
  judgeOutside(state, reference, target);
  return null;
}

/** An address that leads into the folder, where no such file is. */
function judgeMissing(state: SiteState, reference: SiteReference, path: string): void {
  const [top = ''] = path.split('/', 1);
  const mayBeBase = ABSOLUTE.test(reference.address) && !state.topFolders.has(top);
  const inFolder = mayBeBase ? findSuffix(path, state.files) : null;
  if (inFolder === null) addMissing(state, reference, path);
  else addWrongBase(state, reference, `is missing, and the folder has ${inFolder}`);
}

/** Hosts that lead to another place on every machine. */
const OWN_MACHINE = /^(?:localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)(?::\d+)?$/;

function judgeHost(
  { options, files, ...state }: SiteState,
  reference: SiteReference,
  { host, path }: SiteTarget & { where: 'host' },
): void {
  const { grade } = reference;
  const isOwnMachine = OWN_MACHINE.test(host);
  if (grade === 'link' || (options.selfContained === 'off' && !isOwnMachine)) return;
  const isStart = isLoaded(grade);
  const text = `${describe(reference)} ${isStart ? 'is loaded' : 'may be loaded later'} from ${isOwnMachine ? 'the machine that made it' : 'another host'}`;
  const inFolder = isStart ? findCopy(path, files, options) : null;
  const mayWarn = options.selfContained === 'enforce' && !isOwnMachine;
  const advice =
    inFolder === null
      ? `deliver a copy of it in the folder${mayWarn ? ', or let `self-contained` be `warn`' : ''}`
      : `the folder has ${inFolder}: use its relative address, or build the site for ${options.origin ?? ''}${options.sitePath}`;
  const isRefused = (isStart && options.selfContained === 'enforce') || (grade === 'code' && isOwnMachine);
  // What looks like another host may be the site's own.
  const isOpen = isRefused && options.isAssumed === true && inFolder !== null && !isOwnMachine;
  const place = toPlace(reference, {
    kind: isOpen ? 'base' : isStart ? 'host' : 'later-host',
    // All of them have one cause.
    key: inFolder === null ? `${host}/${path}` : host,
    text,
    hint: isStart ? advice : undefined,
  });
  (isRefused ? state.refusals : state.notes).add(place);
}

/**
 * The file of the folder that a site built for another host means: at the host's root, or in one folder there, each
 * perhaps with the folder's own path.
 */
function findCopy(path: string, files: SiteFiles, { sitePath, rootPath }: SiteOptions): string | null {
  const isFile = (name: string): boolean => name !== 'index.html' && files.has(name);
  const below = decodePath(sitePath.slice(rootPath.length));
  for (const name of [path, path.replace(/^[^/]*\//, '')]) {
    const found = findServed(name, isFile);
    if (found !== null) return found;
    if (name.startsWith(below)) return findServed(name.slice(below.length), isFile);
  }
  return null;
}

/** An address on the host of the site, outside of the folder. */
function judgeOutside(
  state: SiteState,
  reference: SiteReference,
  target: SiteTarget & { where: 'root' | 'elsewhere' },
): void {
  const { path, where } = target;
  const { grade } = reference;
  const inFolder = findSuffix(path, state.files);
  if (inFolder !== null && isAbsolute(reference)) {
    addWrongBase(state, reference, `leads out of the folder ${state.options.sitePath}`);
  } else if (grade === 'link') {
    return;
  } else if (where === 'root') {
    const text = `${describe(reference)} is outside the folder, and no part of this delivery`;
    const isCode = grade === 'code';
    const place = toPlace(reference, { kind: 'unchecked', key: `${isCode} ${path}`, text });
    const levels = countLevels(reference.address) - reference.file.split('/').length + 1;
    state.notes.add(isCode ? { ...place, outside: { path, levels } } : place);
  } else addMissing(state, reference, path, inFolder);
}

/** Whether an address leads from the root of the host, by itself or through the base of its page. */
function isAbsolute({ address, base, file }: SiteReference): boolean {
  return ABSOLUTE.test(address) || !base.endsWith(`/${encodePath(file)}`);
}

const ABSOLUTE = /^\s*(?:[\\/]|[a-z][a-z0-9+.-]*:)/i;

/** The file of the folder that a path means if its first folders are left out. */
function findSuffix(path: string, files: SiteFiles): string | null {
  const isFile = (name: string): boolean => files.has(name);
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
function addWrongBase(state: SiteState, reference: SiteReference, problem: string): void {
  const hint = ABSOLUTE.test(reference.address)
    ? undefined
    : `let the \`<base href>\` of the page begin with \`${state.options.sitePath}\``;
  addFinding(state, reference, { kind: 'base', key: '', text: `${describe(reference)} ${problem}`, hint });
}

function addMissing(
  state: SiteState,
  reference: SiteReference,
  path: string,
  inFolder: string | null = null,
): void {
  const { grade } = reference;
  const near = inFolder === null ? state.nearNames(path) : [inFolder];
  addFinding(state, reference, {
    kind: grade === 'link' ? 'link-missing' : 'missing',
    key: path,
    text: `${describe(reference)} is missing`,
    hint: describeNear(path, near, grade),
  });
}

function describeNear(missing: string, near: readonly string[], grade: ReferenceGrade): string | undefined {
  if (near.length === 0)
    return grade === 'code' ? 'add the file to the folder, or remove the reference' : undefined;
  const hasCase = near.some((name) => name.toLowerCase() === missing.toLowerCase());
  const names = near.join(' and ');
  return `the folder has ${names}${hasCase ? '; upper and lower case differ on GitHub Pages' : ''}`;
}

/** A module that is imported by a bare name, which only an import map turns into an address. */
export function judgeBareImport(state: SiteState, reference: SiteReference): void {
  if (!isLoaded(reference.grade)) return;
  const text = `${describe(reference)} is a bare name, and the page has no import map with it`;
  const hint = 'bundle the modules, or add an import map to the page';
  addFinding(state, reference, { kind: 'bare-import', key: reference.address, text, hint });
}

/** A module that is another kind of file, as a project has it before its build: no browser runs it. */
export function judgeModule(state: SiteState, reference: SiteReference, path: string): void {
  const type = getContentType(path);
  if (reference.grade !== 'code' || /\/(?:javascript|wasm)\b/.test(type)) return;
  const text = `${describe(reference)} is ${type}, and no script that a browser runs`;
  addFinding(state, reference, { kind: 'missing', key: path, text, hint: 'deliver what the build writes' });
}

/** The text of a link is its address; of anything else, what uses it too. */
const describe = ({ element, address, grade }: SiteReference): string =>
  `${grade === 'link' ? 'the link to' : element} ${formatAddress(address)}`;

type FindingText = Pick<FoundPlace, 'kind' | 'key' | 'text'> & { readonly hint?: string | undefined };

/** Only without its code a page is refused. */
function addFinding(state: SiteState, reference: SiteReference, finding: FindingText): void {
  (reference.grade === 'code' ? state.refusals : state.notes).add(toPlace(reference, finding));
}

const toPlace = ({ file, line }: SiteReference, finding: FindingText): FoundPlace => {
  return { file, line, hint: undefined, ...finding };
};
