import { describe, expect, test } from '@jest/globals';
import { firstHeader, parseRetryAfter } from '../../src/http/headers.ts';
import { NOON } from '../support/ports.ts';

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
