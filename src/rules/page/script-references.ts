import { type FoundAddress, hasHost, isSpecifierAddress, type ResourceKind } from './addresses.ts';
import { parseJsonText, toFields } from './json-fields.ts';
import { ScriptFlow } from './script-flow.ts';
import { tokenizeScript } from './script-tokens.ts';

/** Which string literals of a call count as addresses. */
type LiteralRule = 'any' | 'specifier' | 'with a host';

interface CallRule {
  readonly counts: LiteralRule;
  readonly kind: ResourceKind;
  /** The object whose method it must be. */
  readonly owner?: string;
  /** How many strings come before the address; 0 if absent. */
  readonly stringsBefore?: number;
  /** Whether a relative address is relative to the page, not to the file of the script. */
  readonly isPageRelative?: boolean;
}

/** Calls with a literal address that a browser fetches. */
export const FETCHING_CALLS: Readonly<Record<string, CallRule>> = {
  import: { counts: 'specifier', kind: 'module' },
  importScripts: { counts: 'any', kind: 'script' },
  Worker: { counts: 'any', kind: 'script', isPageRelative: true },
  SharedWorker: { counts: 'any', kind: 'script', isPageRelative: true },
  register: { counts: 'any', kind: 'script', owner: 'serviceWorker', isPageRelative: true },
  addModule: { counts: 'any', kind: 'module', isPageRelative: true },
  fetch: { counts: 'with a host', kind: 'data' },
  Request: { counts: 'with a host', kind: 'data' },
  open: { counts: 'with a host', kind: 'data', stringsBefore: 1 },
  EventSource: { counts: 'with a host', kind: 'data' },
  WebSocket: { counts: 'with a host', kind: 'data' },
  sendBeacon: { counts: 'with a host', kind: 'data' },
};

/** `element.src = "https://…"`, as script loaders do. */
const SRC_ASSIGNMENT: CallRule = { counts: 'with a host', kind: 'data' };

/** Represents any string in the list of previous tokens. */
const STRING = '""';

/** The most tokens from an address back to the name of its call: `serviceWorker?.register(new URL(`. */
const LOOKBACK = 10;

/** The clause of a static import or export: what may be between its keyword and `from`. */
const CLAUSE = /^(?:[{},*]|[\p{ID_Continue}$\\]+)$/u;

interface ScriptState {
  readonly code: string;
  readonly isModule: boolean;
  readonly found: FoundAddress[];
  readonly flow: ScriptFlow;
  previous: string[];
  inImportScripts: boolean;
  /** Whether the last token was an address. */
  foundLast: boolean;
  /** Whether all tokens since `import` or `export` may be the clause of one. */
  inClause: boolean;
}

/**
 * Literal addresses that a script fetches. Addresses that it composes at run time can't be found. The bare name
 * of a module is an address only for an import map.
 *
 * Static imports of a module are graded `start`, as is a call that certainly runs when the script is loaded. Every
 * other call may run later.
 */
export function findScriptReferences(code: string, isModule: boolean): FoundAddress[] {
  const state: ScriptState = {
    code,
    isModule,
    found: [],
    flow: new ScriptFlow(),
    previous: [],
    inImportScripts: false,
    foundLast: false,
    inClause: false,
  };
  tokenizeScript(code, (kind, text, offset) =>
    readScriptToken(state, kind === 'string' ? null : text, offset, text),
  );
  return state.found;
}

function readScriptToken(state: ScriptState, mark: string | null, offset: number, text: string): void {
  const { code, flow, previous } = state;
  flow.read(mark ?? '', () => isAfterLineBreak(code, offset));
  if (mark === '+' && state.foundLast) markPartial(state.found);
  const { length } = state.found;
  if (mark === null) addLiteral(state, text, offset);
  else if (mark === ')' || mark === ';') state.inImportScripts = false;
  else if (mark === '(' && previous.at(-1) === 'importScripts') state.inImportScripts = true;
  if ((mark === 'import' || mark === 'export') && previous.at(-1) !== '.') state.inClause = true;
  else if (mark !== null && state.inClause) state.inClause = CLAUSE.test(mark);
  state.foundLast = state.found.length > length;
  previous.push(mark ?? STRING);
  if (previous.length > 64) state.previous = previous.slice(-LOOKBACK);
}

