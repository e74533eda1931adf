import { composeReport } from '../../src/delivery/compose-report.ts';
import type { Report } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import type { Proof } from '../../src/proof/probe-result.ts';
import {
  attemptWith,
  type DeliveryParts,
  deliveryWith,
  placementWith,
  proofWith,
} from '../delivery/builders.ts';

/** A ready report, or what a test makes of it. */
export const reportWith = (more: DeliveryParts = {}): Report => composeReport(deliveryWith(more));

/** A proven file of that name. */
export const provenFile = (name: string, proof: Partial<Proof> = {}): Report => {
  const url = new URL(`https://octo.github.io/site/${encodeURIComponent(name)}`);
  return reportWith({
    subject: name,
    main: attemptWith({ proof: proofWith({ rawUrl: null, ...proof }), placement: placementWith({ url }) }),
  });
};

/** One whose version of before a cache still shows. */
export const lateFile = (name: string): Report => {
  const url = new URL(`https://octo.github.io/site/${name}?v=c0ffee`);
  const note =
    'until 2026-01-02 03:15 UTC, the URL without its part after the question mark may still show the previous version';
  return provenFile(name, { versioned: { url, note } });
};

export const notProven = new DeliveryError('NOT_PROVEN', 'it shows\n| nothing |', {
  step: 'verify',
  httpCode: 404,
  hint: 'set `path:`',
});

/** A placed file of that name that could not be proven. */
export const unprovenFile = (name: string, failure = notProven): Report =>
  reportWith({ subject: name, main: attemptWith({ proof: null, failure }) });

export const withdrawn = (report: Report): Report => ({
  ...report,
  operation: 'withdraw',
  result: 'withdrawn',
  outcome: `${report.subject} is removed`,
  url: null,
  withdrawn: report.url,
  gone: report.url === null ? [] : [report.url],
});

/** What a dry run reports. */
export const planned = (name: string): Report =>
  reportWith({
    subject: name,
    main: null,
    planned: { reason: 'nothing was published, as asked', next: 'do it' },
  });

/** Names, each of which fills its part of a report to the brim. */
export const hugeFiles = (number: number): Report[] =>
  Array.from({ length: number }, (_, at) => {
    const name = `${'@'.repeat(1_000)}${at}.html`;
    if (at % 3 === 1) {
      return unprovenFile(
        name,
        new DeliveryError('NOT_PROVEN', '#'.repeat(5_000), { hint: 'я'.repeat(5_000) }),
      );
    }
    return {
      ...provenFile(name),
      notes: ['|'.repeat(5_000)],
      unknown: Array<string>(25).fill('`'.repeat(5_000)),
    };
  });
