import { MEGABYTE } from '../src/protocol/limits.ts';
import type { BenchChannel } from './clients.ts';
import { type FileContent, KILOBYTE } from './files.ts';

/** A delivery to measure, and how often it is repeated for the median. */
export interface BenchCase {
  readonly channel: BenchChannel;
  readonly size: FileSize;
  readonly content: FileContent;
  readonly repeats: number;
  /** The first upload's connection dies in its middle. */
  readonly cut?: boolean;
}

/** Bytes. */
export const SIZES = {
  '1 KB': KILOBYTE,
  '1 MB': MEGABYTE,
  '20 MB': 20 * MEGABYTE,
  '95 MB': 95 * MEGABYTE,
  '500 MB': 500 * MEGABYTE,
  '2 GB': 2_048 * MEGABYTE,
} as const;

type FileSize = keyof typeof SIZES;

const UP_TO_20_MB: readonly FileSize[] = ['1 KB', '1 MB', '20 MB'];
const ALL: readonly FileSize[] = [...UP_TO_20_MB, '95 MB', '500 MB', '2 GB'];

const REPEATS: Readonly<Record<FileSize, number>> = {
  '1 KB': 5,
  '1 MB': 5,
  '20 MB': 5,
  '95 MB': 5,
  '500 MB': 5,
  '2 GB': 1,
};

const createCase =
  (channel: BenchChannel) =>
  (size: FileSize): BenchCase => ({ channel, size, content: 'bytes', repeats: REPEATS[size] });

/** Every delivery that is measured; a repository takes no more than 95 MB. */
export const BENCH_CASES: readonly BenchCase[] = [
  ...[...UP_TO_20_MB, '95 MB' as const].map(createCase('k1')),
  ...ALL.map(createCase('k2')),
  ...ALL.map(createCase('k3')),
  { channel: 'k2', size: '500 MB', content: 'text', repeats: REPEATS['500 MB'] },
  { channel: 'k2', size: '500 MB', content: 'bytes', repeats: 1, cut: true },
];

/** The cases chosen on the command line. */
export interface CaseSelection {
  /** Empty: all. */
  readonly channels: readonly string[];
  readonly sizes: readonly string[];
  /** Only files up to 20 MB. */
  readonly quick: boolean;
  /** Only cases that another action supports as well. */
  readonly peer: boolean;
}

export function selectCases({ channels, sizes, quick, peer }: CaseSelection): BenchCase[] {
  return BENCH_CASES.filter(
    ({ channel, size, content, cut = false }) =>
      (channels.length === 0 || channels.includes(channel)) &&
      (sizes.length === 0 || sizes.includes(size)) &&
      (!quick || UP_TO_20_MB.includes(size)) &&
      !(peer && (cut || content === 'text')),
  );
}

export function formatCaseName({ channel, size, content, cut = false }: BenchCase): string {
  return `${channel.toUpperCase()} ${size}${content === 'text' ? ' of text' : ''}${cut ? ', cut off once' : ''}`;
}
