/** A decoded part of a block: from base64, hex or escapes. */
export interface DecodedPart {
  readonly bytes: Buffer;
  /** The position in the block from which the byte at an index was decoded. */
  readonly positionOf: (index: number) => number;
}

/** Separates two parts: no secret continues over it. */
const BETWEEN = Buffer.from('\n\0\n');

/** All parts as one. */
export function joinParts(parts: readonly DecodedPart[]): DecodedPart {
  const starts: number[] = [];
  let length = 0;
  for (const { bytes } of parts) {
    starts.push(length);
    length += bytes.length + BETWEEN.length;
  }
  return {
    bytes: Buffer.concat(parts.flatMap(({ bytes }) => [bytes, BETWEEN])),
    positionOf: (index) => {
      const nth = starts.findLastIndex((start) => start <= index);
      return parts[nth]?.positionOf(index - (starts[nth] ?? 0)) ?? 0;
    },
  };
}
