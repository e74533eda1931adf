import type { ScreenView } from '../browser/screen-view.ts';
import type {
  AuditedDelivery,
  ChannelItem,
  PlacedTask,
  Placement,
  PreparedTask,
} from '../channels/channel.ts';
import { type DeliveryError, type ErrorCode, hasFailed, resultOf, toDeliveryError } from '../errors.ts';
import type { ProbeResult, Proof } from '../proof/probe-result.ts';
import type { ChannelKey, Step } from '../protocol/words.ts';
import type { Operation } from '../request/values.ts';

/** The subject of a delivery that has no file. */
export const LINK_SUBJECT = 'the given link';

/** That of one that was refused because nothing was given. */
export const NO_SUBJECT = '';

/** The channels of a delivery, the main one first, and why that was chosen. */
export interface ChannelChoice {
  readonly channels: readonly [ChannelKey, ...ChannelKey[]];
  readonly reason: string;
  /** Whether the repository is known to be private: nobody may read its releases. */
  readonly isPrivate?: boolean;
}

/** What a dry run or a check says of what did not fail. */
export interface PlannedReport {
  readonly reason: string;
  /** What does it. */
  readonly next: string;
}

/** What is there after a delivery that is not proven, where something was to be put back. */
export interface RestoreOutcome {
  /** The commit that put it back; `null` where nothing was. */
  readonly commitSha: string | null;
  /** Whether the address is proven to show it again. */
  readonly proven: boolean;
  readonly detail: string;
}

/**
 * The delivery of a file or a folder, or its withdrawal: what is known of it so far. Each step returns a new one.
 * Its site is `null` until it is open and checked, for a link alone, and for what is withdrawn.
 */
export interface Delivery extends ChannelItem {
  readonly operation: Operation;
  /** The file as the user wrote it, or what is withdrawn, or `LINK_SUBJECT`. */
  readonly subject: string;
  /** Whether its file is removed when the delivery ends. */
  readonly isTemporary?: boolean | undefined;
  readonly choice: ChannelChoice | null;
  /** Of a folder: what to set if its page was built for another place; `null` where it has no script. */
  readonly routerSetting: string | null;
  /** What a browser saw of the page before it was published; `null` where none looked. */
  readonly localView: ScreenView | null;
  /** The picture that is delivered with the page: its title, and the share of pixels that changed; `null` without one. */
  readonly picture: { readonly title: string; readonly changed: number | null } | null;
  /** Its way through each channel, from the plan on; the main one first. */
  readonly attempts: readonly ChannelAttempt[];
  /** What the checks could not see, or were told to ignore. */
  readonly unknown: readonly string[];
  /** What a person should know of the folder, such as links to missing pages. */
  readonly notes: readonly string[];
  /** Of an audit: what somebody has changed of it since, in words, and how many files. */
  readonly changed?: AuditedDelivery['changed'];
  /** `null` where it is carried out. */
  readonly planned: PlannedReport | null;
  /** What failed before a channel was tried. */
  readonly failure: DeliveryError | null;
}

export function newDelivery(operation: Operation, subject: string): Delivery {
  return {
    operation,
    subject,
    site: null,
    name: '',
    choice: null,
    routerSetting: null,
    localView: null,
    picture: null,
    attempts: [],
    unknown: [],
    notes: [],
    planned: null,
    failure: null,
  };
}

export const isOngoing = ({ failure }: Delivery): boolean => failure === null;

/** What is wrong with what was given: it belongs to the step `check`, whichever step finds it. */
const INPUT_CODES: readonly ErrorCode[] = ['BAD_INPUT', 'BAD_FILE', 'TOO_LARGE'];

export function withFailure(delivery: Delivery, step: Step, thrown: unknown): Delivery {
  const failure = toDeliveryError(thrown);
  return { ...delivery, failure: failure.withStep(INPUT_CODES.includes(failure.code) ? 'check' : step) };
}

/** A failure that concerns all deliveries ends those that are still open. */
export const failAll = (deliveries: readonly Delivery[], step: Step, thrown: unknown): readonly Delivery[] =>
  deliveries.map((delivery) => (isOngoing(delivery) ? withFailure(delivery, step, thrown) : delivery));

