import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/files.ts';
import { BareRepository } from './bare-repository.ts';
import { BlobReader } from './blob-reader.ts';

describe('the blobs of a repository', () => {
  let git: BareRepository;
  let reader: BlobReader;

  beforeEach(async () => {
    git = await BareRepository.create(await temporaryFolder(), 'main');
    reader = new BlobReader(git.directory);
  });

  afterEach(() => {
    git.close();
    reader.close();
  });

  test('are read many at once, whatever their bytes are, also those that came later', async () => {
    const contents = ['', '\n', 'blob 5\n', '\0\n\0', 'x'.repeat(300_000), 'a line\nand another\n'].map(
      (text) => Buffer.from(text),
    );
    const early = await Promise.all(contents.slice(0, 3).map((bytes) => git.writeBlob(bytes)));
    expect(await Promise.all(early.map((sha) => reader.read(sha)))).toEqual(contents.slice(0, 3));
    const late = await Promise.all(contents.slice(3).map((bytes) => git.writeBlob(bytes)));
    const all = [...early, ...late];
    const read = await Promise.all([...all, ...all].map((sha) => reader.read(sha)));
    expect(read.every((bytes, nth) => bytes?.equals(contents[nth % 6] as Buffer))).toBe(true);
  });

  test('are not read as a whole where there are none, or where one is too large', async () => {
    const large = Buffer.alloc(1_048_577, 'x');
    const [blob, tree] = [await git.writeBlob(large), await git.writeTree(null, [])];
    expect(await Promise.all([blob, tree, '0'.repeat(40)].map((sha) => reader.read(sha)))).toEqual([
      null,
      null,
      null,
    ]);
    expect(Buffer.concat(await git.streamBlob(blob).toArray()).equals(large)).toBe(true);
    expect((await git.readBlob(blob)).equals(large)).toBe(true);
  });

  test('are read again after the end of the process', async () => {
    const sha = await git.writeBlob(Buffer.from('text'));
    expect(String(await reader.read(sha))).toBe('text');
    reader.close();
    expect(String(await reader.read(sha))).toBe('text');
  });
});
