import type { Wording } from '../request/wording.ts';
import type { Report } from './report.ts';

/** The report in the words of an interface; what it says of files, addresses and digests stays as it is. */
export function wordReport(report: Report, word: Wording): Report {
  const { lines, notReady } = report;
  return {
    ...report,
    lines: {
      ...lines,
      CLAIM: word(lines.CLAIM),
      RESULT: word(lines.RESULT),
      UNKNOWN: word(lines.UNKNOWN),
    },
    duplicates: report.duplicates.map((one) => ({ ...one, reason: one.reason && word(one.reason) })),
    notReady: notReady && { ...notReady, reason: word(notReady.reason), hint: word(notReady.hint) },
    unknown: report.unknown.map(word),
    notes: report.notes.map(word),
  };
}
