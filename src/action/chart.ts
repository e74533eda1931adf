import { LINK_SUBJECT } from '../delivery/file-delivery.ts';
import type { Report } from '../delivery/report.ts';
import { SECOND } from '../protocol/limits.ts';
import type { Step } from '../protocol/words.ts';

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
 * The timings as a Mermaid chart, which GitHub draws: the steps of one delivery one after the other; of
 * several, what they shared, channel by channel, and how long each took for itself, the slowest first. Empty
 * where nothing took time.
 *
 * @see https://mermaid.js.org/syntax/gantt.html
 */
export function timingsOf(reports: readonly Report[]): string {
  const [first, ...others] = reports;
  if (first === undefined) return '';
  return others.length === 0 ? drawn(stepsOf(first)) : drawn(batchOf(reports));
}

function stepsOf({ took }: Report): Bar[] {
  let from = 0;
  return Object.entries(took).map(([label, length]) => {
    const bar = { label, from, length };
    from += length;
    return bar;
  });
}

function batchOf(reports: readonly Report[]): Bar[] {
  const shared: Bar[] = [];
  const own: Bar[] = [];
  let from = 0;
  for (const channel of new Set(reports.map((report) => report.channel))) {
    const some = reports.filter((report) => report.channel === channel);
    for (const step of SHARED) {
      const length = Math.max(0, ...some.map(({ took }) => took[step] ?? 0));
      if (length > 0) shared.push({ label: `${channel ?? 'all'} ${step} together`, from, length });
      from += length;
    }
    const begun = from;
    for (const { file, took } of some) {
      const length = Object.entries(took).reduce((sum, [step, ms]) => sum + (isShared(step) ? 0 : ms), 0);
      if (length > 0) own.push({ label: harmless(file?.path ?? LINK_SUBJECT), from: begun, length });
      from = Math.max(from, begun + length);
    }
  }
  return [...shared, ...own.sort((one, other) => other.length - one.length).slice(0, BARS)];
}

/** What the files of a batch do together. */
const SHARED = ['place', 'wait'] as const satisfies readonly Step[];

const isShared = (step: string): boolean => SHARED.some((shared) => shared === step);

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
