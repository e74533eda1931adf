import { keepRecent } from '../recent-values.ts';
import { createSecretPattern, KEYWORD_AREA, LONGEST_MATCH } from '../secret-pattern.ts';
import { createKeywordSearch } from './keyword-filter.ts';

/** Tells whether a chunk of a stream, together with the end of the chunks before it, contains a secret. */
export type SearchChunk = (chunk: Buffer) => boolean;

/** A run searches all its files for the same credentials. */
const RECENT_SEARCHES = 4;

/** Tells whether some bytes contain one of the credentials, which are given as JSON. */
const getContains = keepRecent(RECENT_SEARCHES, (secrets) => {
  const patterns = (JSON.parse(secrets) as string[]).map((secret) => createSecretPattern(secret));
  const findKeywords = createKeywordSearch(
    patterns.flatMap((pattern) => pattern.keywords.map((keyword) => [pattern, keyword] as const)),
  );
  return (bytes: Buffer): boolean =>
    findKeywords(bytes, (pattern, at) =>
      pattern.isIn(bytes.toString('latin1', Math.max(at - KEYWORD_AREA, 0), at + LONGEST_MATCH)),
    );
});

/**
 * Searches a stream for the credentials of the job, as what ordinary programs make of them. Only bytes around a
 * keyword are decoded.
 *
 * @see protocol 7 (prohibition 3)
 */
export function createCredentialSearch(secrets: readonly string[]): SearchChunk {
  if (secrets.length === 0) return () => false;
  const contains = getContains(JSON.stringify(secrets));
  let tail: Buffer = Buffer.alloc(0);
  return (chunk) => {
    // What begins in an earlier chunk is complete near the start of this one.
    const border = Buffer.concat([tail, chunk.subarray(0, LONGEST_MATCH)]);
    const found = contains(border) || contains(chunk);
    const bytes = chunk.length < LONGEST_MATCH ? border : chunk;
    tail = Buffer.from(bytes.subarray(Math.max(bytes.length - LONGEST_MATCH, 0)));
    return found;
  };
}
