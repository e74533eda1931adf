import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { makeZip } from 'client-zip';
import { extract, type Pack, pack } from 'tar-stream';

/** A file on its way into the archive of a site, or out of that of a branch. */
export interface ArchivedFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Its bytes, to be read once. */
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Packs a site as GitHub Pages takes it: a zip archive that holds one plain tar archive, without links. It streams, and
 * compresses nothing: that took more time than the bytes that it saved.
 *
 * @param now milliseconds since the epoch
 * @see https://github.com/actions/upload-pages-artifact#artifact-validation
 */
export async function* packSite(
  files: AsyncIterable<ArchivedFile> | Iterable<ArchivedFile>,
  now: number,
): AsyncGenerator<Uint8Array> {
  const tar = pack();
  const filling = addFiles(files, tar, new Date(now));
  filling.catch((thrown: Error) => tar.destroy(thrown));
  const zip = makeZip([
    { name: 'artifact.tar', input: Readable.from(tar, { objectMode: false }), lastModified: now },
  ]);
  try {
    yield* zip.values({ preventCancel: true });
  } finally {
    // Where nobody reads on, the file that is being read is closed.
    tar.destroy();
    await Promise.allSettled([filling]);
  }
}

async function addFiles(
  files: AsyncIterable<ArchivedFile> | Iterable<ArchivedFile>,
  tar: Pack,
  mtime: Date,
): Promise<void> {
  for await (const { path, size, read } of files) {
    // GNU tar names the files of a folder in this way. Another size than this one fails.
    await pipeline(read(), tar.entry({ name: `./${path}`, size, mode: 0o644, mtime }));
  }
  tar.finalize();
}

/** Reads the files of a packed tar archive, one after the other; each must be read to its end. */
export async function* readArchive(packed: Readable): AsyncGenerator<ArchivedFile> {
  const tar = extract();
  const done = pipeline(packed, createGunzip(), tar);
  done.catch(() => undefined);
  for await (const entry of tar) {
    const { name, size = 0, type } = entry.header;
    if (type === 'file') {
      // Everything is below a folder that is named after the commit.
      yield { path: name.slice(name.indexOf('/') + 1), size, read: () => entry as AsyncIterable<Uint8Array> };
    }
    entry.resume();
  }
  await done;
}
