import { describe, expect, test } from '@jest/globals';
import { createMemoryFile } from '../../src/rules/inspect.ts';
import { localFile } from '../support/files.ts';

describe('a file in memory', () => {
  test.each(['', 'some bytes\0'])('says the same of %j as a file on disk', async (content) => {
    const file = createMemoryFile('page.html', Buffer.from(content));
    const { read, pieces, headSha256, ...facts } = file;
    expect(Buffer.concat(await read().toArray()).toString()).toBe(content);
    const collected: Buffer[] = [];
    for await (const piece of pieces()) collected.push(piece);
    expect(Buffer.concat(collected).toString()).toBe(content);
    if (content === '') return expect(facts.size).toBe(0);
    const onDisk = await localFile(content);
    const { read: _, pieces: __, headSha256: ___, ...expected } = onDisk;
    expect(facts).toEqual(expected);
    expect(await headSha256(3)).toBe(await onDisk.headSha256(3));
  });
});
