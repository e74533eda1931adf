import type { DeliveryError, ErrorCode } from '../errors.ts';
import { RESULTS } from '../protocol/words.ts';
import type { FailureReason } from './failure-reason.ts';
import { LINK_SUBJECT } from './file-delivery.ts';
import { type DeliveryResult, getDeliveryResult, getSharedResult, type Report } from './report.ts';

/**
 * What a command, a step or a tool answers, as JSON. Give the human `url` if it is not empty, else `reason` and
 * `hint`.
 */
export interface ReportDocument {
  /** How it ended: `ready` only if every file is proven, `planned` after a dry run or a check. */
  readonly result: DeliveryResult;
  /** The proven address, one line for each file; empty unless `result` is `ready`. */
  readonly url: string;
  /** Why there is no address to hand over; empty if `result` is `ready`. */
  readonly reason: string;
  /** What to change; empty where nothing has to change or nothing is known. */
  readonly hint: string;
  /** Why it is not ready or only planned; `null` otherwise. */
  readonly code: ErrorCode | null;
  /** A report for each file or folder; empty where the command itself is wrong. */
  readonly reports: readonly Report[];
}

/** The one JSON of every interface. @param reports without secrets */
export function composeDocument(reports: readonly Report[]): ReportDocument {
  const result = getSharedResult(reports);
  if (result === 'ready') {
    return { result, url: joinUrls(reports), reason: '', hint: '', code: null, reports };
  }
  if (result === 'withdrawn') {
    return {
      result,
      url: '',
      reason: reports.map(describeWithdrawal).join('; '),
      hint: '',
      code: null,
      reports,
    };
  }
  const failed = reports.filter((report) => getDeliveryResult(report) === result);
  const [first = reports[0]] = failed;
  const { code = 'INTERNAL', hint = '' }: Partial<FailureReason> = first?.notReady ?? {};
  const reason = first?.notReady?.reason ?? 'nothing was delivered';
  const isOneOfMany = reports.length > 1 && result === 'not-ready';
  const count = `${failed.length} of ${reports.length} are not ready; ${first?.file?.path ?? LINK_SUBJECT}: `;
  return { result, url: '', reason: `${isOneOfMany ? count : ''}${reason}`, hint, code, reports };
}

/** The same for a command that could not even begin. */
export const failureDocument = ({
  code,
  message,
  hint = '',
}: Pick<DeliveryError, 'code' | 'message' | 'hint'>): ReportDocument => ({
  result: 'not-ready',
  url: '',
  reason: message,
  hint,
  code,
  reports: [],
});

/** One line for each file, as the output `url` has them. */
export const joinUrls = (reports: readonly Report[]): string =>
  reports.map(({ url }) => url ?? '').join('\n');

/** How a withdrawal ended, such as `withdrawn: page.html is no longer served`; there may have been nothing. */
export const describeWithdrawal = ({ lines }: Report): string =>
  lines.RESULT.replace(`${RESULTS.ready}, `, '');
