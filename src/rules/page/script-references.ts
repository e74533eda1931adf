import { type FoundAddress, hasHost, isSpecifierAddress, type ResourceKind } from './addresses.ts';
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
}

/** Calls with a literal address that a browser fetches. */
export const FETCHING_CALLS: Readonly<Record<string, CallRule>> = {
  import: { counts: 'specifier', kind: 'script' },
  importScripts: { counts: 'any', kind: 'script' },
  Worker: { counts: 'any', kind: 'script' },
  SharedWorker: { counts: 'any', kind: 'script' },
  register: { counts: 'any', kind: 'script', owner: 'serviceWorker' },
  addModule: { counts: 'any', kind: 'script' },
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

/**
 * Literal addresses that a script fetches. Addresses that it composes at run time can't be found. The bare name
 * of a module is not an address: it needs an import map, which is searched separately.
 */
export function findScriptReferences(code: string): FoundAddress[] {
  const found: FoundAddress[] = [];
  let previous: string[] = [];
  let inImportScripts = false;
  tokenizeScript(code, (kind, text, offset) => {
    if (kind === 'string') {
      const rule = inImportScripts ? FETCHING_CALLS.importScripts : getRule(previous);
      if (rule !== undefined && isAddress(rule, text)) found.push({ offset, address: text, kind: rule.kind });
    } else if (text === ')' || text === ';') inImportScripts = false;
    else if (text === '(' && previous.at(-1) === 'importScripts') inImportScripts = true;
    previous.push(kind === 'string' ? STRING : text);
    if (previous.length > 64) previous = previous.slice(-LOOKBACK);
  });
  return found;
}

function isAddress({ counts }: CallRule, text: string): boolean {
  if (counts === 'any') return true;
  return counts === 'specifier' ? isSpecifierAddress(text) : hasHost(text);
}

/** The rule of the call or statement to which a string after these tokens would belong. */
function getRule(previous: readonly string[]): CallRule | undefined {
  let at = previous.length - 1;
  const last = previous[at];
  if (last === 'import' || last === 'from') return FETCHING_CALLS.import;
  if (last === '=')
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

/**
 * Addresses in the JSON of an import map or of speculation rules. Invalid JSON is ignored, as in browsers.
 *
 * @see https://html.spec.whatwg.org/multipage/webappapis.html#import-maps
 */
export function findJsonReferences(json: string): FoundAddress[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return [];
  }
  const { imports, scopes, prefetch, prerender } = toFields(parsed);
  const modules = [imports, ...Object.values(toFields(scopes))].flatMap((map) =>
    Object.values(toFields(map)),
  );
  const urls = [prefetch, prerender].flat().flatMap((rule) => toFields(rule).urls);
  const locate = (address: string, kind: ResourceKind): FoundAddress => ({
    offset: Math.max(json.indexOf(address), 0),
    address,
    kind,
  });
  const found = [
    ...modules
      .filter(isText)
      .flatMap((address) => (isSpecifierAddress(address) ? locate(address, 'script') : [])),
    ...urls.filter(isText).map((address) => locate(address, 'data')),
  ];
  return found.sort((one, other) => one.offset - other.offset);
}

const toFields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const isText = (value: unknown): value is string => typeof value === 'string';
