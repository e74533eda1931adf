import { describe, expect, test } from '@jest/globals';
import { describeProgress, lineProgress, silentProgress } from '../src/progress.ts';
import { MEGABYTE } from '../src/protocol/limits.ts';
import { FakeClock } from './support/ports.ts';

const MB = MEGABYTE;

describe('progress in words', () => {
  test.each([
    ['half of the bytes', { done: 5 * MB, total: 10 * MB, elapsed: 2_000 }, '50 %, 2.5 MB/s, 2 s left'],
    ['the first bytes', { done: 1, total: 10 * MB, elapsed: 1_000 }, '0 %, 0.0 MB/s, 10485759 s left'],
    ['nothing yet', { done: 0, total: 10 * MB, elapsed: 1_000 }, '0 %, 0.0 MB/s'],
    ['bytes in no time at all', { done: 5, total: 10, elapsed: 0 }, '50 %, 0.0 MB/s'],
    ['the end', { done: 10 * MB, total: 10 * MB, elapsed: 4_000 }, '100 %, 2.5 MB/s, 0 s left'],
    [
      'more than was announced',
      { done: 12 * MB, total: 10 * MB, elapsed: 4_000 },
      '100 %, 3.0 MB/s, 0 s left',
    ],
    // 100 % is said of nothing that is not all there.
    ['all but one byte', { done: MB - 1, total: MB, elapsed: 1_000 }, '99 %, 1.0 MB/s, 1 s left'],
  ])('%s', (_what, { done, total, elapsed }, words) => {
    expect(describeProgress(done, total, 'bytes', elapsed)).toBe(words);
  });

  test('a wait has no rate, only an end', () => {
    expect(describeProgress(60_000, 240_000, 'milliseconds', 60_000)).toBe('25 %, 180 s left at the most');
    expect(describeProgress(239_500, 240_000, 'milliseconds', 239_500)).toBe('99 %, 1 s left at the most');
    expect(describeProgress(250_000, 240_000, 'milliseconds', 250_000)).toBe('100 %, 0 s left at the most');
  });

  test('bytes whose number nobody announced are never said to be all there', () => {
    expect(describeProgress(3 * MB, 0, 'bytes', 1_000)).not.toMatch(/100 %|0 s left/);
  });
});

describe('a meter in lines', () => {
  /** A meter of 100 MB that prints every 3 s. */
  function metered() {
    const clock = new FakeClock();
    const lines: string[] = [];
    const meter = lineProgress('uploaded', 100 * MB, 'bytes', 3_000, clock, (line) => lines.push(line));
    return { clock, lines, meter };
  }

  test('prints a line every so often, however often it is told', () => {
    const { clock, lines, meter } = metered();
    for (let second = 0; second < 10; second += 1) {
      clock.time += 1_000;
      for (let step = 0; step < 4; step += 1) meter.advance(MB);
    }
    expect(lines).toEqual([
      'uploaded: 9 %, 3.0 MB/s, 31 s left',
      'uploaded: 21 %, 3.5 MB/s, 23 s left',
      'uploaded: 33 %, 3.7 MB/s, 19 s left',
    ]);
  });

  test('says nothing of what ends before the first line is due', () => {
    const { clock, lines, meter } = metered();
    clock.time += 2_999;
    meter.advance(100 * MB);
    meter.end();
    expect(lines).toEqual([]);
  });

  test('counts the pause from the last line, not from when one was due', () => {
    const { clock, lines, meter } = metered();
    for (const pause of [5_000, 2_000, 1_000]) {
      clock.time += pause;
      meter.advance(MB);
    }
    expect(lines.map((line) => line.split(',')[0])).toEqual(['uploaded: 1 %', 'uploaded: 3 %']);
  });
});

test('the silent meter can be told anything', () => {
  expect(() => {
    silentProgress.advance(1);
    silentProgress.end();
  }).not.toThrow();
});
