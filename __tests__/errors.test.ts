import './support/one-realm.ts';
import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import {
  DeliveryError,
  type ErrorDetails,
  hasFailed,
  hasSucceeded,
  resultOf,
  toDeliveryError,
} from '../src/errors.ts';

const DETAILS: Required<ErrorDetails> = {
  httpCode: 503,
  step: 'place',
  hint: 'run the step again',
  retryable: true,
  retryAfter: 2_000,
  leftBehind: [],
  cause: new Error('cause'),
};

describe('a DeliveryError', () => {
  test('carries its code and every detail', () => {
    const error = new DeliveryError('HOST_ERROR', 'it failed', DETAILS);
    expect(error).toMatchObject({ name: 'DeliveryError', code: 'HOST_ERROR', message: 'it failed' });
    for (const [name, value] of Object.entries(DETAILS)) expect(Reflect.get(error, name)).toBe(value);
  });

  test('without details does not pass, and has no cause at all', () => {
    const error = new DeliveryError('BAD_INPUT', 'it failed');
    expect(error.retryable).toBe(false);
    expect(error).not.toHaveProperty('cause');
    expect([error.httpCode, error.step, error.hint, error.retryAfter]).toEqual(Array(4).fill(undefined));
  });

  test('is placed in the step in which it surfaced, and keeps everything else', () => {
    const { step: _, ...unplaced } = DETAILS;
    const error = new DeliveryError('HOST_ERROR', 'it failed', unplaced);
    const placed = error.withStep('verify');
    expect(placed).toBeInstanceOf(DeliveryError);
    expect(placed).toMatchObject({ code: 'HOST_ERROR', message: 'it failed', ...unplaced, step: 'verify' });
    expect(placed.cause).toBe(unplaced.cause);
    expect(error.step).toBeUndefined();
  });

  test('stays in the step that it names', () => {
    const error = new DeliveryError('HOST_ERROR', 'it failed', DETAILS);
    expect(error.withStep('verify')).toBe(error);
  });

  test('placed without a cause has none', () => {
    expect(new DeliveryError('BAD_INPUT', 'it failed').withStep('check')).not.toHaveProperty('cause');
  });
});

describe('asDeliveryError', () => {
  test('leaves one as it is', () => {
    const error = new DeliveryError('BAD_INPUT', 'it failed');
    expect(toDeliveryError(error)).toBe(error);
  });

  const stopped = new AbortController();
  stopped.abort();
  test.each<[string, () => unknown]>([
    ["a signal's own reason", () => stopped.signal.reason],
    [
      'a pause that was stopped',
      () => after(1, undefined, { signal: stopped.signal }).catch((error) => error),
    ],
    ['a time that ran out', () => new DOMException('too late', 'TimeoutError')],
  ])('knows %s for an abort', async (_what, make) => {
    const thrown = await make();
    expect(toDeliveryError(thrown)).toMatchObject({ code: 'ABORTED', retryable: false, cause: thrown });
  });

  test.each<[string, unknown, string]>([
    ['an error', new TypeError('x is undefined'), 'an unexpected error: x is undefined'],
    ['a text', 'broken', 'an unexpected error: broken'],
    ['nothing', undefined, 'an unexpected error: undefined'],
    ['an object', { name: 'AbortError' }, 'an unexpected error: [object Object]'],
  ])('takes %s for a mistake of our own', (_what, thrown, message) => {
    const error = toDeliveryError(thrown);
    expect(error).toMatchObject({ code: 'INTERNAL', message, retryable: false });
    expect(error.hint).toMatch(/report it/);
    expect(error.cause).toBe(thrown);
  });
});

describe('settled work', () => {
  test('is what it brought', async () => {
    await expect(resultOf(async () => 7)).resolves.toBe(7);
  });

  test('is its own failure', async () => {
    const failure = new DeliveryError('NOT_OURS', 'taken', { httpCode: 422 });
    await expect(resultOf(() => Promise.reject(failure))).resolves.toBe(failure);
  });

  test('is a mistake of ours, where it threw one, even before it began to wait', async () => {
    const thrown = new TypeError('x is undefined');
    const begin = (): Promise<number> => {
      throw thrown;
    };
    await expect(resultOf(begin)).resolves.toMatchObject({ code: 'INTERNAL', cause: thrown });
  });

  test.each<[string, unknown, boolean]>([
    ['a failure', new DeliveryError('NOT_OURS', 'taken'), true],
    ['a value', 'placed', false],
    ['nothing', undefined, false],
    ['no file', null, false],
    ['an error that is a value', new Error('kept'), false],
  ])('tells %s from the other', (_what, one, failed) => {
    expect([hasFailed(one), hasSucceeded(one)]).toEqual([failed, !failed]);
  });
});
