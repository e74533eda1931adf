import { getSystemErrorMap } from 'node:util';
import type { ErrorCode } from './protocol/error-codes.ts';
import type { Step } from './protocol/words.ts';
import { ACTION, advise, type Face, say, type Text } from './words.ts';

export type { ErrorCode };

export interface ErrorDetails {
  readonly httpCode?: number | undefined;
  /** The failed step; the pipeline adds it if the thrower doesn't know it. */
  readonly step?: Step | undefined;
  /** What to change: the input, permission, setting or YAML line. */
  readonly hint?: Text | undefined;
  /** Whether the same request may succeed soon. */
  readonly retryable?: boolean | undefined;
  /** Milliseconds that the host asks to wait. */
  readonly retryAfter?: number | undefined;
  /** What the failed step left behind; empty for nothing, absent if unknown. */
  readonly leftBehind?: readonly string[] | undefined;
  /** Which line of the input `file` failed. */
  readonly subject?: string | undefined;
  /** The line of the file at hand that has the fault. */
  readonly line?: number | undefined;
  /** Findings, a line each; the message ends with them. */
  readonly findings?: readonly Text[] | undefined;
  readonly cause?: unknown;
}

const withFindings = (about: Text, findings: readonly Text[], face: Face): string =>
  [say(about, face), findings.map((finding) => say(finding, face)).join('; ')]
    .filter((part) => part !== '')
    .join(': ');

/** The only error of the core: one sentence without a full stop, and what to change. */
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
  readonly line: number | undefined;
  /** The message without findings, for any interface; `message` is worded for the action. */
  readonly about: Text;

  constructor(code: ErrorCode, about: Text, details: ErrorDetails = {}) {
    const { cause, findings = [] } = details;
    super(withFindings(about, findings, ACTION), cause === undefined ? undefined : { cause });
    this.code = code;
    this.about = about;
    this.findings = findings;
    this.subject = details.subject;
    this.line = details.line;
    this.httpCode = details.httpCode;
    this.step = details.step;
    this.advice = details.hint;
    this.retryable = details.retryable ?? false;
    this.retryAfter = details.retryAfter;
    this.leftBehind = details.leftBehind;
  }

  /** Each bundle has its own class, and errors of the MCP server reach the command line. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'DeliveryError';
  }

  /** Worded for the action, like `message`; pass on `advice` instead. */
  get hint(): string | undefined {
    return this.advice && advise(this.advice, ACTION);
  }

  messageFor(face: Face): string {
    return withFindings(this.about, this.findings, face);
  }

  /** A copy that is not retried. */
  asFinal(): DeliveryError {
    return this.retryable ? this.#with({ retryable: false }) : this;
  }

  /** A copy with the failed step, unless the step is set already. */
  withStep(step: Step): DeliveryError {
    return this.step === undefined ? this.#with({ step }) : this;
  }

  /** A copy with what was left behind: empty for nothing, `undefined` if unknown. */
  withLeftBehind(leftBehind: readonly string[] | undefined): DeliveryError {
    return this.#with({ leftBehind });
  }

  /** A copy for a fault in a line of the file at hand. */
  withLine(line: number): DeliveryError {
    return this.#with({ line });
  }

  /** A copy whose message names the file at hand, and its line if that is known. */
  inFile(file: string): DeliveryError {
    const { line, about } = this;
    const place = line === undefined ? file : `${file} line ${line}`;
    return this.#with({}, (w) => [place, w.say(about)].filter((part) => part !== '').join(': '));
  }

  #with(details: ErrorDetails, about = this.about): DeliveryError {
    const same = { ...this, hint: this.advice, cause: this.cause };
    return new DeliveryError(this.code, about, { ...same, ...details });
  }
}

/** A fault of the file at hand. `inFile` adds its name. */
export const faultError = (problem: string, hint: string, line?: number): DeliveryError =>
  new DeliveryError('BAD_FILE', problem, { hint, line });

/** The value of some work, or its error, so that one failure doesn't stop other work. */
export type Result<T> = T | DeliveryError;

/** Returns the work's error instead of throwing it. */
export async function resultOf<T>(work: () => Promise<T>): Promise<Result<T>> {
  try {
    return await work();
  } catch (thrown) {
    return toDeliveryError(thrown);
  }
}

export const hasFailed = <T>(result: Result<T>): result is DeliveryError => result instanceof DeliveryError;

/** The abort reason of a delivery's own signal. */
export const stoppedError = (hint = 'run it again: files that are already correct are only verified') =>
  new DeliveryError('ABORTED', 'the delivery was stopped before it was finished', { hint });

/** A stop before a request was sent, so nothing is left behind. */
export const unsentError = (signal: AbortSignal): DeliveryError =>
  toDeliveryError(signal.reason).withLeftBehind([]);

export const toMessage = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

const TEMPORARY = ', or set `RUNNER_TEMP` or `TMPDIR` to another folder';
const SPACE = `free disk space${TEMPORARY}`;
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

/** Whether the machine lacks a resource, whatever the path or host. */
export const isShortage = (thrown: unknown): thrown is SystemError =>
  isSystemError(thrown) && ![undefined, RIGHTS].includes(LOCAL_HINTS[thrown.code]);

/** A failed system call. @param given the path as the user wrote it */
export function localError(cause: SystemError, given = cause.path ?? ''): DeliveryError {
  const { code, errno = 0, syscall } = cause;
  const [, reason = 'a system error'] = getSystemErrorMap().get(errno) ?? [];
  const call = syscall.endsWith(given) ? syscall : `use ${given}`;
  return new DeliveryError('LOCAL', `this machine can't ${call}: ${reason} (${code})`, {
    hint: LOCAL_HINTS[code] ?? `fix this on the machine${TEMPORARY}`,
    cause,
  });
}

/** Turns a timeout into `CONNECTION`, a system error into `LOCAL`, and any other value into `INTERNAL`. */
export function toDeliveryError(thrown: unknown): DeliveryError {
  // Node wraps the signal's reason in its own error.
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

/** Whether the host may have carried out the request: not after HTTP 4xx, nor if nothing was sent. */
export const isUnclear = ({ code, httpCode = 0, leftBehind }: DeliveryError): boolean =>
  UNCLEAR_CODES.has(code) && Math.floor(httpCode / 100) !== 4 && leftBehind?.length !== 0;

/** Whether any other request would fail too: the host limits, fails, or can't be reached. */
export const isOfHost = ({ code, httpCode = 0 }: DeliveryError): boolean =>
  code === 'RATE_LIMITED' || code === 'NO_NETWORK' || httpCode === 429 || httpCode >= 500;

/** The failure of work that was not started because other work failed. */
export function followingError(what: string, subject: string, failure: DeliveryError): DeliveryError {
  const { code, message, httpCode, advice: hint } = failure;
  const reason = `${what}, because ${subject} failed: ${message}`;
  return new DeliveryError(code, reason, { httpCode, hint, leftBehind: [] });
}
