import { describe, expect, test } from '@jest/globals';
import { forEachItem } from '../../src/async.ts';
import {
  askChannel,
  channelsIn,
  channelsUsed,
  type Delivery,
  failAll,
  isOngoing,
  mainAttempt,
  newDelivery,
  runStep,
  withFailure,
} from '../../src/delivery/delivery.ts';
import { DeliveryError } from '../../src/errors.ts';
import { attemptWith, deliveryWith } from './builders.ts';

const TAKEN = new DeliveryError('NOT_OURS', 'taken');
const someDeliveries = (count: number): Delivery[] =>
  Array.from({ length: count }, (_, at) => newDelivery('deliver', `${at}.html`));
const failures = (some: readonly Delivery[]) => some.map(({ failure }) => failure?.message ?? null);

describe('newDelivery', () => {
  test('knows nothing but its subject and what was asked for', () => {
    const delivery = newDelivery('withdraw', 'page.html');
    expect(delivery).toEqual({
      operation: 'withdraw',
      subject: 'page.html',
      found: null,
      file: null,
      site: null,
      name: '',
      choice: null,
      tasks: new Map(),
      routerSetting: null,
      localView: null,
      picture: null,
      attempts: new Map(),
      unknown: [],
      notes: [],
      failure: null,
    });
    expect(isOngoing(delivery)).toBe(true);
  });
});

describe('withFailure', () => {
  test('closes the delivery and names the step, and leaves the original unchanged', () => {
    const delivery = newDelivery('deliver', 'page.html');
    const failed = withFailure(delivery, 'check', TAKEN);
    expect(failed.failure).toMatchObject({ code: 'NOT_OURS', step: 'check' });
    expect([isOngoing(failed), isOngoing(delivery)]).toEqual([false, true]);
  });
});

describe('runStep', () => {
  test('works in order, one after the other, and goes on after one that fails', async () => {
    const seen: string[] = [];
    const done = await runStep('check', someDeliveries(3), async (delivery) => {
      seen.push(`begin ${delivery.subject}`);
      await Promise.resolve();
      if (delivery.subject === '1.html') throw new TypeError('ours');
      seen.push(`end ${delivery.subject}`);
      return { ...delivery, name: 'done' };
    });
    expect(seen).toEqual(['begin 0.html', 'end 0.html', 'begin 1.html', 'begin 2.html', 'end 2.html']);
    expect(done.map(({ failure }) => failure?.code)).toEqual([undefined, 'INTERNAL', undefined]);
    expect(done[1]?.failure?.step).toBe('check');
    expect(done.map(({ name }) => name)).toEqual(['done', '', 'done']);
  });

  test('leaves out a delivery that has failed, and keeps its failure', async () => {
    const [first, second] = someDeliveries(2) as [Delivery, Delivery];
    const some = [withFailure(first, 'check', TAKEN), second];
    const done = await runStep('place', some, () => Promise.reject(new Error('later')));
    expect(failures(done)).toEqual(['taken', 'unexpected error: later']);
  });

  test('keeps the step that an error names', async () => {
    const [done] = await runStep('place', someDeliveries(1), () =>
      Promise.reject(TAKEN.withStep('authorize')),
    );
    expect(done?.failure?.step).toBe('authorize');
  });
});

describe('failAll', () => {
  test('ends all open deliveries with an error that concerns all, and no other', () => {
    const [first, second, third] = someDeliveries(3) as [Delivery, Delivery, Delivery];
    const failed = failAll(
      [first, withFailure(second, 'check', TAKEN), third],
      new DeliveryError('BAD_TOKEN', 'no', { step: 'authorize' }),
    );
    expect(failures(failed)).toEqual(['no', 'taken', 'no']);
    expect(failed[0]?.failure?.step).toBe('authorize');
  });

  test('names the step check for an error without a step', () => {
    expect(failAll(someDeliveries(1), new TypeError('ours'))[0]?.failure).toMatchObject({
      code: 'INTERNAL',
      step: 'check',
    });
  });
});

describe('askChannel', () => {
  test('returns each item with its own result', async () => {
    const results = await askChannel(['a', 'b'], (items) =>
      forEachItem(items, async (item) => {
        if (item === 'b') throw TAKEN;
        return item.toUpperCase();
      }),
    );
    expect(results).toEqual([
      { item: 'a', result: 'A' },
      { item: 'b', result: TAKEN },
    ]);
  });

  test('gives every item the error of a call that fails as a whole', async () => {
    const results = await askChannel(['a', 'b'], () => Promise.reject(TAKEN));
    expect(results).toEqual([
      { item: 'a', result: TAKEN },
      { item: 'b', result: TAKEN },
    ]);
  });

  test('does not call the channel without items', async () => {
    await expect(askChannel([], () => Promise.reject(new Error('called')))).resolves.toEqual([]);
  });
});

describe('the channels of a delivery', () => {
  const choice = { main: 'K1', duplicates: ['K3', 'K2'], reason: 'it was asked for' } as const;
  const delivery = { ...newDelivery('deliver', 'page.html'), choice };

  test.each([
    ['main', ['K1']],
    ['duplicates', ['K3', 'K2']],
    ['any', ['K1', 'K3', 'K2']],
  ] as const)('channelsIn gives those of the role %s', (role, keys) => {
    expect(channelsIn(delivery, role)).toEqual(keys);
    expect(channelsIn(newDelivery('deliver', 'page.html'), role)).toEqual([]);
  });

  test('channelsUsed names each channel once', () => {
    expect([...channelsUsed([delivery, delivery])]).toEqual(['K1', 'K3', 'K2']);
  });

  test('mainAttempt is the attempt in the main channel, or null', () => {
    const main = attemptWith();
    expect(mainAttempt(deliveryWith({ main }))).toBe(main);
    expect(mainAttempt(delivery)).toBeNull();
    expect(mainAttempt(newDelivery('deliver', 'page.html'))).toBeNull();
  });
});
