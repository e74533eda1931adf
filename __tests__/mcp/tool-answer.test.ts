import { describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { composeReport } from '../../src/delivery/compose-report.ts';
import type { Report } from '../../src/delivery/report.ts';
import { composeDocument } from '../../src/delivery/report.ts';
import { formatAnswer, isFailure } from '../../src/mcp/tool-answer.ts';
import { planned, provenFile, unprovenFile } from '../action/reports.ts';
import { attemptWith, deliveryWith, placementWith } from '../delivery/builders.ts';

const withdrawal = (written: boolean, unknown: readonly string[] = []): Report => {
  const proof = { ...attemptWith().proof, match: 'gone', isCached: unknown.length > 0 } as const;
  const main = attemptWith({ placement: placementWith({ written }), proof: proof as never, unknown });
  return composeReport({ ...deliveryWith({ subject: 'page.html', main }), operation: 'withdraw' });
};

describe('the short text says what the structured answer says', () => {
  test.each<[string, readonly Report[], RegExp]>([
    ['ready', [provenFile('a.html')], /^Ready: https:\/\/octo\.github\.io\/site\/a\.html$/m],
    ['withdrawn', [withdrawal(true)], /^Withdrawn: page\.html is no longer served/],
    ['withdrawn', [withdrawal(false)], /^Nothing to withdraw: page\.html is not served/],
    ['withdrawn', [withdrawal(true, ['caches'])], /^Withdrawn: page\.html is removed; see UNKNOWN/],
    ['planned', [planned('a.html')], /^Planned, nothing was written: /],
    ['not-ready', [unprovenFile('a.html')], /^Not ready: a\.html: it shows/],
    [
      'not-ready',
      [provenFile('a.html'), unprovenFile('b.html')],
      /^Not ready: 1 of 2 are not ready; b\.html/,
    ],
  ])('%s', (result, reports, text) => {
    const answer = composeDocument(reports);
    expect(answer.result).toBe(result);
    expect(formatAnswer(answer)).toMatch(text);
    expect(isFailure(answer)).toBe(result === 'not-ready');
    // What a withdrawal did is said in the same words.
    if (result === 'withdrawn')
      expect(formatAnswer(answer).toLowerCase()).toContain(answer.reason.toLowerCase());
  });

  test('also where the file that failed is the last of many', () => {
    const many = Array.from({ length: 60 }, (_, at) => provenFile(`${at}.html`));
    const lines = formatAnswer(composeDocument([...many, unprovenFile('last.html')])).split('\n');
    expect(lines[0]).toMatch(/^Not ready: 1 of 61 are not ready; last\.html/);
    expect(lines.join('\n')).toMatch(/^Not ready: last\.html/m);
    expect(lines.at(-1)).toMatch(/^and \d+ more, see reports$/);
  });
});
