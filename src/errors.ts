import { getSystemErrorMap } from 'node:util';
import type { ErrorCode } from './protocol/error-codes.ts';
import type { Step } from './protocol/words.ts';
import { ACTION, type Face, say, type Text } from './words.ts';

export type { ErrorCode };

export interface ErrorDetails {
  readonly httpCode?: number | undefined;
  /** The step that failed; the pipeline adds it if the code that throws does not know it. */
  readonly step?: Step | undefined;
  /** What the user should change: the input, permission, setting or YAML line. */
  readonly hint?: Text | undefined;
  /** Whether the same request may succeed a moment later. */
  readonly retryable?: boolean | undefined;
  /** Milliseconds that the host asks to wait. */
  readonly retryAfter?: number | undefined;
  /** What the failing step left behind; empty where nothing was written, absent where that is not known. */
  readonly leftBehind?: readonly string[] | undefined;
  /** Which of several lines of the input `file` it is about. */
  readonly subject?: string | undefined;
  /** What was found, one line each: the message names them after its sentence. */
  readonly findings?: readonly Text[] | undefined;
  readonly cause?: unknown;
}

const withFindings = (about: Text, findings: readonly Text[], face: Face): string =>
  [say(about, face), findings.map((finding) => say(finding, face)).join('; ')]
    .filter((part) => part !== '')
    .join(': ');

/** The only error that the core throws: one plain sentence without a full stop, and what to change. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly code: ErrorCode;
  readonly httpCode: number | undefined;
  readonly step: Step | undefined;
  readonly advice: Text | undefined;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly leftBehind: readonly string[] | undefined;
  readonly findings: readonly Text[];
  readonly subject: string | undefined;
  /** The message without its findings, for any interface; `message` is in the words of the action. */
  readonly about: Text;

  constructor(code: ErrorCode, about: Text, details: ErrorDetails = {}) {
    const { cause, findings = [] } = details;
    super(withFindings(about, findings, ACTION), cause === undefined ? undefined : { cause });
    this.code = code;
    this.about = about;
    this.findings = findings;
    this.subject = details.subject;
    this.httpCode = details.httpCode;
    this.step = details.step;
    this.advice = details.hint;
    this.retryable = details.retryable ?? false;
    this.retryAfter = details.retryAfter;
    this.leftBehind = details.leftBehind;
  }

  /** Every bundle has a class of its own; the errors of the MCP server's reach the command line's. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'DeliveryError';
  }

  /** In the words of the action, as `message` is; whatever passes it on takes `advice`. */
  get hint(): string | undefined {
    return this.advice && say(this.advice, ACTION);
  }

  messageFor(face: Face): string {
    return withFindings(this.about, this.findings, face);
  }

  /** A copy of this error that is not retried. */
  asFinal(): DeliveryError {
    return this.retryable ? this.#with({ retryable: false }) : this;
  }

  /** A copy of this error with the step in which it happened; a step that is already set is kept. */
  withStep(step: Step): DeliveryError {
    return this.step === undefined ? this.#with({ step }) : this;
  }

  /** The same error with what was left behind: an empty list for nothing, `undefined` where that is not known. */
  withLeftBehind(leftBehind: readonly string[] | undefined): DeliveryError {
    return this.#with({ leftBehind });
  }

  #with(details: ErrorDetails): DeliveryError {
    const same = { ...this, hint: this.advice, cause: this.cause };
    return new DeliveryError(this.code, this.about, { ...same, ...details });
  }
}

/** The value of some work, or the error it failed with: one of many may fail without stopping the others. */
export type Result<T> = T | DeliveryError;

/** Runs the work and returns its error instead of throwing it. */
export async function resultOf<T>(work: () => Promise<T>): Promise<Result<T>> {
  try {
    return await work();
  } catch (thrown) {
    return toDeliveryError(thrown);
  }
}

export const hasFailed = <T>(result: Result<T>): result is DeliveryError => result instanceof DeliveryError;

/** The reason with which a delivery's own signal aborts. No other abort says that the delivery was stopped. */
export const stoppedError = (): DeliveryError =>
  new DeliveryError('ABORTED', 'the delivery was stopped before it was finished', {
    hint: 'run it again: what is as wanted already is only verified',
  });