/** Does one step for each open delivery, one after the other. A failure ends only its own delivery. */
export async function runStep(
  step: Step,
  deliveries: readonly Delivery[],
  work: (delivery: Delivery, nth: number) => Promise<Delivery>,
): Promise<readonly Delivery[]> {
  const done: Delivery[] = [];
  for (const [nth, delivery] of deliveries.entries()) {
    const next = isOngoing(delivery) ? await resultOf(() => work(delivery, nth)) : delivery;
    done.push(hasFailed(next) ? withFailure(delivery, step, next) : next);
  }
  return done;
}

export const attemptIn = ({ attempts }: Delivery, key: ChannelKey): ChannelAttempt | undefined =>
  attempts.find(({ task }) => task.plan.channel === key);

/** The way through a channel that is still open; absent where the delivery has failed. */
export const ongoingAttempt = (delivery: Delivery, key: ChannelKey): ChannelAttempt | undefined =>
  isOngoing(delivery) ? attemptIn(delivery, key) : undefined;

const isTried = ({ placement, failure }: ChannelAttempt): boolean => placement !== null || failure !== null;

/** How it went in the main channel; `null` where that was not tried. */
export const mainAttempt = ({ attempts: [first] }: Delivery): ChannelAttempt | null =>
  first !== undefined && isTried(first) ? first : null;

export const listDuplicates = ({ attempts }: Delivery): readonly ChannelAttempt[] =>
  attempts.slice(1).filter(isTried);

export const withAttempt = (delivery: Delivery, attempt: ChannelAttempt): Delivery => ({
  ...delivery,
  attempts: delivery.attempts.map((previous) =>
    previous.task.plan.channel === attempt.task.plan.channel ? attempt : previous,
  ),
});

export const replaceAttempts = (
  deliveries: readonly Delivery[],
  changed: ReadonlyMap<ChannelAttempt, ChannelAttempt>,
): readonly Delivery[] =>
  deliveries.map((delivery) => ({
    ...delivery,
    attempts: delivery.attempts.map((old) => changed.get(old) ?? old),
  }));

/** The way through the channel that shows the delivery as a page. */
export const shownAttempt = (delivery: Delivery): ChannelAttempt | undefined =>
  attemptIn(delivery, 'K1') ?? attemptIn(delivery, 'K4');

export const shownTask = (delivery: Delivery): PreparedTask | undefined => shownAttempt(delivery)?.task;

/** One file's way through one channel, from its plan on. Each step returns a new one. */
export interface ChannelAttempt {
  readonly task: PreparedTask;
  /** What the address must show, if a text was given. */
  readonly marker: string | undefined;
  /** Whether there must be nothing at the address in the end. */
  readonly mustBeGone: boolean;
  readonly placement: Placement | null;
  readonly proof: Proof | null;
  /** What the address answered last; `null` where it was not asked. */
  readonly lastProbe: ProbeResult | null;
  /** How many of its files were there byte for byte when they were asked last; pictures of the page do not count. */
  readonly identicalFiles: number;
  /** What a browser saw at the address, and the share of pixels, 0 to 1, as before publishing; `null` for no look. */
  readonly screen: { readonly view: ScreenView; readonly agreement: number | null } | null;
  readonly unknown: readonly string[];
  readonly failure: DeliveryError | null;
  /** What is there now, where what was there before was to be put back. */
  readonly restored?: RestoreOutcome;
  /** Milliseconds that each step took. */
  readonly took: Readonly<Partial<Record<Step, number>>>;
}

/** The address to hand over, once it is proven: with `?v=` while a cache shows an earlier version without. */
export const addressToHandOver = ({
  placement,
  proof,
}: Pick<ChannelAttempt, 'placement' | 'proof'>): URL | null =>
  proof?.versioned?.url ?? placement?.first.url ?? null;

export type PlacedAttempt = ChannelAttempt & PlacedTask;

export const isPlaced = (attempt: ChannelAttempt): attempt is PlacedAttempt => attempt.placement !== null;

/** With what is known before anything is placed. */
export function newAttempt(task: PreparedTask, marker?: string): ChannelAttempt {
  return {
    task,
    marker,
    mustBeGone: false,
    placement: null,
    proof: null,
    lastProbe: null,
    identicalFiles: 0,
    screen: null,
    unknown: [],
    failure: null,
    took: {},
  };
}
