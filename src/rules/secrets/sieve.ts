import { MARKS } from './marks.ts';

/** Bytes of a mark. */
const LENGTH = 4;

/** The rules that a mark belongs to, by its four bytes as one number. */
const RULES_OF = new Map<number, readonly string[]>();
/** Whether two neighbouring bytes stand together in any mark. */
const IN_A_MARK = new Uint8Array(65_536);
/** Whether a mark has this hash: most quadruples of bytes are turned away here. */
const HASHES = new Uint8Array(65_536);

const hash = (quadruple: number): number => Math.imul(quadruple, 0x9e37_79b1) >>> 16;

for (const [rule, marks] of Object.entries(MARKS)) {
  for (const mark of marks) {
    const bytes = Buffer.from(mark, 'latin1');
    const quadruple = bytes.readInt32BE();
    RULES_OF.set(quadruple, [...(RULES_OF.get(quadruple) ?? []), rule]);
    HASHES[hash(quadruple)] = 1;
    for (let at = 0; at < LENGTH - 1; at += 1) IN_A_MARK[bytes.readUInt16BE(at)] = 1;
  }
}

/**
 * The rules that may find something in these bytes: those of which a mark stands there. All others find
 * nothing, so that bytes without any mark need not become a text at all.
 */
export function markedRules(bytes: Buffer): Set<string> {
  const rules = new Set<string>();
  // Each mark holds three pairs of neighbours: one of them lies at every third place.
  for (let at = nextPair(bytes, LENGTH - 2); at !== -1; at = nextPair(bytes, at + LENGTH - 1)) {
    for (let start = at - LENGTH + 2; start <= at; start += 1) {
      const quadruple = quadrupleAt(bytes, start);
      if (HASHES[hash(quadruple)] === 0) continue;
      for (const rule of RULES_OF.get(quadruple) ?? []) rules.add(rule);
    }
  }
  return rules;
}

/** The first of every third place from `at` on where a pair of a mark stands, or -1. A loop of its own stays fast. */
function nextPair(bytes: Buffer, at: number): number {
  const end = bytes.length - 1;
  for (let place = at; place < end; place += LENGTH - 1) {
    // Both places lie within the bytes.
    if (IN_A_MARK[((bytes[place] as number) << 8) | (bytes[place + 1] as number)] !== 0) return place;
  }
  return -1;
}

/** Four bytes as one number; those behind the end count as 0, which stands in no mark. */
function quadrupleAt(bytes: Buffer, at: number): number {
  const byte = (offset: number): number => bytes[at + offset] ?? 0;
  return (byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3);
}
