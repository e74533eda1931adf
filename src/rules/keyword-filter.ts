const PREFIX_LENGTH = 4;

interface KeywordTable<Name> {
  /** Whether two neighboring bytes are in a keyword, which rules out most positions. */
  readonly pairs: Uint8Array;
  readonly hashes: Uint8Array;
  /** By the first four bytes of a keyword, read as a number: its name, and the bytes that must follow. */
  readonly entries: Map<number, { readonly name: Name; readonly rest: string }[]>;
}

/** Called with the name of a keyword and its position; `true` ends the search. */
type OnKeyword<Name> = (name: Name, position: number) => boolean;

/**
 * Searches for many keywords at once, at two gigabytes a second if all are rare.
 *
 * @param keywords Latin-1 texts of at least four bytes; a buffer for each would take longer than the search
 */
export function createKeywordSearch<Name>(
  keywords: Iterable<readonly [Name, string]>,
): (bytes: Buffer, onKeyword: OnKeyword<Name>) => boolean {
  const table: KeywordTable<Name> = {
    pairs: new Uint8Array(65_536),
    hashes: new Uint8Array(65_536),
    entries: new Map(),
  };
  for (const [name, keyword] of keywords) {
    const prefix = prefixOf(keyword);
    const entry = { name, rest: keyword.slice(PREFIX_LENGTH) };
    const known = table.entries.get(prefix);
    if (known === undefined) {
      table.entries.set(prefix, [entry]);
      for (const bytes of [prefix, prefix >>> 8, prefix & 0xff_ffff]) table.hashes[hashBytes(bytes)] = 1;
      for (const pair of [prefix >>> 16, (prefix >>> 8) & 0xffff, prefix & 0xffff]) table.pairs[pair] = 1;
    } else known.push(entry);
  }
  return (bytes, onKeyword) => findKeywords(bytes, table, onKeyword);
}

const prefixOf = (keyword: string): number =>
  (keyword.charCodeAt(0) << 24) |
  (keyword.charCodeAt(1) << 16) |
  (keyword.charCodeAt(2) << 8) |
  keyword.charCodeAt(3);

function findKeywords<Name>(bytes: Buffer, table: KeywordTable<Name>, onKeyword: OnKeyword<Name>): boolean {
  // A prefix contains three pairs of neighboring bytes, so one of them starts at every third position.
  const step = PREFIX_LENGTH - 1;
  const { hashes, entries } = table;
  for (let at = findPair(bytes, step - 1, table); at !== -1; at = findPair(bytes, at + step, table)) {
    for (let start = at - step + 1; start <= at; start += 1) {
      const prefix = readPrefix(bytes, start);
      if (hashes[hashBytes(prefix)] === 0) continue;
      for (const { name, rest } of entries.get(prefix) ?? []) {
        const end = start + PREFIX_LENGTH;
        if (bytes.toString('latin1', end, end + rest.length) === rest && onKeyword(name, start)) return true;
      }
    }
  }
  return false;
}

/** The first of every third position from `start` on with a pair and a third byte of a keyword, or -1. */
function findPair(bytes: Buffer, start: number, { pairs, hashes }: KeywordTable<unknown>): number {
  const end = bytes.length - 1;
  for (let at = start; at < end; at += PREFIX_LENGTH - 1) {
    const pair = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    if (pairs[pair] === 0) continue;
    const before = ((bytes[at - 1] as number) << 16) | pair;
    const after = (pair << 8) | (bytes[at + 2] ?? 0);
    if (hashes[hashBytes(before)] !== 0 || hashes[hashBytes(after)] !== 0) return at;
  }
  return -1;
}

/** A shorter rest holds no keyword. */
const readPrefix = (bytes: Buffer, at: number): number =>
  at + PREFIX_LENGTH <= bytes.length ? bytes.readInt32BE(at) : 0;

const hashBytes = (bytes: number): number => Math.imul(bytes, 0x9e37_79b1) >>> 16;
