import { expect, test } from '@jest/globals';
import { forEachItem } from '../../src/async.ts';
import { askChannel, failAll, newDelivery, withFailure } from '../../src/delivery/delivery.ts';
import { DeliveryError } from '../../src/errors.ts';

const TAKEN = new DeliveryError('NOT_OURS', 'taken');

test('An error that concerns all ends all open deliveries, and no other.', () => {
  const [open, failed] = ['a.html', 'b.html'].map((name) => newDelivery('deliver', name));
  if (open === undefined || failed === undefined) throw new Error('there are two');
  const ended = failAll([open, withFailure(failed, 'check', TAKEN)], 'place', new TypeError('ours'));
  const told = ended.map(({ failure }) => `${failure?.message}, ${failure?.step}`);
  expect(told).toEqual(['unexpected error: ours, place', 'taken, check']);
});

type Call = (items: readonly string[]) => ReturnType<typeof forEachItem<string, string>>;
const echo: Call = (items) =>
  forEachItem(items, async (item) => {
    if (item === 'b') throw TAKEN;
    return item.toUpperCase();
  });

test.each<[string, readonly string[], Call, readonly string[]]>([
  ['gives each its own result', ['a', 'none', 'b'], echo, ['a: A', 'none', 'b: taken']],
  ['gives all the error of the call', ['a', 'b'], () => Promise.reject(TAKEN), ['a: taken', 'b: taken']],
  ['is not asked without items', ['none'], () => Promise.reject(new Error('called')), ['none']],
  [
    'fails what it has left out',
    ['a', 'c'],
    (items) => echo(items.slice(0, 1)),
    ['a: A', 'c: unexpected error: the channel left a file out'],
  ],
])('A channel %s.', async (_, given, call, expected) => {
  const answered = await askChannel(
    given,
    (one) => (one === 'none' ? undefined : one),
    call,
    (one, result) => `${one}: ${result instanceof DeliveryError ? result.message : result}`,
  );
  expect(answered).toEqual(expected);
});
