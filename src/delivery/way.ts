import type { PreparedUpload } from '../channels/channel.ts';
import { type DeliveryError, toDeliveryError } from '../errors.ts';
import type { ChannelKey, Step } from '../protocol/words.ts';
import type { Operation } from '../request/values.ts';
import type { ChannelChoice } from './choose-channel.ts';
import type { FoundFile } from './find-files.ts';
import { type Findings, nothingYet } from './findings.ts';

/** One file's way through the story: what is known of it so far. */
export interface Way {
  /** `null` for a link alone, and for what is taken away. */
  readonly found: FoundFile | null;
  /** The name to give, once it is checked. */
  name: string;
  choice: ChannelChoice | null;
  /** What each of its channels has prepared. */
  readonly intents: Map<ChannelKey, PreparedUpload>;
  findings: Findings;
}

export function newWay(operation: Operation, subject: string, found: FoundFile | null): Way {
  return { found, name: '', choice: null, intents: new Map(), findings: nothingYet(operation, subject) };
}

/** Those on which nothing has failed. */
export function open(ways: readonly Way[]): Way[] {
  return ways.filter(({ findings }) => findings.failure === null);
}

/** A failure ends one way; the others go on. */
export function end(way: Way, step: Step, failure: DeliveryError): void {
  way.findings = { ...way.findings, failure: failure.withStep(step) };
}

/** What a channel has prepared for it; the main one's plan is the one that is reported. */
export function intend(way: Way, key: ChannelKey, intent: PreparedUpload): void {
  way.intents.set(key, intent);
  if (way.choice?.main === key) way.findings = { ...way.findings, plan: intent.plan };
}

/** Does the same on every way that is open, one after the other. */
export async function each(
  ways: readonly Way[],
  step: Step,
  work: (way: Way) => Promise<void>,
): Promise<void> {
  for (const way of open(ways)) {
    try {
      await work(way);
    } catch (thrown) {
      end(way, step, toDeliveryError(thrown));
    }
  }
}

/** Does what all the open ways share; a failure ends them all. */
export async function together(
  ways: readonly Way[],
  step: Step,
  work: (some: readonly Way[]) => Promise<void>,
): Promise<void> {
  const some = open(ways);
  if (some.length === 0) return;
  try {
    await work(some);
  } catch (thrown) {
    for (const way of open(some)) end(way, step, toDeliveryError(thrown));
  }
}
