import type { Step } from './protocol/words.ts';

/**
 * Why a delivery is not ready. Decisions are made on the code, never on the message.
 */
export type ErrorCode =
  /** What was asked can't be done as asked: an input or the file itself must change. */
  | 'BAD_INPUT'
  | 'BAD_FILE'
  /** No usable credential, or one without the right. */
  | 'NO_TOKEN'
  | 'NOT_AUTHORIZED'
  | 'BAD_TOKEN'
  | 'NO_PERMISSION'
  /** Nothing could be reached at all. */
  | 'NO_NETWORK'
  /** A host answered with an error, or broke off. */
  | 'HOST_ERROR'
  | 'CONNECTION'
  /** What the call was about isn't there. */
  | 'NOT_FOUND'
  /** Somebody else changed the same thing meanwhile. */
  | 'CONFLICT'
  /** A rule of the repository forbids the write. */
  | 'FORBIDDEN_BY_RULE'
  /** The place is taken by something that is not ours. */
  | 'NOT_OURS'
  | 'TOO_LARGE'
  | 'RATE_LIMITED'
  /** The site's build failed, or did not end in time. */
  | 'BUILD_ERRORED'
  | 'BUILD_TIMEOUT'
  /** The address does not show the file. */
  | 'NOT_PROVEN'
  /** A link that is no delivery. */
  | 'NOT_EXTERNAL'
  | 'ABORTED'
  /** Nothing was to be done. */
  | 'DRY_RUN'
  /** Our own mistake. */
  | 'INTERNAL';

export interface ErrorDetails {
  /** HTTP code that the failing call answered with. */
  readonly httpCode?: number | undefined;
  /** The step it happened in; the story fills it in where the thrower does not know. */
  readonly step?: Step | undefined;
  /** What to change: the input, permission, setting or YAML line. */
  readonly hint?: string | undefined;
  /** Whether the same call may succeed a moment later. */
  readonly retryable?: boolean | undefined;
  /** Milliseconds that the host asked us to wait. */
  readonly retryAfter?: number | undefined;
  /** What the failing step left behind; empty where nothing was written, absent where that is not known. */
  readonly leftBehind?: readonly string[] | undefined;
  readonly cause?: unknown;
}

/**
 * The one error that leaves any part of the core.
 * The message is one sentence in plain words, without a full stop; `hint` says what to change.
 */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly code: ErrorCode;
  readonly httpCode: number | undefined;
  readonly step: Step | undefined;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly leftBehind: readonly string[] | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.httpCode = details.httpCode;
    this.step = details.step;
    this.hint = details.hint;
    this.retryable = details.retryable ?? false;
    this.retryAfter = details.retryAfter;
    this.leftBehind = details.leftBehind;
  }

  /** The same error, after which nothing is tried again. */
  asFinal(): DeliveryError {
    return this.retryable ? this.#with({ retryable: false }) : this;
  }

  /** The same error with the step in which it was caught; a step that it already names stays. */
  withStep(step: Step): DeliveryError {
    return this.step === undefined ? this.#with({ step }) : this;
  }

  /** The same error, naming what was left behind as well; nothing, for an empty list. */
  withLeftBehind(leftBehind: readonly string[]): DeliveryError {
    return this.#with({ leftBehind: [...(this.leftBehind ?? []), ...leftBehind] });
  }

  #with(details: ErrorDetails): DeliveryError {
    return new DeliveryError(this.code, this.message, { ...this, cause: this.cause, ...details });
  }
}

/** What some work brought, or what it failed at: one of many may fail without stopping the others. */
export type Result<T> = T | DeliveryError;

/** Does the work, and hands its failure over as a value. */
export async function resultOf<T>(work: () => Promise<T>): Promise<Result<T>> {
  try {
    return await work();
  } catch (thrown) {
    return toDeliveryError(thrown);
  }
}

export const hasFailed = <T>(one: Result<T>): one is DeliveryError => one instanceof DeliveryError;

export const hasSucceeded = <T>(one: Result<T>): one is Exclude<Result<T>, DeliveryError> =>
  !(one instanceof DeliveryError);

/** Any thrown value as a DeliveryError: aborts and our own mistakes are told apart. */
export function toDeliveryError(thrown: unknown): DeliveryError {
  if (thrown instanceof DeliveryError) return thrown;
  if (thrown instanceof Error && (thrown.name === 'AbortError' || thrown.name === 'TimeoutError')) {
    return new DeliveryError('ABORTED', 'the delivery was stopped before it was done', { cause: thrown });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new DeliveryError('INTERNAL', `an unexpected error: ${message}`, {
    hint: 'this is a defect of screen-delivery: please report it with the log',
    cause: thrown,
  });
}
