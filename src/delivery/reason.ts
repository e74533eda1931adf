import type { DeliveryError } from '../errors.ts';
import type { Step } from '../protocol/words.ts';

/** Why a delivery is not ready. */
export interface FailureReason {
  readonly step: Step;
  readonly httpCode: number | null;
  readonly code: string;
  readonly reason: string;
  /** What to change; empty where nothing is known. */
  readonly hint: string;
}

/**
 * A failure as the report's reason.
 *
 * @param seen what the address answered last, for a failure without a code of its own
 */
export function toFailureReason(failure: DeliveryError | null, seen: number | null = null): FailureReason {
  if (failure === null) {
    return { step: 'report', httpCode: null, code: 'INTERNAL', reason: 'nothing was delivered', hint: '' };
  }
  const { step, httpCode, code, message, hint } = failure;
  const reason =
    code === 'NO_NETWORK' ? `the protocol can't be executed, there is no network: ${message}` : message;
  return { step: step ?? 'check', httpCode: httpCode ?? seen, code, reason, hint: hint ?? '' };
}

/** The reason in one line: what, where, and what to change. */
export function formatReason({ step, httpCode, reason, hint }: FailureReason): string {
  const where = `step ${step}${httpCode === null ? '' : `, HTTP ${httpCode}`}`;
  return `${reason} (${where})${hint === '' ? '' : `. To change: ${hint}`}`;
}
