import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { reportSchemaJson } from '../../scripts/documents.ts';
import { createSchema } from '../../scripts/schema/json-schema.ts';
import { readDeclarations } from '../../scripts/schema/type-declarations.ts';
import { composeDocument } from '../../src/delivery/report.ts';
import { hugeFiles, planned, provenFile, reportWith, unprovenFile, withdrawn } from '../action/reports.ts';
import { parseDocument } from '../scenarios/report-documents.ts';

test('report.schema.json matches the types (if not, run `npm run build:documents`)', () => {
  const committed = readFileSync(new URL('../../report.schema.json', import.meta.url), 'utf8');
  expect(committed).toBe(reportSchemaJson());
});

describe('composeDocument', () => {
  const HINTED = { hint: 'set `path:`', code: 'NOT_PROVEN' };

  test.each([
    [
      'a verified file',
      [reportWith()],
      { result: 'ready', url: 'https://octo.github.io/site/page.html', reason: '' },
    ],
    [
      'two verified files',
      [provenFile('a.html'), provenFile('b.html')],
      { result: 'ready', url: 'https://octo.github.io/site/a.html\nhttps://octo.github.io/site/b.html' },
    ],
    ['a withdrawn file', [withdrawn(reportWith())], { result: 'withdrawn', url: '', code: null, hint: '' }],
    ['a dry run', [planned('a.html')], { result: 'planned', url: '', code: null }],
    [
      'a file that is not verified',
      [unprovenFile('a.html')],
      { result: 'not-ready', url: '', reason: 'it shows | nothing |', ...HINTED },
    ],
    [
      'two files, one of them not verified',
      [provenFile('a.html'), unprovenFile('b.html')],
      {
        result: 'not-ready',
        url: '',
        reason: '1 of 2 are not ready; b.html: it shows | nothing |',
        ...HINTED,
      },
    ],
    ['files with the longest texts', hugeFiles(3), { result: 'not-ready' }],
  ])('states for %s what to hand over, as the schema describes', (_, reports, expected) => {
    const document = composeDocument(reports);
    const hidden = { proven: undefined, claimedNotes: undefined, mayBeWritten: undefined };
    const inJson = reports.map((report) => ({ ...report, ...hidden }));
    expect(document).toEqual(expect.objectContaining({ ...expected, reports: inJson }));
    expect(parseDocument(JSON.stringify(document))).toEqual(document);
    // The rule for agents: without a URL there is always a reason.
    expect([document.url, document.reason].filter((text) => text !== '')).toHaveLength(1);
  });

  test('explains without a report why a command could not begin', () => {
    const failure = { code: 'BAD_USAGE', reason: 'there is no command send', hint: '' };
    const document = { ...composeDocument([]), ...failure };
    expect(parseDocument(JSON.stringify(document))).toMatchObject({
      result: 'not-ready',
      url: '',
      reports: [],
    });
  });

  test.each([
    ['an unknown field', { more: 1 }],
    ['an unknown result', { result: 'done' }],
    ['an unknown code', { code: 'NEW' }],
    ['a URL that is not a text', { url: null }],
    ['a report without its fields', { reports: [{}] }],
  ])('never creates a document with %s, which the schema refuses', (_, wrong) => {
    const text = JSON.stringify({ ...composeDocument([reportWith()]), ...wrong });
    expect(() => parseDocument(text)).toThrow('not as in report.schema.json');
  });
});

test("a type that JSON can't express is refused", () => {
  const source = 'export interface Root { readonly date: () => void }';
  expect(() => createSchema('Root', readDeclarations([source]))).toThrow(/TSFunctionType/);
});
