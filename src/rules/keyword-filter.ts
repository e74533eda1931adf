/** How many bytes of a keyword are compared. */
const PREFIX_LENGTH = 4;

/** Returns the names whose keywords occur in some bytes. */
type KeywordFilter<Name> = (bytes: Buffer) => Set<Name>;

interface KeywordTable<Name> {
  /** Whether two neighboring bytes are part of any keyword. */
  readonly pairs: Uint8Array;
  /** Whether a keyword has this hash; this check rules out most positions. */
  readonly hashes: Uint8Array;
  /** The names that belong to four bytes, read as one number. */
  readonly names: Map<number, Name[]>;
}

/**
 * Searches for many keywords at once, at two gigabytes a second if none is frequent.
 *
 * @param keywords names and their keywords, each at least four bytes long; only the first four are compared
 * @throws {RangeError} if a keyword is shorter.
 */
export function createKeywordFilter<Name>(keywords: Iterable<readonly [Name, Buffer]>): KeywordFilter<Name> {
  const table: KeywordTable<Name> = {
    pairs: new Uint8Array(65_536),
    hashes: new Uint8Array(65_536),
    names: new Map(),
  };
  for (const [name, keyword] of keywords) {
    const prefix = keyword.readInt32BE();
    table.names.set(prefix, [...(table.names.get(prefix) ?? []), name]);
    table.hashes[hashPrefix(prefix)] = 1;
    for (let at = 0; at < PREFIX_LENGTH - 1; at += 1) table.pairs[keyword.readUInt16BE(at)] = 1;
  }
  return (bytes) => findNames(bytes, table);
}

function findNames<Name>(bytes: Buffer, { pairs, hashes, names }: KeywordTable<Name>): Set<Name> {
  const found = new Set<Name>();
  // A prefix contains three pairs of neighboring bytes, so one of them starts at every third position.
  const step = PREFIX_LENGTH - 1;
  for (let at = findPair(bytes, step - 1, pairs); at !== -1; at = findPair(bytes, at + step, pairs)) {
    for (let start = at - step + 1; start <= at; start += 1) {
      const prefix = readPrefix(bytes, start);
      if (hashes[hashPrefix(prefix)] === 0) continue;
      for (const name of names.get(prefix) ?? []) found.add(name);
    }
  }
  return found;
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

type FourBytes = [number, number, number, number];

/** Four bytes as one number; bytes after the end count as 0. */
function readPrefix(bytes: Buffer, at: number): number {
  // Shifting `undefined` gives 0.
  const [one, two, three, four] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]] as FourBytes;
  return (one << 24) | (two << 16) | (three << 8) | four;
}

const hashPrefix = (prefix: number): number => Math.imul(prefix, 0x9e37_79b1) >>> 16;
