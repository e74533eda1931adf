import { expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { composeDocument, type Report, reportText } from '../../src/delivery/report.ts';
import { formatAnswer, isFailure } from '../../src/mcp/tool-answer.ts';
import { planned, provenFile, unprovenFile } from '../action/reports.ts';

test.each<[string, readonly Report[]]>([
  ['ready', [provenFile('a.html')]],
  ['planned', [planned('a.html')]],
  ['not-ready', [unprovenFile('a.html')]],
])('the text of an answer that is %s begins with it, and holds the report', (result, reports) => {
  const answer = composeDocument(reports.map((report) => ({ ...report, notes: ['a note'] })));
  const text = formatAnswer(answer);
  expect(text.startsWith(`${result}: ${answer.url || answer.reason}\n\n`)).toBe(true);
  for (const report of reports) expect(text).toContain(`${reportText(report)}\nNote: a note`);
  expect(isFailure(answer)).toBe(result === 'not-ready');
});

test('the text of an answer names what failed also where it is the last of many', () => {
  const many = Array.from({ length: 60 }, (_, at) => provenFile(`${at}.html`));
  const failed = unprovenFile('last.html');
  const [first, second = ''] = formatAnswer(composeDocument([...many, failed])).split('\n\n');
  expect(first).toMatch(/^not-ready: 1 of 61 are not ready; last\.html/);
  expect(second).toBe(reportText(failed));
});
