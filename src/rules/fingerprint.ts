import { createHash, type Hash } from 'node:crypto';
import { keepRecent } from '../async.ts';
import type { OwnCredential } from '../credentials.ts';
import { createSecretPattern, LONGEST_MATCH } from '../secret-pattern.ts';
import { createKeywordSearch } from './keyword-filter.ts';

/** The result of one pass over some bytes. */
export interface ContentFingerprint {
  /** Bytes. */
  readonly size: number;
  /** Lowercase hex. */
  readonly sha256: string;
  /** How often the marker occurs, without overlaps; `null` without a marker. */
  readonly markerCount: number | null;
}

/** Takes the chunks of a stream, each once. Memory is bounded by one chunk and the marker. @param marker not empty */
export function createFingerprint(marker?: string) {
  const hash = createHash('sha256');
  const counter = marker === undefined ? undefined : createOccurrenceCounter(Buffer.from(marker));
  let size = 0;
  return {
    add(chunk: Buffer): void {
      hash.update(chunk);
      size += chunk.length;
      counter?.push(chunk);
    },
    end: (): ContentFingerprint => ({
      size,
      sha256: hash.digest('hex'),
      markerCount: counter?.count() ?? null,
    }),
  };
}

/** Counts a needle in a stream of chunks, also where it spans several chunks. */
function createOccurrenceCounter(needle: Buffer) {
  let found = 0;
  /** The end of the previous chunks: shorter than the needle, and not part of a counted occurrence. */
  let tail: Buffer = Buffer.alloc(0);
  return {
    push(chunk: Buffer) {
      const bytes = Buffer.concat([tail, chunk]);
      let from = 0;
      for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, from)) {
        found += 1;
        from = at + needle.length;
      }
      tail = bytes.subarray(Math.max(from, bytes.length - needle.length + 1));
    },
    count: () => found,
  };
}

/** A run searches all its files for the same credentials. */
const RECENT_SEARCHES = 4;

const getFinder = keepRecent(RECENT_SEARCHES, (credentials) => {
  const patterns = (JSON.parse(credentials) as OwnCredential[]).map(({ name, value }) => {
    return { name, ...createSecretPattern(value) };
  });
  const findKeywords = createKeywordSearch(
    patterns.flatMap((pattern) => pattern.keywords.map((keyword) => [pattern, keyword] as const)),
  );
  return (bytes: Buffer): string | undefined => {
    let found: string | undefined;
    findKeywords(bytes, ({ name, isIn }, at) => {
      if (isIn(bytes.toString('latin1', Math.max(at - LONGEST_MATCH, 0), at + LONGEST_MATCH))) found = name;
      return found !== undefined;
    });
    return found;
  };
});

/**
 * Searches a stream for the credentials of the job, as ordinary programs write them.
 *
 * @returns the name of one that a chunk contains, together with the end of the chunks before it
 * @see protocol 7 (prohibition 3)
 */
export function createCredentialSearch(
  credentials: readonly OwnCredential[],
): (chunk: Buffer) => string | undefined {
  if (credentials.length === 0) return () => undefined;
  const find = getFinder(JSON.stringify(credentials));
  let tail: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = Buffer.concat([tail, chunk]);
    tail = bytes.subarray(-LONGEST_MATCH);
    return find(bytes);
  };
}

export interface GitBlob {
  readonly sha: string;
  /** Bytes. */
  readonly size: number;
}

/** A hash for git's id of so many bytes: that of the bytes after their number. */
export const createBlobHash = (size: number): Hash => createHash('sha1').update(`blob ${size}\0`);

/** Tells whether a body is one of some objects of git. */
export function createBlobCheck(blobs: readonly GitBlob[]) {
  const hashes = blobs.map(({ sha, size }) => ({ sha, hash: createBlobHash(size) }));
  return {
    add(chunk: Buffer): void {
      for (const { hash } of hashes) hash.update(chunk);
    },
    match: () => hashes.find(({ sha, hash }) => hash.digest('hex') === sha)?.sha ?? null,
  };
}
