import { expect, test } from '@jest/globals';
import { composeAuditIssue } from '../../src/action/audit-issue.ts';
import { type CommentMemory, readMemory } from '../../src/action/comment-memory.ts';
import type { AuditVerdict } from '../../src/delivery/report.ts';
import { COMMENTS } from '../../src/protocol/limits.ts';
import { NOON } from '../support/ports.ts';
import { provenFile } from './reports.ts';

test('an issue that has no room for all names stays open until a person closes it', () => {
  const mark = '<!-- screen-delivery:audit:0123456789abcdef';
  const nothing: CommentMemory = { mark, run: null, proven: [], lost: [] };
  const remembered = (body: string) => readMemory(body) ?? nothing;
  const context = { subject: 'Audit', headSha: null, now: NOON, runUrl: null };
  const reportsWith = (verdict: AuditVerdict) =>
    Array.from({ length: 400 }, (_, nth) => ({
      ...provenFile(`${'long-'.repeat(20)}${nth}.html`),
      operation: 'audit' as const,
      verdict,
    }));
  const opened = composeAuditIssue(reportsWith('lost'), context, nothing);
  expect(opened.body.startsWith(`${mark} {`)).toBe(true);
  expect(Buffer.byteLength(opened.body)).toBeLessThan(COMMENTS.body);
  const next = composeAuditIssue(reportsWith('as-delivered'), context, remembered(opened.body));
  expect(next).toMatchObject({
    isOpen: true,
    body: expect.stringMatching(/named it: <code>\d+ more<\/code>/),
  });
  // A person who edits it on the page changes the ends of its lines.
  expect(composeAuditIssue([], context, remembered(opened.body.replaceAll('\n', '\r\n'))).isOpen).toBe(true);
});
