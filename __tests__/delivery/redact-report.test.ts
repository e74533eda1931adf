import { describe, expect, test } from '@jest/globals';
import { createRedactor, type Redactor } from '../../src/credentials.ts';
import { refusalReport } from '../../src/delivery/compose-report.ts';
import { redactReport } from '../../src/delivery/redact-report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { reportWith } from '../action/reports.ts';

function redactorOf(...secrets: string[]): Redactor {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.addSecret(secret);
  return redactor;
}

/** Hides even what is too short or too common for a secret. */
const hiding = (...secrets: string[]): Redactor => ({
  addSecret: () => undefined,
  redact: (text) => secrets.reduce((clean, one) => clean.replaceAll(one, '***'), text),
});

describe('redactReport', () => {
  test('replaces a secret in every text', () => {
    const secret = 'ghs_AbCd0123';
    const failure = new DeliveryError('HOST_ERROR', `the host said ${secret}`, { hint: `use "${secret}"` });
    const clean = redactReport(refusalReport({ file: `${secret}.html` }, failure), redactorOf(secret));
    expect(JSON.stringify(clean)).not.toContain(secret);
    expect(clean).toMatchObject({ file: { path: '***.html' }, notReady: { hint: 'use "***"' } });
  });

  test('hands over no address rather than another one than the proven one', () => {
    const report = reportWith();
    const secret = new URL(report.url ?? '').host;
    const clean = redactReport(report, hiding(secret));
    expect(clean).toMatchObject({ ready: false, url: null, rawUrl: report.rawUrl });
    expect(clean.lines.RESULT).toMatch(/^НЕ ГОТОВО → the verified URL contains a credential/);
    expect(clean.gates.at(-1)).toMatchObject({ name: 'G4_REPORT', passed: false });
    expect(JSON.stringify(clean)).not.toContain(secret);
  });

  test('hands over no further address that it would have to change', () => {
    const report = reportWith();
    const clean = redactReport(report, hiding(new URL(report.rawUrl ?? '').host));
    expect(clean).toMatchObject({ ready: true, url: report.url, rawUrl: null });
  });

  test('leaves no bidirectional or invisible character in a report', () => {
    const failure = new DeliveryError('BAD_FILE', 'a\u202eb\u2066c\u200bd');
    expect(redactReport(refusalReport({ file: 'x' }, failure), redactorOf()).notReady?.reason).toBe('abcd');
  });
});
