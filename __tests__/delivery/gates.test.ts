import { describe, expect, test } from '@jest/globals';
import { evaluateGates } from '../../src/delivery/compose-report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { GATES } from '../../src/protocol/words.ts';
import { attemptWith, PAGE, proofWith } from './builders.ts';

const failure = new DeliveryError('NOT_PROVEN', 'not proven');
const passed = (outcome: Parameters<typeof evaluateGates>[0]): boolean[] =>
  evaluateGates(outcome, 'deliver').map((gate) => gate.passed);
const evidenceOf = (outcome: Parameters<typeof evaluateGates>[0]): string[] =>
  evaluateGates(outcome, 'deliver').map(({ evidence }) => evidence);

describe('the gates', () => {
  test('have the protocol’s order and names', () => {
    expect(evaluateGates(null, 'deliver').map(({ name }) => name)).toEqual([...GATES]);
  });

  test('are all closed without an outcome, each with what is missing', () => {
    expect(passed(null)).toEqual([false, false, false, false]);
    expect(evidenceOf(null)).toEqual([
      'the file is not placed',
      'the channel returned no address',
      'the address is not proven',
      'there is no URL to hand over',
    ]);
  });

  test('of a withdrawal say that nothing was removed', () => {
    expect(evaluateGates(null, 'withdraw').map(({ evidence }) => evidence)).toEqual([
      'the file is not removed',
      'the channel returned no address',
      'the address is not proven to be empty',
      'the file may still be served',
    ]);
  });

  test('are all closed when nothing was placed', () => {
    expect(passed(attemptWith({ placement: null, proof: null, failure }))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test('G1 and G2 open with the placement, and the address is withheld until it is proven', () => {
    const placed = attemptWith({ proof: null, failure });
    expect(passed(placed)).toEqual([true, true, false, false]);
    expect(evidenceOf(placed).slice(0, 2)).toEqual([
      'commit c0ffee',
      'an address, withheld until it is proven',
    ]);
    expect(JSON.stringify(evaluateGates(placed, 'deliver'))).not.toContain('https://');
  });

  test('are all open when the address is proven', () => {
    expect(passed(attemptWith())).toEqual([true, true, true, true]);
    expect(evidenceOf(attemptWith())[1]).toBe(PAGE.href);
  });

  test('are all open when a withdrawn address is proven to serve nothing', () => {
    const gone = attemptWith({ proof: proofWith({ match: 'gone', httpCode: 404, sha256: null }) });
    expect(passed(gone)).toEqual([true, true, true, true]);
    expect(evidenceOf(gone).slice(2)).toEqual(['HTTP 404, nothing is served there', 'report handed over']);
  });

  test.each([
    [{ match: 'identical', markerCount: null }, 'HTTP 200, bytes identical: yes'],
    [{ match: 'identical', markerCount: 1 }, 'HTTP 200, marker found: yes, 1 ×, bytes identical: yes'],
    [{ match: 'identical', markerCount: 3 }, 'HTTP 200, marker found: yes, 3 ×, bytes identical: yes'],
    [{ match: 'identical', markerCount: null, parts: 11 }, 'HTTP 200, bytes identical: yes'],
    [{ match: 'altered', markerCount: 1 }, 'HTTP 200, marker found: yes, 1 ×, bytes identical: no'],
    [{ match: 'marked', markerCount: 2 }, 'HTTP 200, marker found: yes, 2 ×'],
  ] as const)('G3 shows for %o the evidence %j', (proof, evidence) => {
    expect(evidenceOf(attemptWith({ proof: proofWith(proof) }))[2]).toBe(evidence);
  });
});
