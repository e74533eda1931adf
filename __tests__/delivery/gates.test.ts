import { expect, test } from '@jest/globals';
import { composeReport } from '../../src/delivery/compose-report.ts';
import type { ChannelAttempt } from '../../src/delivery/delivery.ts';
import { DeliveryError } from '../../src/errors.ts';
import { GATES } from '../../src/protocol/words.ts';
import { attemptWith, deliveryWith, PAGE, proofWith } from './builders.ts';

const failure = new DeliveryError('NOT_PROVEN', 'not proven');
const gatesOf = (main: ChannelAttempt | null) => composeReport(deliveryWith({ main })).gates;
const NOT_PLACED = ['the channel has not done it', 'the channel returned no address'];
const NOT_PROVEN = ['the address is not proven', 'there is nothing to hand over'];
const WITHHELD = ['commit c0ffee', 'an address, withheld until it is proven'];
const PROVEN = ['commit c0ffee', PAGE.href, 'HTTP 200, bytes identical: yes', 'URL and report handed over'];
const gone = proofWith({ match: 'gone', httpCode: 404, sha256: null });

test.each<[string, ChannelAttempt | null, number, readonly string[]]>([
  ['where nothing was tried', null, 0, [...NOT_PLACED, ...NOT_PROVEN]],
  [
    'where nothing was placed',
    attemptWith({ placement: null, proof: null, failure }),
    0,
    [...NOT_PLACED, ...NOT_PROVEN],
  ],
  ['of what is placed', attemptWith({ proof: null, failure }), 2, [...WITHHELD, ...NOT_PROVEN]],
  ['of what is proven', attemptWith(), 4, PROVEN],
  [
    'of what is withdrawn',
    attemptWith({ proof: gone }),
    4,
    [...PROVEN.slice(0, 2), 'HTTP 404, nothing is served there', 'report handed over'],
  ],
])('the gates %s have the protocol’s order and say what is missing', (_, main, passed, evidence) => {
  const gates = gatesOf(main);
  expect(gates.map(({ name }) => name)).toEqual([...GATES]);
  expect(gates.filter((gate) => gate.passed)).toEqual(gates.slice(0, passed));
  expect(gates.map((gate) => gate.evidence)).toEqual(evidence);
});

test.each([
  [{ match: 'identical', markerCount: 3 }, 'HTTP 200, marker found: yes, 3 ×, bytes identical: yes'],
  [{ match: 'identical', markerCount: null, parts: 11 }, 'HTTP 200, bytes identical: yes'],
  [{ match: 'altered', markerCount: 1 }, 'HTTP 200, marker found: yes, 1 ×, bytes identical: no'],
  [{ match: 'marked', markerCount: 2 }, 'HTTP 200, marker found: yes, 2 ×'],
] as const)('G3 shows for %o the evidence %j', (proof, evidence) => {
  expect(gatesOf(attemptWith({ proof: proofWith(proof) }))[2]?.evidence).toBe(evidence);
});
