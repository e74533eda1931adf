import { describe, expect, test } from '@jest/globals';
import { describeProgress, lineProgress } from '../src/progress.ts';
import { MEGABYTE } from '../src/protocol/limits.ts';
import { FakeClock } from './support/ports.ts';

const MB = MEGABYTE;

describe('describeProgress', () => {
  test.each([
    ['half of the bytes', { done: 5 * MB, total: 10 * MB, elapsed: 2_000 }, '50 %, 2.5 MB/s, 2 s left'],
    ['no bytes yet', { done: 0, total: 10 * MB, elapsed: 1_000 }, '0 %, 0.0 MB/s'],
    ['bytes before any time has passed', { done: 5, total: 10, elapsed: 0 }, '50 %, 0.0 MB/s'],
    ['too many bytes', { done: 12 * MB, total: 10 * MB, elapsed: 4_000 }, '100 %, 3.0 MB/s, 0 s left'],
    // Rounded down: 100 % means that nothing is missing.
    ['all but one byte', { done: MB - 1, total: MB, elapsed: 1_000 }, '99 %, 1.0 MB/s, 1 s left'],
  ])('describes %s', (_case, { done, total, elapsed }, description) => {
    expect(describeProgress(done, total, 'bytes', elapsed)).toBe(description);
  });

  test('describes a wait without a rate, by its longest remaining time', () => {
    expect(describeProgress(239_500, 240_000, 'milliseconds', 239_500)).toBe('99 %, at most 1 s left');
    expect(describeProgress(250_000, 240_000, 'milliseconds', 250_000)).toBe('100 %, at most 0 s left');
  });

  test('says of an unknown total what is done', () => {
    expect(describeProgress(3 * MB, 0, 'bytes', 1_000)).toBe('3.0 MB');
  });
});

describe('lineProgress', () => {
  /** Progress of 100 MB with a line every 3 s. */
  function startProgress() {
    const clock = new FakeClock();
    const lines: string[] = [];
    const startLine = lineProgress(3_000, clock, (line) => lines.push(line));
    return { clock, lines, startLine, progress: startLine('uploaded', 100 * MB, 'bytes') };
  }

  test('prints one line for each interval, however often it advances', () => {
    const { clock, lines, progress } = startProgress();
    for (let second = 0; second < 10; second += 1) {
      clock.time += 1_000;
      for (let step = 0; step < 4; step += 1) progress.advance(MB);
    }
    expect(lines).toEqual([
      'uploaded: 9 %, 3.0 MB/s, 31 s left',
      'uploaded: 21 %, 3.5 MB/s, 23 s left',
      'uploaded: 33 %, 3.7 MB/s, 19 s left',
    ]);
  });

  test('prints nothing where no more is done, and nothing for a mere wait', () => {
    const { clock, lines, progress, startLine } = startProgress();
    clock.time += 9_000;
    progress.advance(0);
    const wait = startLine('waited', 240_000, 'milliseconds');
    for (let poll = 0; poll < 40; poll += 1) {
      clock.time += 5_000;
      wait.advance(5_000);
    }
    expect(lines).toEqual([]);
  });
});
