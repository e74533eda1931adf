import { Readable } from 'node:stream';
import type { LocalFile } from '../../../rules/inspect.ts';

/** What is written: as much of a file as a commit needs. */
export type SiteBytes = Pick<LocalFile, 'size' | 'blobSha' | 'read'>;

/** A file without a byte, under the name that git gives it. */
export const EMPTY_FILE: SiteBytes = {
  size: 0,
  blobSha: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  read: () => Readable.from([]),
};
