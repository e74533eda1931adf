import './support/one-realm.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError, type ErrorDetails, resultOf, stoppedError, toDeliveryError } from '../src/errors.ts';

const DETAILS: Required<ErrorDetails> = {
  httpCode: 503,
  step: 'place',
  hint: 'try again',
  retryable: true,
  retryAfter: 2_000,
  leftBehind: [],
  subject: 'page.html',
  findings: ['one', 'two'],
  cause: new Error('cause'),
};

describe('DeliveryError', () => {
  test('has its code and every detail', () => {
    const error = new DeliveryError('HOST_ERROR', 'it failed', DETAILS);
    expect(error).toMatchObject({
      name: 'DeliveryError',
      code: 'HOST_ERROR',
      message: 'it failed: one; two',
    });
    for (const [name, value] of Object.entries(DETAILS)) expect(Reflect.get(error, name)).toBe(value);
  });

  test('without details is not retryable and has no cause property', () => {
    const error = new DeliveryError('BAD_INPUT', 'it failed');
    expect(error.retryable).toBe(false);
    expect(error).not.toHaveProperty('cause');
    expect([error.httpCode, error.step, error.hint, error.retryAfter]).toEqual(Array(4).fill(undefined));
  });

  test('withStep adds the step and keeps everything else', () => {
    const { step: _, ...withoutStep } = DETAILS;
    const error = new DeliveryError('HOST_ERROR', 'it failed', withoutStep);
    const copy = error.withStep('verify');
    expect(copy).toBeInstanceOf(DeliveryError);
    expect(copy).toMatchObject({
      code: 'HOST_ERROR',
      message: 'it failed: one; two',
      ...withoutStep,
      step: 'verify',
    });
    expect(copy.cause).toBe(withoutStep.cause);
    expect(error.step).toBeUndefined();
  });

  test('withStep keeps a step that is already set', () => {
    const error = new DeliveryError('HOST_ERROR', 'it failed', DETAILS);
    expect(error.withStep('verify')).toBe(error);
  });
});

describe('toDeliveryError', () => {
  test('returns a DeliveryError unchanged', () => {
    const error = new DeliveryError('BAD_INPUT', 'it failed');
    expect(toDeliveryError(error)).toBe(error);
  });

  const pauseUntil = (signal: AbortSignal) => sleep(1, undefined, { signal }).catch((error) => error);

  test('turns whatever the end of the delivery has stopped into its reason', async () => {
    const signal = AbortSignal.abort(stoppedError());
    expect(signal.reason).toMatchObject({ code: 'ABORTED', retryable: false });
    expect(toDeliveryError(signal.reason)).toBe(signal.reason);
    expect(toDeliveryError(await pauseUntil(AbortSignal.any([signal])))).toBe(signal.reason);
  });

  const over = AbortSignal.abort(new DOMException('The time is over', 'TimeoutError'));
  test.each<[string, () => unknown, string]>([
    ['a time limit', () => over.reason, 'CONNECTION'],
    ['a pause that a time limit ended', () => pauseUntil(over), 'CONNECTION'],
    ['an abort that nobody expected', () => AbortSignal.abort().reason, 'INTERNAL'],
  ])('does not take %s for the end of the delivery', async (_case, createThrown, code) => {
    const thrown = await createThrown();
    expect(toDeliveryError(thrown)).toMatchObject({ code, retryable: false, cause: thrown });
  });

  test.each<[string, unknown, string]>([
    ['an error', new TypeError('x is undefined'), 'unexpected error: x is undefined'],
    ['a text', 'broken', 'unexpected error: broken'],
    ['undefined', undefined, 'unexpected error: undefined'],
    ['an object', { name: 'AbortError' }, 'unexpected error: [object Object]'],
  ])('turns %s into INTERNAL', (_case, thrown, message) => {
    const error = toDeliveryError(thrown);
    expect(error).toMatchObject({ code: 'INTERNAL', message, retryable: false });
    expect(error.hint).toMatch(/report it/);
    expect(error.cause).toBe(thrown);
  });
});

describe('resultOf', () => {
  test('returns the value of the work', async () => {
    await expect(resultOf(async () => 7)).resolves.toBe(7);
  });

  test('returns the error of the work', async () => {
    const failure = new DeliveryError('NOT_OURS', 'taken', { httpCode: 422 });
    await expect(resultOf(() => Promise.reject(failure))).resolves.toBe(failure);
  });

  test('turns an unexpected error into INTERNAL, even if the work throws synchronously', async () => {
    const thrown = new TypeError('x is undefined');
    const work = (): Promise<number> => {
      throw thrown;
    };
    await expect(resultOf(work)).resolves.toMatchObject({ code: 'INTERNAL', cause: thrown });
  });
});

test('an error of another bundle is recognized, and nothing else is taken for one', async () => {
  // The same module once more, as a bundle of its own has it.
  const other = (await import(`${'../src/errors.ts'}?other`)) as typeof import('../src/errors.ts');
  const error = new other.DeliveryError('BAD_INPUT', 'the root is no folder', { hint: 'set `--root`' });
  expect(other.DeliveryError).not.toBe(DeliveryError);
  expect(error).toBeInstanceOf(DeliveryError);
  expect(toDeliveryError(error)).toBe(error);
  for (const value of [
    null,
    undefined,
    'x',
    {},
    new Error('x'),
    { name: 'DeliveryError', code: 'BAD_INPUT' },
  ]) {
    expect(value).not.toBeInstanceOf(DeliveryError);
  }
});
