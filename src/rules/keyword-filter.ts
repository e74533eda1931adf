/** How many bytes of a keyword are compared. */
const PREFIX_LENGTH = 4;

/** Returns the names whose keywords occur in some bytes. */
type KeywordFilter<Name> = (bytes: Buffer) => Set<Name>;

interface KeywordTable<Name> {
  /** At which places of any keyword two neighboring bytes are: a bit for each of the three places. */
  readonly pairs: Uint8Array;
  /** Whether a keyword has this hash; this check rules out most positions. */
  readonly hashes: Uint8Array;
  /** The names that belong to four bytes, read as one number, and the bytes that must follow. */
  readonly entries: Map<number, { readonly name: Name; readonly rest: string }[]>;
}

/** Called with the name of a keyword and its position; `true` ends the search. */
type OnKeyword<Name> = (name: Name, position: number) => boolean;

/**
 * Searches for many keywords at once, at two gigabytes a second if none is frequent.
 *
 * @param keywords names and their keywords as Latin-1 text, each at least four bytes long; only the first four are
 *   compared
 * @throws {RangeError} if a keyword is shorter.
 */
export function createKeywordFilter<Name>(keywords: Iterable<readonly [Name, string]>): KeywordFilter<Name> {
  const findEach = createKeywordSearch(
    Array.from(keywords, ([name, keyword]) => [name, keyword.slice(0, PREFIX_LENGTH)] as const),
  );
  return (bytes) => {
    const found = new Set<Name>();
    findEach(bytes, (name) => {
      found.add(name);
      return false;
    });
    return found;
  };
}

/**
 * The same, with the position of every keyword, which is compared as a whole. A run begins with it, so no keyword
 * becomes a buffer: that takes longer than the search.
 *
 * @returns a search that tells whether its callback ended it
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
      addPrefix(table, prefix);
    } else known.push(entry);
  }
  return (bytes, onKeyword) => findKeywords(bytes, table, onKeyword);
}

/** The first four bytes as one number. @throws {RangeError} if there are fewer. */
function prefixOf(keyword: string): number {
  if (keyword.length < PREFIX_LENGTH) throw new RangeError(`a keyword has fewer than ${PREFIX_LENGTH} bytes`);
  return (
    (keyword.charCodeAt(0) << 24) |
    (keyword.charCodeAt(1) << 16) |
    (keyword.charCodeAt(2) << 8) |
    keyword.charCodeAt(3)
  );
}

/** Its three pairs of neighboring bytes, and its hash. */
function addPrefix({ pairs, hashes }: KeywordTable<unknown>, prefix: number): void {
  hashes[hashPrefix(prefix)] = 1;
  for (let at = 0; at < PREFIX_LENGTH - 1; at += 1) {
    const pair = (prefix >>> (16 - 8 * at)) & 0xffff;
    pairs[pair] = (pairs[pair] ?? 0) | (1 << at);
  }
}

function findKeywords<Name>(
  bytes: Buffer,
  { pairs, hashes, entries }: KeywordTable<Name>,
  onKeyword: OnKeyword<Name>,
): boolean {
  // A prefix contains three pairs of neighboring bytes, so one of them starts at every third position.
  const step = PREFIX_LENGTH - 1;
  for (let at = findPairs(bytes, step - 1, pairs); at !== -1; at = findPairs(bytes, at + step, pairs)) {
    for (let start = at - step + 1; start <= at; start += 1) {
      const prefix = readPrefix(bytes, start);
      if (hashes[hashPrefix(prefix)] === 0) continue;
      for (const { name, rest } of entries.get(prefix) ?? []) {
        if (hasBytesAt(bytes, start + PREFIX_LENGTH, rest) && onKeyword(name, start)) return true;
      }
    }
  }
  return false;
}

function hasBytesAt(bytes: Buffer, position: number, expected: string): boolean {
  for (let at = 0; at < expected.length; at += 1) {
    if (bytes[position + at] !== expected.charCodeAt(at)) return false;
  }
  return true;
}

/** The first of every third position from `start` on with a pair of a keyword, or -1. A separate loop is faster. */
function findPair(bytes: Buffer, start: number, pairs: Uint8Array): number {
  const end = bytes.length - 1;
  for (let at = start; at < end; at += PREFIX_LENGTH - 1) {
    // Both positions are inside the bytes.
    if (pairs[((bytes[at] as number) << 8) | (bytes[at + 1] as number)] !== 0) return at;
  }
  return -1;
}

/** The same, where the pairs beside it are pairs of a keyword as well. */
function findPairs(bytes: Buffer, start: number, pairs: Uint8Array): number {
  const step = PREFIX_LENGTH - 1;
  for (let at = findPair(bytes, start, pairs); at !== -1; at = findPair(bytes, at + step, pairs)) {
    const places = readPlaces(bytes, at, pairs);
    if ((places & 6) !== 0) {
      const before = readPlaces(bytes, at - 1, pairs);
      if ((places & 4) !== 0 && (before & 2) !== 0) return at;
      if ((before & 1) !== 0 && (readPlaces(bytes, at + 1, pairs) & 4) !== 0) return at;
    }
    if ((places & 1) !== 0 && (readPlaces(bytes, at + 1, pairs) & 2) !== 0) return at;
  }
  return -1;
}

/** At which places of a keyword the pair at a position is; bytes after the end count as 0. */
const readPlaces = (bytes: Buffer, at: number, pairs: Uint8Array): number =>
  pairs[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] ?? 0;

/** Four bytes as one number; bytes after the end count as 0. */
const readPrefix = (bytes: Buffer, at: number): number =>
  ((bytes[at] ?? 0) << 24) |
  ((bytes[at + 1] ?? 0) << 16) |
  ((bytes[at + 2] ?? 0) << 8) |
  (bytes[at + 3] ?? 0);

const hashPrefix = (prefix: number): number => Math.imul(prefix, 0x9e37_79b1) >>> 16;
