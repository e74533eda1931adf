import type { UploadPlan } from '../channels/channel.ts';
import type { DeliveryError } from '../errors.ts';
import type { Operation } from '../request/values.ts';
import type { LocalFile } from '../rules/inspect.ts';
import type { Outcome } from './carry.ts';

/** The subject of a delivery that has no file. */
export const LINK_SUBJECT = 'the given link';

/** Everything a delivery has come to know by its end. */
export interface Findings {
  readonly operation: Operation;
  /** As the user wrote the file, or the link that stands for it. */
  readonly subject: string;
  readonly file: LocalFile | null;
  /** Why the channel was chosen. */
  readonly because: string;
  /** What would be done, where nothing was to be. */
  readonly plan: UploadPlan | null;
  readonly main: Outcome | null;
  readonly duplicates: readonly Outcome[];
  /** What the file's check could not see, or was told to let pass. */
  readonly unknown: readonly string[];
  /** What failed before a channel was reached. */
  readonly failure: DeliveryError | null;
}

/** What is known before anything is done. */
export function nothingYet(operation: Operation, subject: string): Findings {
  const empty = {
    file: null,
    because: '',
    plan: null,
    main: null,
    duplicates: [],
    unknown: [],
    failure: null,
  };
  return { operation, subject, ...empty };
}
