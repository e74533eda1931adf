import { createSecretPattern, LONGEST_MATCH } from '../secret-pattern.ts';
import { createKeywordSearch } from './keyword-filter.ts';

/** Tells whether a chunk of a stream, together with the end of the chunks before it, contains a secret. */
export type SearchChunk = (chunk: Buffer) => boolean;

/**
 * Searches a stream for the credentials of the job in every usual encoding. Most chunks contain no beginning of
 * any encoding and are not decoded.
 *
 * @see protocol 7 (prohibition 3)
 */
export function createCredentialSearch(secrets: readonly string[]): SearchChunk {
  const patterns = secrets.map((secret) => createSecretPattern(secret));
  const findKeywords = createKeywordSearch(
    patterns.flatMap((pattern) =>
      pattern.keywords.map((keyword) => [pattern, Buffer.from(keyword, 'latin1')] as const),
    ),
  );
  const contains = (bytes: Buffer): boolean =>
    findKeywords(bytes, (pattern, position) =>
      pattern.isAt(bytes.toString('latin1', position, position + LONGEST_MATCH), 0),
    );
  let tail: Buffer = Buffer.alloc(0);
  return (chunk) => {
    if (patterns.length === 0) return false;
    // What begins in an earlier chunk is complete near the start of this one.
    const border = Buffer.concat([tail, chunk.subarray(0, LONGEST_MATCH)]);
    const found = contains(border) || contains(chunk);
    const bytes = chunk.length < LONGEST_MATCH ? border : chunk;
    tail = Buffer.from(bytes.subarray(Math.max(bytes.length - LONGEST_MATCH, 0)));
    return found;
  };
}
