import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createBlobHash } from './fingerprint.ts';
import type { LocalFile } from './inspect.ts';

/** Bytes that this tool made, as a file to deliver. */
export function createMemoryFile(name: string, content: Uint8Array): LocalFile {
  const bytes = Buffer.from(content);
  const read = (): Readable => Readable.from(bytes.length === 0 ? [] : [bytes], { objectMode: false });
  return {
    name,
    size: bytes.length,
    sha256: sha256(bytes),
    head: bytes.toString('latin1', 0, 16),
    binary: bytes.includes(0),
    blobSha: createBlobHash(bytes.length).update(bytes).digest('hex'),
    markerCount: null,
    read,
    pieces: read,
    headSha256: async (length) => sha256(bytes.subarray(0, length)),
  };
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
