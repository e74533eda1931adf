import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { discard, firstHeader, parseRetryAfter, readText } from '../../src/http/response.ts';
import { NOON } from '../support/ports.ts';

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

describe('header', () => {
  test.each([
    ['a text', 'a', 'a'],
    ['a number', 7, '7'],
    ['the first of several', ['a', 'b'], 'a'],
    ['nothing of an empty list', [], undefined],
    ['nothing', undefined, undefined],
    ['an empty text', '', ''],
  ])('is %s', (_what, value, read) => {
    expect(firstHeader({ headers: { 'x-it': value } }, 'x-it')).toBe(read);
  });

  test('that was not sent is undefined', () => {
    expect(firstHeader({ headers: {} }, 'x-it')).toBeUndefined();
  });
});

describe('retryAfter', () => {
  const asked = (value: string | number | undefined): number | undefined =>
    parseRetryAfter({ headers: { 'retry-after': value } }, NOON);

  test.each([
    ['seconds', '30', 30_000],
    ['seconds as a number', 30, 30_000],
    ['no time at all', '0', 0],
    ['a date to come', new Date(NOON + 45_000).toUTCString(), 45_000],
    ['a date that has passed', new Date(NOON - 45_000).toUTCString(), 0],
  ])('understands %s', (_what, value, ms) => {
    expect(asked(value)).toBe(ms);
  });

  test.each([undefined, '', 'soon', '5s', '1.5', '-5', '1e3'])('takes %j for no answer at all', (value) => {
    expect(asked(value)).toBeUndefined();
  });
});
