import './support/one-realm.ts';
import { constants } from 'node:os';
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
  line: 3,
  findings: ['one', 'two'],
  cause: new Error('cause'),
};

describe('DeliveryError', () => {
  test('has its code and every detail, also in a copy with its step; a step that is set is kept', () => {
    const error = new DeliveryError('HOST_ERROR', 'it failed', DETAILS);
    const { step: _, ...withoutStep } = DETAILS;
    const copy = new DeliveryError('HOST_ERROR', 'it failed', withoutStep).withStep('place');
    for (const one of [error, copy]) {
      expect(one).toBeInstanceOf(DeliveryError);
      expect(one).toMatchObject({ code: 'HOST_ERROR', message: 'it failed: one; two', ...DETAILS });
      expect(one.cause).toBe(DETAILS.cause);
    }
    expect(error.withStep('verify')).toBe(error);
  });

  test.each<[string, string, ErrorDetails]>([
    ['its line', 'a.md line 3: it failed: one; two', DETAILS],
    ['no line', 'a.md: it failed', {}],
  ])('names its file with %s', (_, message, details) => {
    expect(new DeliveryError('BAD_FILE', 'it failed', details).inFile('a.md').message).toBe(message);
  });
});

describe('toDeliveryError', () => {
  const pauseUntil = (signal: AbortSignal) => sleep(1, undefined, { signal }).catch((error) => error);

  test('turns whatever the end of the delivery has stopped into its reason', async () => {
    const signal = AbortSignal.abort(stoppedError());
    expect(signal.reason).toMatchObject({ code: 'ABORTED', retryable: false });
    expect(toDeliveryError(signal.reason)).toBe(signal.reason);
    expect(toDeliveryError(await pauseUntil(AbortSignal.any([signal])))).toBe(signal.reason);
  });

  const systemError = (code: string, syscall: string, path: string): Error =>
    Object.assign(new Error(code), { code, syscall, path, errno: -constants.errno[code as 'ENOENT'] });

  const over = AbortSignal.abort(new DOMException('The time is over', 'TimeoutError'));
  test.each<[string, () => unknown, string, RegExp]>([
    ['a time limit', () => over.reason, 'CONNECTION', /^no answer came in time$/],
    ['a pause that a time limit ended', () => pauseUntil(over), 'CONNECTION', /in time$/],
    ['an abort that nobody expected', () => AbortSignal.abort().reason, 'INTERNAL', /^unexpected error: /],
    [
      'a full disk',
      () => systemError('ENOSPC', 'open', '/tmp/a'),
      'LOCAL',
      /^this machine can't use \/tmp\/a: no space left on device \(ENOSPC\)$/,
    ],
    [
      'a missing program',
      () => systemError('ENOENT', 'spawn git', 'git'),
      'LOCAL',
      /^this machine can't spawn git: no such file or directory \(ENOENT\)$/,
    ],
    ['an error', () => new TypeError('x is undefined'), 'INTERNAL', /^unexpected error: x is undefined$/],
    ['a text', () => 'broken', 'INTERNAL', /^unexpected error: broken$/],
    ['undefined', () => undefined, 'INTERNAL', /^unexpected error: undefined$/],
  ])('turns %s into an error that is not retried', async (_case, createThrown, code, message) => {
    const thrown = await createThrown();
    const error = toDeliveryError(thrown);
    expect(error).toMatchObject({ code, retryable: false, message: expect.stringMatching(message) });
    const hints: Record<string, RegExp> = {
      INTERNAL: /report it/,
      CONNECTION: /try again/,
      LOCAL: /`TMPDIR`/,
    };
    expect(error.hint).toMatch(hints[code] ?? /^$/);
    expect(error.cause).toBe(thrown);
  });
});

test('resultOf returns the error of the work, even if it throws synchronously', async () => {
  const cause = new TypeError('x is undefined');
  const work = (): Promise<number> => {
    throw cause;
  };
  await expect(resultOf(work)).resolves.toMatchObject({ code: 'INTERNAL', cause });
});

test('an error of another bundle is recognized, and nothing else is taken for one', async () => {
  // The same module once more, as a bundle of its own has it.
  const other = (await import(`${'../src/errors.ts'}?other`)) as typeof import('../src/errors.ts');
  const error = new other.DeliveryError('BAD_INPUT', 'the root is no folder', { hint: 'set `--root`' });
  expect(other.DeliveryError).not.toBe(DeliveryError);
  expect(error).toBeInstanceOf(DeliveryError);
  expect(toDeliveryError(error)).toBe(error);
  const lookalike = { name: 'DeliveryError', code: 'BAD_INPUT' };
  for (const value of [null, undefined, 'x', {}, new Error('x'), lookalike]) {
    expect(value).not.toBeInstanceOf(DeliveryError);
  }
});
