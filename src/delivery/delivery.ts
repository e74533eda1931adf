import type { ScreenView } from '../browser/screen-view.ts';
import type {
  AuditedDelivery,
  ChannelItem,
  PlacedTask,
  Placement,
  PreparedTask,
} from '../channels/channel.ts';
import type { InlinedFile } from '../convert/resources.ts';
import { type DeliveryError, type ErrorCode, hasFailed, resultOf, toDeliveryError } from '../errors.ts';
import type { ProbeResult, Proof } from '../proof/probe-result.ts';
import type { ChannelKey, Step } from '../protocol/words.ts';
import type { Operation } from '../request/inputs.ts';
import type { LocalFile } from '../rules/inspect.ts';

/** The subject of a delivery that has no file. */
export const LINK_SUBJECT = 'the given link';

/** The subject if the request named nothing. */
export const NO_SUBJECT = '';

/** The main channel first, and why it was chosen. */
export interface ChannelChoice {
  readonly channels: readonly [ChannelKey, ...ChannelKey[]];
  readonly reason: string;
  /** Nobody can read the releases of a private repository anonymously. */
  readonly isPrivate?: boolean;
}

/** The result of a dry run or check that did not fail. */
export interface PlannedReport {
  readonly reason: string;
  /** What to do to carry it out; empty if nothing is left to do. */
  readonly next: string;
}

/** The result of `on-failure: restore`. */
export interface RestoreOutcome {
  /** The commit that restored the earlier version; `null` if none did. */
  readonly commitSha: string | null;
  /** Whether the URL was verified to show the earlier version. */
  readonly proven: boolean;
  readonly detail: string;
}

/** A page that a comparison with another folder names. */
export interface ChangedPage {
  /** Path in both folders. */
  readonly path: string;
  readonly title: string;
  /** In the delivered folder; `null` for a removed page. */
  readonly url: string | null;
  readonly kind: 'new' | 'changed' | 'removed';
  /** With `picture`: verified pictures of the other folder's page and of this page, of the first changed pages. */
  readonly pictures?: { readonly beforeUrl: string; readonly url: string };
}

/**
 * What is known so far of one delivery or withdrawal. Each step returns a new object.
 * `site` is `null` until it is checked, for a link, and for a withdrawal.
 */
export interface Delivery extends ChannelItem {
  readonly operation: Operation;
  /** The file as the user wrote it, the withdrawn path, or `LINK_SUBJECT`. */
  readonly subject: string;
  /** Whether the file is deleted when the delivery ends. */
  readonly isTemporary?: boolean | undefined;
  /** The files that became part of a self-contained page; absent for other pages. */
  readonly inlined?: readonly InlinedFile[];
  readonly choice: ChannelChoice | null;
  /** Folders only: what to set if the page was built for another path; `null` if it has no script. */
  readonly routerSetting: string | null;
  /** What a browser saw before publishing; `null` without a browser check. */
  readonly localView: ScreenView | null;
  /** The delivered picture, and the share of pixels that changed; `null` without a picture. */
  readonly picture: {
    readonly title: string;
    readonly changed: number | null;
    readonly sha256: string;
    readonly hasBefore: boolean;
  } | null;
  /** With `compare`: the pages that differ from the other folder's, with their files; absent if not known. */
  readonly changedPages?: readonly (ChangedPage & { readonly file: LocalFile | undefined })[];
  /** One attempt for each channel, the main channel first. */
  readonly attempts: readonly ChannelAttempt[];
  /** URLs that `unknown` already names as missing, as a browser's view names them. */
  readonly missingUrls: readonly string[];
  /** What the checks could not see or had to ignore. */
  readonly unknown: readonly string[];
  readonly notes: readonly string[];
  /** Audits only: what somebody has changed since, as text, and how many files. */
  readonly changed?: AuditedDelivery['changed'];
  /** `null` unless it is a dry run or a check. */
  readonly planned: PlannedReport | null;
  /** The failure before any channel was tried. */
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
    missingUrls: [],
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

/** Faults of the input belong to the step `check`, even if a later step finds them. */
const INPUT_CODES: readonly ErrorCode[] = ['BAD_INPUT', 'BAD_FILE', 'TOO_LARGE'];

export function withFailure(delivery: Delivery, step: Step, thrown: unknown): Delivery {
  const failure = toDeliveryError(thrown);
  return { ...delivery, failure: failure.withStep(INPUT_CODES.includes(failure.code) ? 'check' : step) };
}

/** Fails all ongoing deliveries. */
export const failAll = (deliveries: readonly Delivery[], step: Step, thrown: unknown): readonly Delivery[] =>
  deliveries.map((delivery) => (isOngoing(delivery) ? withFailure(delivery, step, thrown) : delivery));

/** Runs one step for each ongoing delivery in turn. A failure ends only its own delivery. */
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

/** The attempt in a channel, unless the delivery has failed. */
export const ongoingAttempt = (delivery: Delivery, key: ChannelKey): ChannelAttempt | undefined =>
  isOngoing(delivery) ? attemptIn(delivery, key) : undefined;

const isTried = ({ placement, failure }: ChannelAttempt): boolean => placement !== null || failure !== null;

/** The attempt in the main channel; `null` if it was not tried. */
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

/** The attempt in the channel that shows a page. */
export const shownAttempt = (delivery: Delivery): ChannelAttempt | undefined =>
  attemptIn(delivery, 'K1') ?? attemptIn(delivery, 'K4');

export const shownTask = (delivery: Delivery): PreparedTask | undefined => shownAttempt(delivery)?.task;

/** One delivery in one channel. Each step returns a new object. */
export interface ChannelAttempt {
  readonly task: PreparedTask;
  /** The text that the URL must show. */
  readonly marker: string | undefined;
  /** Whether the URL must serve nothing in the end. */
  readonly mustBeGone: boolean;
  readonly placement: Placement | null;
  readonly proof: Proof | null;
  /** The last answer of the URL; `null` if it was not requested. */
  readonly lastProbe: ProbeResult | null;
  /** How many files were identical at their last check. */
  readonly identicalFiles: number;
  /** What a browser saw at the URL, and the share of pixels, 0 to 1, that match the local page. */
  readonly screen: { readonly view: ScreenView; readonly agreement: number | null } | null;
  readonly unknown: readonly string[];
  readonly failure: DeliveryError | null;
  readonly restored?: RestoreOutcome;
  /** Milliseconds by step. */
  readonly took: Readonly<Partial<Record<Step, number>>>;
}

/** The URL to hand over once verified, with `?v=` while a cache still shows an earlier version. */
export const addressToHandOver = ({
  placement,
  proof,
}: Pick<ChannelAttempt, 'placement' | 'proof'>): URL | null =>
  proof?.versioned?.url ?? placement?.first.url ?? null;

export type PlacedAttempt = ChannelAttempt & PlacedTask;

export const isPlaced = (attempt: ChannelAttempt): attempt is PlacedAttempt => attempt.placement !== null;

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
