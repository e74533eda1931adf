import { type DeliveryResult, getDeliveryResult, getSharedResult, type Report } from './report.ts';

/**
 * What a program is answered: the reports, and what to give a person. That is `url` unless it is empty, else
 * `reason` and `hint`.
 */
export interface DeliveryAnswer {
  readonly result: DeliveryResult;
  /** The proven address; of several files a line each. Empty unless the result is `ready`. */
  readonly url: string;
  /** Why it is not ready, and what to change: of the first file that is not. Empty for any other result. */
  readonly reason: string;
  readonly hint: string;
  readonly reports: readonly Report[];
}

/** Several reports as one answer. */
export function composeAnswer(reports: readonly Report[]): DeliveryAnswer {
  const result = getSharedResult(reports);
  const failure = reports.find((report) => getDeliveryResult(report) === 'not-ready')?.notReady;
  return {
    result,
    url: result === 'ready' ? reports.map(({ url }) => url ?? '').join('\n') : '',
    reason: failure?.reason ?? '',
    hint: failure?.hint ?? '',
    reports,
  };
}