function addLiteral(state: ScriptState, text: string, offset: number): void {
  const { code, previous, inImportScripts, inClause, found, flow, isModule } = state;
  const last = previous.at(-1);
  if (last === 'from' || last === 'import') {
    // A keyword without a whole clause before it is a name, or part of a text that was misread.
    if (isModule && inClause)
      found.push({ offset, address: text, kind: 'module', grade: 'start', isSpecifier: true });
    return;
  }
  const rule = inImportScripts ? FETCHING_CALLS.importScripts : getRule(previous);
  if (rule === undefined || !isAddress(rule, text)) return;
  const { kind, isPageRelative = false } = rule;
  const grade = flow.runsNow ? 'start' : 'later';
  const isPartial = isPartialTemplate(code, offset);
  found.push({
    offset,
    address: text,
    kind,
    grade,
    ...(isPageRelative && !isModuleUrl(previous) && { isPageRelative }),
    ...(rule.counts === 'specifier' && { isSpecifier: true }),
    ...(isPartial && { isPartial }),
  });
}

/** Whether a literal is a template with a substitution, of which only the beginning is known. */
function isPartialTemplate(code: string, offset: number): boolean {
  if (code[offset] !== '`') return false;
  const [end = ''] = /(?<!\\)(?:`|\$\{)/.exec(code.slice(offset + 1, offset + 4_000)) ?? [];
  return end !== '`';
}

/** An operator after a literal adds to it. */
function markPartial(found: FoundAddress[]): void {
  const last = found.pop();
  if (last !== undefined) found.push({ ...last, isPartial: true });
}

const isModuleUrl = (previous: readonly string[]): boolean => previous.at(-2) === 'URL';

function isAfterLineBreak(code: string, offset: number): boolean {
  for (let at = offset - 1; at >= 0; at -= 1) {
    const char = code.charCodeAt(at);
    if (char === 10 || char === 13) return true;
    if (char > 32) return false;
  }
  return false;
}

function isAddress({ counts }: CallRule, text: string): boolean {
  if (counts === 'any') return true;
  return counts === 'specifier' ? isSpecifierAddress(text) : hasHost(text);
}

/** The rule of the call or statement to which a string after these tokens would belong. */
function getRule(previous: readonly string[]): CallRule | undefined {
  let at = previous.length - 1;
  if (previous[at] === '=')
    return previous[at - 1] === 'src' && previous[at - 2] === '.' ? SRC_ASSIGNMENT : undefined;
  let strings = 0;
  while (previous[at] === ',' && previous[at - 1] === STRING) {
    strings += 1;
    at -= 2;
  }
  if (previous[at] !== '(') return undefined;
  if (previous[at - 1] === 'URL' && previous[at - 2] === 'new' && previous[at - 3] === '(') at -= 3;
  const name = previous[at - 1] ?? '';
  const rule = Object.hasOwn(FETCHING_CALLS, name) ? FETCHING_CALLS[name] : undefined;
  if (rule === undefined || (rule.stringsBefore ?? 0) !== strings) return undefined;
  if (name === 'import' && previous[at - 2] === '.') return undefined;
  if (rule.owner === undefined) return rule;
  const owner = previous[at - 2] === '.' ? previous[previous[at - 3] === '?' ? at - 4 : at - 3] : undefined;
  return owner === rule.owner ? rule : undefined;
}

/** Addresses in speculation rules, which load other pages ahead. Invalid JSON is ignored, as in browsers. */
export function findSpeculationReferences(json: string): FoundAddress[] {
  const { prefetch, prerender } = toFields(parseJsonText(json));
  const urls = [prefetch, prerender].flat().flatMap((rule) => toFields(rule).urls);
  return urls
    .filter((url) => typeof url === 'string')
    .map((address): FoundAddress => {
      return { offset: Math.max(json.indexOf(address), 0), address, kind: 'document', grade: 'later' };
    })
    .sort((one, other) => one.offset - other.offset);
}
