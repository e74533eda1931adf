import { describe, expect, test } from '@jest/globals';
import { createWritePacer } from '../../../src/github/api/pacing.ts';
import { fakePorts, NOON } from '../../support/ports.ts';

/** Writes that note when they begin and end, each of which takes its time. */
function writing() {
  const ports = fakePorts();
  const pace = createWritePacer(ports);
  const told: string[] = [];
  const write = (name: string, takes = 0) =>
    pace(async () => {
      told.push(`${name} begins at ${ports.clock.now() - NOON}`);
      await Promise.resolve();
      ports.clock.time += takes;
      told.push(`${name} ends`);
      return name;
    });
  return { ports, pace, told, write };
}

describe('the pace of writes', () => {
  test('the first one does not wait', async () => {
    const { ports, write } = writing();
    await expect(write('a')).resolves.toBe('a');
    expect(ports.clock.slept).toEqual([]);
  });

  test('they come one after the other, and a second from beginning to beginning', async () => {
    const { told, write } = writing();
    await Promise.all([write('a', 300), write('b', 1_500), write('c')]);
    expect(told).toEqual([
      'a begins at 0',
      'a ends',
      'b begins at 1000',
      'b ends',
      'c begins at 2500',
      'c ends',
    ]);
  });

  test('one that fails does so for its caller alone', async () => {
    const { pace, write } = writing();
    const failing = pace(() => Promise.reject(new Error('refused')));
    const next = write('b');
    await expect(failing).rejects.toThrow('refused');
    await expect(next).resolves.toBe('b');
  });

  test('a clock that was set back holds up nothing', async () => {
    const { ports, write } = writing();
    await write('a');
    ports.clock.time -= 3_600_000;
    await write('b');
    expect(ports.clock.slept).toEqual([1_000]);
  });

  test('no further one begins once the delivery is stopped', async () => {
    const { ports, told, write } = writing();
    await write('a');
    const waiting = [write('b'), write('c')];
    ports.stop.abort(new Error('stopped'));
    for (const turn of waiting) await expect(turn).rejects.toThrow('stopped');
    ports.clock.time += 60_000;
    await expect(write('d')).rejects.toThrow('stopped');
    expect(told).toHaveLength(2);
  });
});
