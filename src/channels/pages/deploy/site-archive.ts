import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header, type Pack, pack } from 'tar-stream';
import { ZipFile } from 'yazl';

/** A file on its way into the archive of a site, or out of that of a branch. */
export interface ArchivedFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Its bytes, to be read once. */
  read(): AsyncIterable<Uint8Array>;
}

/**
 * Packs a site as GitHub Pages takes it: a zip archive that holds one plain tar archive, without links. It streams:
 * no more than a few pieces are in memory.
 *
 * @param now milliseconds since the epoch
 * @see https://github.com/actions/upload-pages-artifact#artifact-validation
 */
export function packSite(files: AsyncIterable<ArchivedFile> | Iterable<ArchivedFile>, now: number): Readable {
  const tar = pack();
  const zip = new ZipFile();
  const mtime = new Date(now);
  const archive = new PassThrough();
  const tarBytes = Readable.from(tar, { objectMode: false });
  zip.addReadStream(tarBytes, 'artifact.tar', { compress: true, compressionLevel: 1, mtime });
  zip.end();
  const fail = (thrown: unknown): void => void archive.destroy(thrown as Error);
  tarBytes.once('error', fail);
  pipeline(zip.outputStream, archive).catch(fail);
  const write = async (): Promise<void> => {
    for await (const file of files) {
      // GNU tar names the files of a folder in this way.
      const header = { name: `./${file.path}`, size: file.size, mode: 0o644, mtime };
      await addFile(tar, header, file);
    }
    tar.finalize();
  };
  write().catch((thrown: unknown) => {
    fail(thrown);
    tar.destroy();
  });
  archive.once('close', () => tar.destroy());
  return archive;
}

async function addFile(
  tar: Pack,
  header: Pick<Header, 'name' | 'size' | 'mode' | 'mtime'>,
  { read }: ArchivedFile,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const sink = tar.entry(header, (failure) => (failure ? reject(failure) : resolve()));
  // A size that is not the announced one fails here.
  sink.once('error', reject);
  promise.catch(() => undefined);
  for await (const bytes of read()) {
    if (!sink.write(bytes)) await Promise.race([once(sink, 'drain'), promise]);
  }
  sink.end(null);
  await promise;
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
