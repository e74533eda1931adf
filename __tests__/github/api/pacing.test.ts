import { describe, expect, test } from '@jest/globals';
import { createWritePacer } from '../../../src/github/api/client.ts';
import { HOUR, WRITES_PER_HOUR } from '../../../src/protocol/limits.ts';
import { fakePorts, NOON } from '../../support/ports.ts';

/** Writes of a given duration that log when they start and end. */
function createWrites() {
  const ports = fakePorts();
  const pace = createWritePacer(ports);
  const log: string[] = [];
  const write = (name: string, takes = 0) =>
    pace(async () => {
      log.push(`${name} starts at ${ports.clock.now() - NOON}`);
      await Promise.resolve();
      ports.clock.time += takes;
      log.push(`${name} ends`);
      return name;
    });
  return { ports, pace, log, write };
}

describe('createWritePacer', () => {
  test('runs writes one after the other, at least a second from start to start', async () => {
    const { log, write } = createWrites();
    await Promise.all([write('a', 300), write('b', 1_500), write('c')]);
    expect(log).toEqual([
      'a starts at 0',
      'a ends',
      'b starts at 1000',
      'b ends',
      'c starts at 2500',
      'c ends',
    ]);
  });

  test('runs the next write after one that fails', async () => {
    const { pace, write } = createWrites();
    const failing = pace(() => Promise.reject(new Error('refused')));
    const next = write('b');
    await expect(failing).rejects.toThrow('refused');
    await expect(next).resolves.toBe('b');
  });

  test('starts no more writes in an hour than GitHub allows, and logs how long it waits', async () => {
    const { ports, log, write } = createWrites();
    for (let nth = 0; nth <= WRITES_PER_HOUR; nth += 1) await write(String(nth));
    expect(log.at(-2)).toBe(`${WRITES_PER_HOUR} starts at ${HOUR}`);
    expect(ports.logger.lines).toEqual([
      `Waiting 53 min: GitHub allows about ${WRITES_PER_HOUR} writes an hour`,
    ]);
  });

  test('starts no further write once the delivery is stopped', async () => {
    const { ports, log, write } = createWrites();
    await write('a');
    const waiting = [write('b'), write('c')];
    ports.stop.abort(new Error('stopped'));
    for (const turn of waiting) await expect(turn).rejects.toMatchObject({ leftBehind: [] });
    ports.clock.time += 60_000;
    await expect(write('d')).rejects.toThrow('stopped');
    expect(log).toHaveLength(2);
  });
});
