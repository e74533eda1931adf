import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { LocalFile } from './inspect.ts';

/** Bytes that this tool made, as a file to deliver. */
export function createMemoryFile(name: string, content: Uint8Array): LocalFile {
  const bytes = Buffer.from(content);
  const read = (): Readable => Readable.from(bytes.length === 0 ? [] : [bytes], { objectMode: false });
  return {
    name,
    size: bytes.length,
    sha256: hash('sha256', bytes),
    head: bytes.toString('latin1', 0, 16),
    binary: bytes.includes(0),
    blobSha: hash('sha1', Buffer.from(`blob ${bytes.length}\0`), bytes),
    markerCount: null,
    read,
    pieces: read,
    headSha256: async (length) => hash('sha256', bytes.subarray(0, length)),
    close: async () => undefined,
  };
}

function hash(algorithm: 'sha1' | 'sha256', ...parts: readonly Buffer[]): string {
  const digest = createHash(algorithm);
  for (const part of parts) digest.update(part);
  return digest.digest('hex');
}
