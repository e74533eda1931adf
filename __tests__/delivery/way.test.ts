import { describe, expect, test } from '@jest/globals';
import { each, end, intend, newWay, open, together, type Way } from '../../src/delivery/way.ts';
import { DeliveryError } from '../../src/errors.ts';
import { intentWith, planWith } from './builders.ts';

const failure = new DeliveryError('NOT_OURS', 'taken');
const ways = (count: number): Way[] =>
  Array.from({ length: count }, (_, at) => newWay('deliver', `${at}.html`, null));
const failures = (some: readonly Way[]) => some.map(({ findings }) => findings.failure?.message ?? null);

describe('a way', () => {
  test('begins with nothing but its subject and what was asked for', () => {
    const way = newWay('withdraw', 'page.html', null);
    expect(way).toMatchObject({ found: null, name: '', choice: null, intents: new Map() });
    expect(way.findings).toEqual({
      operation: 'withdraw',
      subject: 'page.html',
      file: null,
      because: '',
      plan: null,
      main: null,
      duplicates: [],
      unknown: [],
      failure: null,
    });
    expect(open([way])).toEqual([way]);
  });

  test('that has ended is open no more, and names the step', () => {
    const [one, two] = ways(2) as [Way, Way];
    end(one, 'check', failure);
    expect(open([one, two])).toEqual([two]);
    expect(one.findings.failure).toMatchObject({ code: 'NOT_OURS', step: 'check' });
  });

  test.each([
    ['its main channel', 'K1', 'page 0'],
    ['a duplicate', 'K3', null],
  ] as const)('reports the plan of %s: %s', (_, key, planned) => {
    const [way] = ways(1) as [Way];
    way.choice = { main: 'K1', duplicates: ['K3'], reason: 'it was asked for' };
    const intent = intentWith(undefined, undefined, planWith({ channel: key, destination: 'page 0' }));
    intend(way, key, intent);
    expect(way.intents.get(key)).toBe(intent);
    expect(way.findings.plan?.destination ?? null).toBe(planned);
  });
});

describe('doing the same on each', () => {
  test('goes in order, one after the other, past one that fails', async () => {
    const some = ways(3);
    const seen: string[] = [];
    await each(some, 'check', async ({ findings: { subject } }) => {
      seen.push(`begin ${subject}`);
      await Promise.resolve();
      if (subject === '1.html') throw new TypeError('ours');
      seen.push(`end ${subject}`);
    });
    expect(seen).toEqual(['begin 0.html', 'end 0.html', 'begin 1.html', 'begin 2.html', 'end 2.html']);
    expect(some.map(({ findings }) => findings.failure?.code)).toEqual([undefined, 'INTERNAL', undefined]);
    expect(some[1]?.findings.failure?.step).toBe('check');
  });

  test('leaves out what has ended, and keeps what it ended with', async () => {
    const some = ways(2);
    end(some[0] as Way, 'check', failure);
    await each(some, 'place', () => Promise.reject(new Error('later')));
    expect(failures(some)).toEqual(['taken', 'unexpected error: later']);
  });

  test('keeps a step that the failure names', async () => {
    const [way] = ways(1) as [Way];
    await each([way], 'place', () => Promise.reject(failure.withStep('authorize')));
    expect(way.findings.failure?.step).toBe('authorize');
  });
});

describe('doing what they share', () => {
  test('is handed the open ones, and a failure ends them all', async () => {
    const some = ways(3);
    end(some[1] as Way, 'check', failure);
    let handed: readonly Way[] = [];
    await together(some, 'authorize', async (given) => {
      handed = given;
      throw new DeliveryError('BAD_TOKEN', 'no');
    });
    expect(handed).toEqual([some[0], some[2]]);
    expect(failures(some)).toEqual(['no', 'taken', 'no']);
    expect(some[0]?.findings.failure?.step).toBe('authorize');
  });

  test('ends none a second time that it has ended itself', async () => {
    const some = ways(2);
    await together(some, 'authorize', async ([first]) => {
      end(first as Way, 'check', failure);
      throw new DeliveryError('BAD_TOKEN', 'no');
    });
    expect(failures(some)).toEqual(['taken', 'no']);
  });

  test('is not even begun where none is open', async () => {
    const some = ways(1);
    end(some[0] as Way, 'check', failure);
    let begun = false;
    await together(some, 'authorize', async () => {
      begun = true;
    });
    expect(begun).toBe(false);
  });
});
