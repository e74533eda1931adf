import type { DeliveryError, ErrorCode } from '../errors.ts';
import type { Step } from '../protocol/words.ts';
import { neutralizeText } from './neutral-text.ts';

/** Why a delivery is not ready. */
export interface FailureReason {
  readonly step: Step;
  readonly httpCode: number | null;
  readonly code: ErrorCode;
  /** What failed, with everything that was found. */
  readonly reason: string;
  /** The same in parts, where several things were found. */
  readonly findings?: { readonly about: string; readonly lines: readonly string[] };
  /** What to change; empty where nothing is known. */
  readonly hint: string;
}

/**
 * An error as the report's reason.
 *
 * @param lastHttpCode what the address answered last, for an error without a code of its own
 */
export function toFailureReason(
  error: DeliveryError | null,
  lastHttpCode: number | null = null,
): FailureReason {
  if (error === null) {
    return { step: 'report', httpCode: null, code: 'INTERNAL', reason: 'nothing was delivered', hint: '' };
  }
  const { step, httpCode, code, message, hint, about, findings } = error;
  const reason =
    code === 'NO_NETWORK' ? `the protocol can't be executed, there is no network: ${message}` : message;
  return {
    step: step ?? 'check',
    httpCode: httpCode ?? lastHttpCode,
    code,
    // Both may quote a host or a file's name.
    reason: neutralizeText(reason),
    ...(findings.length < 2
      ? {}
      : { findings: { about: neutralizeText(about), lines: findings.map((line) => neutralizeText(line)) } }),
    hint: neutralizeText(hint ?? ''),
  };
}

/** The reason in one line: what failed, where, and what to change. */
export function formatReason({ code, step, httpCode, reason, hint }: FailureReason): string {
  // Nothing failed, so there is no failed step, and nothing to change.
  if (code === 'DRY_RUN') return `${reason}. Next: ${hint}`;
  const where = `step ${step}${httpCode === null ? '' : `, HTTP ${httpCode}`}`;
  return `${reason} (${where})${hint === '' ? '' : `. To change: ${hint}`}`;
}