/** The reason of a stop that came before a request has left this process: so it has left nothing behind. */
export const unsentError = (signal: AbortSignal): DeliveryError =>
  toDeliveryError(signal.reason).withLeftBehind([]);

export const toMessage = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

const TEMPORARY = '; temporary files go to `RUNNER_TEMP` or `TMPDIR`, which may name another folder';
const SPACE = `free space there${TEMPORARY}`;
const RIGHTS = `give this user the permission${TEMPORARY}`;
const FILES = 'allow more open files, as with `ulimit -n`';

const LOCAL_HINTS: Readonly<Record<string, string>> = {
  ENOSPC: SPACE,
  EDQUOT: SPACE,
  EFBIG: 'allow larger files, as with `ulimit -f`',
  EMFILE: FILES,
  ENFILE: FILES,
  ENOMEM: 'free memory',
  EAGAIN: 'allow more processes, as with `ulimit -u`',
  EACCES: RIGHTS,
  EPERM: RIGHTS,
  EROFS: RIGHTS,
};

type SystemError = NodeJS.ErrnoException & { readonly code: string; readonly syscall: string };

export const isSystemError = (thrown: unknown): thrown is SystemError =>
  thrown instanceof Error &&
  'code' in thrown &&
  'syscall' in thrown &&
  [thrown.code, thrown.syscall].every((field) => typeof field === 'string');

/** Whether the machine lacks something, whichever path or host was named. */
export const isShortage = (thrown: unknown): thrown is SystemError =>
  isSystemError(thrown) && ![undefined, RIGHTS].includes(LOCAL_HINTS[thrown.code]);

/** What the machine refused: the call, the path, and what to change. @param given the path as the user wrote it */
export function localError(cause: SystemError, given = cause.path ?? ''): DeliveryError {
  const { code, errno = 0, syscall } = cause;
  const [, reason = 'an error of the system'] = getSystemErrorMap().get(errno) ?? [];
  const call = syscall.endsWith(given) ? syscall : `use ${given}`;
  return new DeliveryError('LOCAL', `this machine can't ${call}: ${reason} (${code})`, {
    hint: LOCAL_HINTS[code] ?? `correct that on this machine${TEMPORARY}`,
    cause,
  });
}

/** Turns any thrown value into a DeliveryError: `CONNECTION` for a time limit, `LOCAL` of the system, else `INTERNAL`. */
export function toDeliveryError(thrown: unknown): DeliveryError {
  // Node wraps the reason of a signal in an error of its own.
  const reason = thrown instanceof Error && thrown.name === 'AbortError' ? (thrown.cause ?? thrown) : thrown;
  if (reason instanceof DeliveryError) return reason;
  if (reason instanceof Error && reason.name === 'TimeoutError') {
    return new DeliveryError('CONNECTION', 'no answer came in time', { hint: 'try again', cause: thrown });
  }
  if (isSystemError(reason)) return localError(reason);
  const message = toMessage(thrown);
  return new DeliveryError('INTERNAL', `unexpected error: ${message}`, {
    hint: 'report it as a bug in screen-delivery, together with the log',
    cause: thrown,
  });
}

const UNCLEAR_CODES: ReadonlySet<ErrorCode> = new Set(['HOST_ERROR', 'CONNECTION', 'ABORTED', 'INTERNAL']);

/** Whether the host may have done what was asked of it: not after HTTP 4xx, and not where nothing was sent. */
export const isUnclear = ({ code, httpCode = 0, leftBehind }: DeliveryError): boolean =>
  UNCLEAR_CODES.has(code) && Math.floor(httpCode / 100) !== 4 && leftBehind?.length !== 0;

/** Whether the host would do the same to any other request: it limits, fails, or can't be reached. */
export const isOfHost = ({ code, httpCode = 0 }: DeliveryError): boolean =>
  code === 'RATE_LIMITED' || code === 'NO_NETWORK' || httpCode === 429 || httpCode >= 500;

/** The failure of what was not done, because another one failed: nothing of it was sent. */
export function followingError(what: string, subject: string, failure: DeliveryError): DeliveryError {
  const { code, message, httpCode, advice: hint } = failure;
  const reason = `${what}, because ${subject} failed: ${message}`;
  return new DeliveryError(code, reason, { httpCode, hint, leftBehind: [] });
}
