import { expect, test } from '@jest/globals';
import { failAll, newDelivery, withFailure } from '../../src/delivery/delivery.ts';
import { DeliveryError } from '../../src/errors.ts';

const TAKEN = new DeliveryError('NOT_OURS', 'taken');

test('An error that concerns all ends all open deliveries, and no other.', () => {
  const [open, failed] = ['a.html', 'b.html'].map((name) => newDelivery('deliver', name));
  if (open === undefined || failed === undefined) throw new Error('there are two');
  const ended = failAll([open, withFailure(failed, 'check', TAKEN)], 'place', new TypeError('ours'));
  const told = ended.map(({ failure }) => `${failure?.message}, ${failure?.step}`);
  expect(told).toEqual(['unexpected error: ours, place', 'taken, check']);
});
