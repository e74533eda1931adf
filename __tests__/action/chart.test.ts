import { describe, expect, test } from '@jest/globals';
import { timingsOf } from '../../src/action/chart.ts';
import type { Report } from '../../src/delivery/report.ts';
import { attemptWith } from '../delivery/builders.ts';
import { reportWith } from './reports.ts';

const timed = (took: Report['took'], subject = 'page.html'): Report =>
  reportWith({ subject, main: attemptWith({ took }) });
const bars = (chart: string): string[] => chart.split('\n').filter((line) => line.includes(' · '));

describe('the chart of one delivery', () => {
  test('shows its steps one after the other, in seconds', () => {
    expect(timingsOf([timed({ place: 1_200, wait: 34_560, verify: 0 })])).toBe(
      [
        '```mermaid',
        'gantt',
        'accTitle: Seconds',
        'dateFormat x',
        'axisFormat %s s',
        'tickInterval 5second',
        'todayMarker off',
        '1.2 s · place :0, 1200',
        '34.6 s · wait :1200, 35760',
        '0.0 s · verify :35760, 35760',
        '```',
      ].join('\n'),
    );
  });

  test.each([
    [900, 1],
    [10_000, 1],
    [10_001, 2],
    [240_000, 30],
    [36_000_000, 3_600],
    [72_000_000, 7_200],
  ])('of %d ms has a mark every %d s', (wait, seconds) => {
    expect(timingsOf([timed({ wait })])).toContain(`\ntickInterval ${seconds}second\n`);
  });

  test.each([{}, { place: 0 }])('is left out where nothing took time: %j', (took) => {
    expect(timingsOf([timed(took)])).toBe('');
  });
});

describe('the chart of several deliveries', () => {
  test('shows what they shared, then how long each took for itself, the slowest first', () => {
    const chart = timingsOf([
      timed({ place: 1_000, wait: 2_000, verify: 500 }, 'a.html'),
      timed({ place: 1_000, wait: 2_000, verify: 4_000 }, 'b.html'),
    ]);
    expect(bars(chart)).toEqual([
      '1.0 s · K1 place together :0, 1000',
      '2.0 s · K1 wait together :1000, 3000',
      '4.0 s · b.html :3000, 7000',
      '0.5 s · a.html :3000, 3500',
    ]);
  });

  test('shows one channel behind the other', () => {
    const release = { ...timed({ place: 2_000 }, 'c.zip'), channel: 'K2' as const };
    expect(bars(timingsOf([timed({ place: 1_000, verify: 3_000 }, 'a.html'), release]))).toEqual([
      '1.0 s · K1 place together :0, 1000',
      '2.0 s · K2 place together :4000, 6000',
      '3.0 s · a.html :1000, 4000',
    ]);
  });

  test('shows the slowest twenty, and none that took no time', () => {
    const many = Array.from({ length: 30 }, (_, at) => timed({ verify: at * 100 }, `${at}.html`));
    expect(bars(timingsOf(many))).toHaveLength(20);
    expect(bars(timingsOf([timed({}), timed({ verify: 5 })]))).toHaveLength(1);
    expect(timingsOf([timed({}), timed({})])).toBe('');
  });

  test.each([
    'section a',
    'click b call c()',
    'a:b, crit',
    '```\n# out',
    '%%{init: {}}%%',
    'a;b#35;',
    '<script>',
    '"quoted"',
  ])('is not broken by a file called %j', (name) => {
    const chart = timingsOf([timed({ verify: 1 }, name), timed({ verify: 1 }, name)]);
    expect(bars(chart)).toHaveLength(2);
    for (const bar of bars(chart)) expect(bar).toMatch(/^0\.0 s · [\w ./-]* :0, 1$/);
    expect(chart.split('\n')).toHaveLength(10);
  });

  test('keeps letters of any language, and the end of a long name', () => {
    const chart = timingsOf([
      timed({ verify: 1 }, 'слайды.html'),
      timed({ verify: 1 }, `${'x'.repeat(99)}.html`),
    ]);
    expect(chart).toContain('· слайды.html :');
    expect(chart).toContain(`· …${'x'.repeat(35)}.html :`);
  });
});

test('there is no chart of nothing', () => {
  expect(timingsOf([])).toBe('');
});
