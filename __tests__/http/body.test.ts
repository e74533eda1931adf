import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { discard, readText } from '../../src/http/body.ts';

describe('readText', () => {
  test('reads an answer to its end', async () => {
    expect(await readText(Readable.from([Buffer.from('one '), Buffer.from('two')]), 100)).toBe('one two');
  });

  test('puts a letter together whose bytes came in two chunks', async () => {
    const [first, second] = Buffer.from('я');
    expect(
      await readText(Readable.from([Buffer.from([Number(first)]), Buffer.from([Number(second)])]), 100),
    ).toBe('я');
  });

  test('reads as many bytes as the limit', async () => {
    expect(await readText(Readable.from([Buffer.from('12'), Buffer.from('34')]), 4)).toBe('1234');
  });

  test('refuses one byte more, and drops the rest', async () => {
    const body = Readable.from([Buffer.from('12'), Buffer.from('345'), Buffer.from('never read')]);
    await expect(readText(body, 4)).rejects.toMatchObject({
      code: 'HOST_ERROR',
      message: expect.stringContaining('longer than the 4 bytes'),
      retryable: false,
    });
    expect(body.destroyed).toBe(true);
  });

  test('ends with the error of an answer that breaks off', async () => {
    const body = new Readable({ read: () => undefined });
    body.destroy(new Error('cut'));
    await expect(readText(body, 100)).rejects.toThrow('cut');
  });
});

describe('discard', () => {
  test('lets go of the connection', () => {
    const body = Readable.from([Buffer.from('of no interest')]);
    discard({ status: 302, headers: {}, body });
    expect(body.destroyed).toBe(true);
  });

  test('does not mind an error that comes with it', async () => {
    const body = new Readable({
      read: () => undefined,
      destroy: (_error, done) => done(new Error('late')),
    });
    const closed = new Promise((resolve) => body.once('close', resolve));
    discard({ status: 302, headers: {}, body });
    await expect(closed).resolves.toBeUndefined();
  });
});
