import { createHash, type Hash } from 'node:crypto';
import { keepRecent } from '../async.ts';
import type { OwnCredential } from '../credentials.ts';
import { createSecretPattern, LONGEST_MATCH } from '../secret-pattern.ts';
import { createKeywordSearch } from './keyword-filter.ts';

export type ContentFingerprint = Readonly<ReturnType<ReturnType<typeof createFingerprint>['end']>>;

/** Takes each chunk of a stream once; keeps at most one chunk and the marker. @param marker not empty */
export function createFingerprint(marker?: string) {
  const hash = createHash('sha256');
  const needle = Buffer.from(marker ?? '');
  let [size, count] = [0, 0];
  /** The end of the previous chunks, shorter than the marker and not yet counted. */
  let tail: Buffer = Buffer.alloc(0);
  return {
    add(chunk: Buffer): void {
      hash.update(chunk);
      size += chunk.length;
      if (marker === undefined) return;
      const bytes = Buffer.concat([tail, chunk]);
      let from = 0;
      for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, from)) {
        count += 1;
        from = at + needle.length;
      }
      tail = bytes.subarray(Math.max(from, bytes.length - needle.length + 1));
    },
    /** Counts occurrences of the marker without overlaps; `null` without a marker. */
    end: () => ({ size, sha256: hash.digest('hex'), markerCount: marker === undefined ? null : count }),
  };
}

const getFinder = keepRecent(4, (credentials) => {
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
 * Searches a stream for the credentials of the job, in every usual encoding. @see protocol 7 (prohibition 3)
 *
 * @returns a search that takes each chunk and returns the name of a credential in it
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
  readonly size: number;
}

/** The hash of a git object, with the size already added. @param size in bytes */
export const createBlobHash = (size: number): Hash => createHash('sha1').update(`blob ${size}\0`);
