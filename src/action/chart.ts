import { type Report, THE_LINK } from '../delivery/report.ts';
import { SECOND } from '../protocol/limits.ts';

/** Bars of a chart, at most. */
const BARS = 20;
/** Signs of a label, at most. */
const LABEL = 40;
/** Marks on the axis, at most, and the steps between them, in seconds. */
const TICKS = 10;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

interface Bar {
  readonly label: string;
  /** Milliseconds. */
  readonly from: number;
  readonly length: number;
}

/**
 * The timings as a Mermaid chart, which GitHub draws: the steps of one delivery one after the other, or how
 * long each of several took, the slowest first. Empty where nothing took time.
 *
 * @see https://mermaid.js.org/syntax/gantt.html
 */
export function timingsOf(reports: readonly Report[]): string {
  const [first, ...others] = reports;
  if (first === undefined) return '';
  return others.length === 0 ? drawn(stepsOf(first)) : drawn(slowestOf(reports));
}

function stepsOf({ took }: Report): Bar[] {
  let from = 0;
  return Object.entries(took).map(([label, length]) => {
    const bar = { label, from, length };
    from += length;
    return bar;
  });
}

function slowestOf(reports: readonly Report[]): Bar[] {
  return reports
    .map(({ file, took }) => ({
      label: harmless(file?.path ?? THE_LINK),
      from: 0,
      length: Object.values(took).reduce((sum, ms) => sum + ms, 0),
    }))
    .filter(({ length }) => length > 0)
    .sort((one, other) => other.length - one.length)
    .slice(0, BARS);
}

/** A name's end, in signs that mean nothing to Mermaid. */
function harmless(name: string): string {
  const signs = [...name.replace(/[^\p{L}\p{M}\p{N}./_-]+/gu, ' ').trim()];
  return signs.length > LABEL ? `…${signs.slice(-LABEL).join('')}` : signs.join('');
}

function drawn(bars: readonly Bar[]): string {
  const end = Math.max(0, ...bars.map(({ from, length }) => from + length));
  if (end === 0) return '';
  const step = STEPS.find((seconds) => end / (seconds * SECOND) <= TICKS) ?? Math.ceil(end / SECOND / TICKS);
  return [
    '```mermaid',
    'gantt',
    'accTitle: Seconds',
    'dateFormat x',
    // Seconds since the epoch: the reader's time zone plays no part.
    'axisFormat %s s',
    `tickInterval ${step}second`,
    'todayMarker off',
    // A number first: no label can begin with a keyword of the chart.
    ...bars.map(({ label, from, length }) => {
      return `${(length / SECOND).toFixed(1)} s · ${label} :${Math.round(from)}, ${Math.round(from + length)}`;
    }),
    '```',
  ].join('\n');
}
