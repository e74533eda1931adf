import { type FoundAddress, isSpecifierAddress, namesHost, type ResourceKind } from './addresses.ts';
import { scriptTokens } from './script-tokens.ts';

/** Which literals of a call count as addresses. */
type LiteralRule = 'any' | 'specifier' | 'with a host';

interface CallRule {
  readonly counts: LiteralRule;
  readonly kind: ResourceKind;
  /** Whose method it must be. */
  readonly of?: string;
  /** How many strings stand before the address; none unless said. */
  readonly skips?: number;
}

/** Calls whose literal a browser fetches. */
export const FETCHING_CALLS: Readonly<Record<string, CallRule>> = {
  import: { counts: 'specifier', kind: 'script' },
  importScripts: { counts: 'any', kind: 'script' },
  Worker: { counts: 'any', kind: 'script' },
  SharedWorker: { counts: 'any', kind: 'script' },
  register: { counts: 'any', kind: 'script', of: 'serviceWorker' },
  addModule: { counts: 'any', kind: 'script' },
  fetch: { counts: 'with a host', kind: 'data' },
  Request: { counts: 'with a host', kind: 'data' },
  open: { counts: 'with a host', kind: 'data', skips: 1 },
  EventSource: { counts: 'with a host', kind: 'data' },
  WebSocket: { counts: 'with a host', kind: 'data' },
  sendBeacon: { counts: 'with a host', kind: 'data' },
};

/** `element.src = "https://…"`, as loaders do. */
const ASSIGNED: CallRule = { counts: 'with a host', kind: 'data' };

/** Stands for a string among the tokens before an address. */
const STRING = '""';

/** The longest way back from an address to the name of its call: `serviceWorker?.register(new URL(`. */
const LOOKS_BACK = 10;

/**
 * Literal addresses that a script fetches. What it puts together at run time can't be seen, and a bare name of
 * a module is none: without an import map it is an error, and the map is searched itself.
 */
export function scriptReferences(code: string): FoundAddress[] {
  const found: FoundAddress[] = [];
  let before: string[] = [];
  let inImportScripts = false;
  scriptTokens(code, (kind, text, offset) => {
    if (kind === 'string') {
      const row = inImportScripts ? FETCHING_CALLS.importScripts : rowFor(before);
      if (row !== undefined && counts(row, text)) found.push({ offset, address: text, kind: row.kind });
    } else if (text === ')' || text === ';') inImportScripts = false;
    else if (text === '(' && before.at(-1) === 'importScripts') inImportScripts = true;
    before.push(kind === 'string' ? STRING : text);
    if (before.length > 64) before = before.slice(-LOOKS_BACK);
  });
  return found;
}

function counts(row: CallRule, text: string): boolean {
  if (row.counts === 'any') return true;
  return row.counts === 'specifier' ? isSpecifierAddress(text) : namesHost(text);
}

/** The row of the call or statement in which a string would stand after these tokens. */
function rowFor(before: readonly string[]): CallRule | undefined {
  let at = before.length - 1;
  const mark = before[at];
  if (mark === 'import' || mark === 'from') return FETCHING_CALLS.import;
  if (mark === '=') return before[at - 1] === 'src' && before[at - 2] === '.' ? ASSIGNED : undefined;
  let skipped = 0;
  while (before[at] === ',' && before[at - 1] === STRING) {
    skipped += 1;
    at -= 2;
  }
  if (before[at] !== '(') return undefined;
  if (before[at - 1] === 'URL' && before[at - 2] === 'new' && before[at - 3] === '(') at -= 3;
  const name = before[at - 1] ?? '';
  const row = Object.hasOwn(FETCHING_CALLS, name) ? FETCHING_CALLS[name] : undefined;
  if (row === undefined || (row.skips ?? 0) !== skipped) return undefined;
  if (name === 'import' && before[at - 2] === '.') return undefined;
  if (row.of === undefined) return row;
  const owner = before[at - 2] === '.' ? before[before[at - 3] === '?' ? at - 4 : at - 3] : undefined;
  return owner === row.of ? row : undefined;
}

/**
 * Addresses in the JSON of an import map or of speculation rules. Broken JSON is ignored, as browsers do.
 *
 * @see https://html.spec.whatwg.org/multipage/webappapis.html#import-maps
 */
export function jsonReferences(json: string): FoundAddress[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return [];
  }
  const { imports, scopes, prefetch, prerender } = fieldsOf(parsed);
  const mapped = [imports, ...Object.values(fieldsOf(scopes))].flatMap((map) => Object.values(fieldsOf(map)));
  const rules = [prefetch, prerender].flat().map((rule) => fieldsOf(rule).urls);
  const found = [
    ...mapped.filter(isText).filter(isSpecifierAddress).map(within(json, 'script')),
    ...rules.flat().filter(isText).map(within(json, 'data')),
  ];
  return found.sort((a, b) => a.offset - b.offset);
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const isText = (value: unknown): value is string => typeof value === 'string';

const within =
  (json: string, kind: ResourceKind) =>
  (address: string): FoundAddress => ({ offset: Math.max(json.indexOf(address), 0), address, kind });
