import type { ScreenView } from '../browser/screen-view.ts';
import type { Placement, PreparedTask } from '../channels/channel.ts';
import type { DeliveryError } from '../errors.ts';
import type { Step } from '../protocol/words.ts';
import type { ExpectedContent, ProbeResult } from './url-probe.ts';
import type { Proof } from './verify.ts';

/** What a browser saw of a published page. */
export interface ScreenResult {
  readonly view: ScreenView;
  /** The share of pixels, from 0 to 1, that it has in common with the page before publishing; `null` if not known. */
  readonly agreement: number | null;
}

/** One file's way through one channel. Each step returns a new one. */
export interface ChannelAttempt {
  readonly task: PreparedTask;
  /** How the log calls the file, where there are several. */
  readonly title: string;
  /** What the address must show in the end. */
  readonly expected: ExpectedContent;
  readonly placement: Placement | null;
  readonly proof: Proof | null;
  /** What the address answered last; `null` where it was not asked. */
  readonly lastProbe: ProbeResult | null;
  /** The raw address, where it was proven too. */
  readonly rawUrl: URL | null;
  /** What a browser saw at the proven address; `null` where none was to look. */
  readonly screen: ScreenResult | null;
  readonly unknown: readonly string[];
  readonly failure: DeliveryError | null;
  /** Milliseconds that each step took. */
  readonly took: Readonly<Partial<Record<Step, number>>>;
}

/** What is known before the channel is asked. */
export type ChannelJob = Pick<ChannelAttempt, 'task' | 'title' | 'expected'>;

export function newAttempt(job: ChannelJob): ChannelAttempt {
  return {
    ...job,
    placement: null,
    proof: null,
    lastProbe: null,
    rawUrl: null,
    screen: null,
    unknown: [],
    failure: null,
    took: {},
  };
}
