import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { LocalFile } from '../../../../src/rules/inspect.ts';
import type { LocalSite } from '../../../../src/rules/local-site.ts';
import { computeBlobSha } from '../../../world/git/git-store.ts';

/** The contents of files, by path. */
export type Contents = Readonly<Record<string, string>>;

export const shaOf = (content: string): string => computeBlobSha(Buffer.from(content));

export function memoryFile(content: string, name = 'page.html'): LocalFile {
  const bytes = Buffer.from(content);
  return {
    name,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    firstBytes: bytes.toString('latin1', 0, 16),
    binary: false,
    blobSha: shaOf(content),
    markerCount: null,
    read: () => Readable.from(bytes.length === 0 ? [] : [bytes], { objectMode: false }),
    pieces: () => Readable.from([bytes]),
    prefixSha256: async () => '',
  };
}

export function memorySite(contents: Contents, entry = Object.keys(contents)[0] ?? ''): LocalSite {
  const files = Object.entries(contents).map(([path, content]) => memoryFile(content, path));
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const found = files.find(({ name }) => name === entry) ?? memoryFile('', entry);
  return { isFolder: true, entry: found, files, size, leftOut: [] };
}
