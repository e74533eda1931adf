import { describe, expect, test } from '@jest/globals';
import { forEachItem } from '../../src/async.ts';
import {
  askChannel,
  type Delivery,
  failAll,
  mapAttempts,
  newDelivery,
  runStep,
  withFailure,
} from '../../src/delivery/delivery.ts';
import { DeliveryError } from '../../src/errors.ts';
import { attemptWith, deliveryWith, planWith } from './builders.ts';

const TAKEN = new DeliveryError('NOT_OURS', 'taken');
const someDeliveries = (count: number): Delivery[] =>
  Array.from({ length: count }, (_, at) => newDelivery('deliver', `${at}.html`));
const failures = (some: readonly Delivery[]) =>
  some.map(({ failure }) => failure && `${failure.message}, ${failure.step}`);

test('runStep works in order, leaves out what has failed, and goes on after one that fails', async () => {
  const [first, second, ...others] = someDeliveries(4) as [Delivery, Delivery, ...Delivery[]];
  const seen: string[] = [];
  const some = [first, withFailure(second, 'check', TAKEN), ...others];
  const done = await runStep('place', some, async (delivery) => {
    seen.push(`begin ${delivery.subject}`);
    await Promise.resolve();
    if (delivery === others[0]) throw TAKEN.withStep('authorize');
    if (delivery === others[1]) throw new TypeError('ours');
    seen.push(`end ${delivery.subject}`);
    return { ...delivery, name: 'done' };
  });
  expect(seen).toEqual(['begin 0.html', 'end 0.html', 'begin 2.html', 'begin 3.html']);
  const last = 'unexpected error: ours, place';
  expect(failures(done)).toEqual([null, 'taken, check', 'taken, authorize', last]);
  expect(done.map(({ name }) => name)).toEqual(['done', '', '', '']);
});

test('failAll ends all open deliveries with an error that concerns all, and no other', () => {
  const [first, second] = someDeliveries(2) as [Delivery, Delivery];
  const some = [first, withFailure(second, 'check', TAKEN)];
  const bad = new DeliveryError('BAD_TOKEN', 'no', { step: 'authorize' });
  expect(failures(failAll(some, 'place', bad))).toEqual(['no, authorize', 'taken, check']);
  expect(failures(failAll([first], 'check', new TypeError('ours')))).toEqual([
    'unexpected error: ours, check',
  ]);
});

describe('askChannel', () => {
  type Call = (items: readonly string[]) => ReturnType<typeof forEachItem<string, string>>;
  const ask = (given: readonly string[], call: Call) =>
    askChannel(
      given,
      (one) => (one === 'none' ? undefined : one),
      call,
      (one, result) => `${one}: ${result instanceof DeliveryError ? result.message : result}`,
    );
  const echo: Call = (items) =>
    forEachItem(items, async (item) => {
      if (item === 'b') throw TAKEN;
      return item.toUpperCase();
    });

  test.each<[string, readonly string[], Call, readonly string[]]>([
    ['gives each its own result', ['a', 'none', 'b'], echo, ['a: A', 'none', 'b: taken']],
    ['gives all the error of the call', ['a', 'b'], () => Promise.reject(TAKEN), ['a: taken', 'b: taken']],
    ['asks nobody without items', ['none'], () => Promise.reject(new Error('called')), ['none']],
    [
      'fails what the channel has left out',
      ['a', 'c'],
      (items) => echo(items.slice(0, 1)),
      ['a: A', 'c: unexpected error: the channel left a file out'],
    ],
  ])('%s', async (_, given, call, expected) => {
    expect(await ask(given, call)).toEqual(expected);
  });
});

test('mapAttempts changes those of one channel, and none of a delivery that has failed', async () => {
  const duplicates = [attemptWith({ plan: planWith({ channel: 'K3' }) })];
  const both = deliveryWith({ duplicates });
  const failed = withFailure(both, 'check', TAKEN);
  const some = [failed, deliveryWith(), both];
  const done = await mapAttempts(some, 'K3', async (attempts) =>
    attempts.map((one) => ({ ...one, title: 'done' })),
  );
  expect(done.map(({ attempts }) => attempts.map(({ title }) => title))).toEqual([
    ['page.html', 'page.html'],
    ['page.html'],
    ['page.html', 'done'],
  ]);
  const called = () => Promise.reject(new Error('called'));
  await expect(mapAttempts([failed], 'K3', called)).resolves.toEqual([failed]);
});
