import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { answerSchemaJson, reportSchemaJson } from '../../scripts/documents.ts';
import { createSchema } from '../../scripts/schema/json-schema.ts';
import { readDeclarations } from '../../scripts/schema/type-declarations.ts';
import { composeDocument } from '../../src/delivery/report.ts';
import { hugeFiles, planned, provenFile, reportWith, unprovenFile, withdrawn } from '../action/reports.ts';
import { parseDocument } from '../scenarios/report-documents.ts';

test.each([
  ['report.schema.json', reportSchemaJson],
  ['src/mcp/answer.schema.json', answerSchemaJson],
])('%s is what the types say (if not, run `npm run build:documents`)', (name, generate) => {
  const committed = readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
  expect(committed).toBe(generate());
});

describe('composeDocument', () => {
  const HINTED = { hint: 'set `path:`', code: 'NOT_PROVEN' };

  test.each([
    [
      'a proven file',
      [reportWith()],
      { result: 'ready', url: 'https://octo.github.io/site/page.html', reason: '' },
    ],
    [
      'two proven files',
      [provenFile('a.html'), provenFile('b.html')],
      { result: 'ready', url: 'https://octo.github.io/site/a.html\nhttps://octo.github.io/site/b.html' },
    ],
    ['a withdrawn file', [withdrawn(reportWith())], { result: 'withdrawn', url: '', code: null, hint: '' }],
    ['a dry run', [planned('a.html')], { result: 'planned', url: '', code: 'DRY_RUN' }],
    [
      'a file that is not proven',
      [unprovenFile('a.html')],
      { result: 'not-ready', url: '', reason: 'it shows | nothing |', ...HINTED },
    ],
    [
      'one file of two that is not proven',
      [provenFile('a.html'), unprovenFile('b.html')],
      {
        result: 'not-ready',
        url: '',
        reason: '1 of 2 are not ready; b.html: it shows | nothing |',
        ...HINTED,
      },
    ],
    ['files with the longest texts', hugeFiles(3), { result: 'not-ready' }],
  ])('says of %s what to hand over, as the schema describes', (_, reports, expected) => {
    const document = composeDocument(reports);
    const inJson = reports.map((report) => ({ ...report, proven: undefined }));
    expect(document).toEqual(expect.objectContaining({ ...expected, reports: inJson }));
    expect(parseDocument(JSON.stringify(document))).toEqual(document);
    // The rule for agents: without an address there is always a reason.
    expect([document.url, document.reason].filter((text) => text !== '')).toHaveLength(1);
  });

  test('says of a command that could not begin why, without a report', () => {
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
    ['an address that is no text', { url: null }],
    ['a report that lacks its fields', { reports: [{}] }],
  ])('makes nothing that has %s, which the schema would refuse', (_, wrong) => {
    const text = JSON.stringify({ ...composeDocument([reportWith()]), ...wrong });
    expect(() => parseDocument(text)).toThrow('not as in report.schema.json');
  });
});

describe('createSchema', () => {
  const schemaOf = (source: string) => createSchema('Root', readDeclarations([source]));

  test('knows what data is made of, and takes the comments as descriptions', () => {
    const schema = schemaOf(`
      export const KEYS = { a: 1, b: 2 } as const;
      export const NAMES = ['x', 'y'] as const;
      export type OneKey = keyof typeof KEYS;
      /** All. @see nothing */
      export interface Root {
        /** A list. */
        readonly list: readonly (string | null)[];
        readonly key: OneKey;
        readonly name?: (typeof NAMES)[number];
        readonly record: Readonly<Partial<Record<OneKey, number>>>;
        readonly literal: 'one' | 'two';
      }`);
    expect(schema).toEqual({
      description: 'All.',
      type: 'object',
      properties: {
        list: { description: 'A list.', type: 'array', items: { type: ['string', 'null'] } },
        key: { $ref: '#/$defs/OneKey' },
        name: { type: 'string', enum: ['x', 'y'] },
        record: {
          type: 'object',
          properties: { a: { type: 'number' }, b: { type: 'number' } },
          additionalProperties: false,
        },
        literal: { type: 'string', enum: ['one', 'two'] },
      },
      required: ['list', 'key', 'record', 'literal'],
      additionalProperties: false,
      $defs: { OneKey: { type: 'string', enum: ['a', 'b'] } },
    });
  });

  test('knows interfaces that are made of others', () => {
    const schema = schemaOf(`
      export interface Base { readonly a: string; readonly b: number | null; readonly c?: boolean }
      export interface Middle extends Pick<Base, 'a' | 'b'> { readonly d: Base['c'] }
      export interface Root extends Omit<Middle, 'a'>, Omit<Base, 'b' | 'c'> { readonly e: Middle['b'] }`);
    expect(schema).toMatchObject({
      properties: {
        b: { type: ['number', 'null'] },
        d: { type: 'boolean' },
        a: { type: 'string' },
        e: { type: ['number', 'null'] },
      },
      required: ['b', 'd', 'a', 'e'],
    });
  });

  test.each([
    [
      'a type that data can not have',
      'export interface Root { readonly date: () => void }',
      /TSFunctionType/,
    ],
    [
      'an interface that extends anything else',
      'export interface Base { readonly a: string } export interface Root extends Partial<Base> {}',
      /extends Partial with types/,
    ],
    [
      'a type that nothing declares',
      'export interface Root { readonly date: Date }',
      /No exported type .* Date/,
    ],
  ])('refuses %s', (_, source, message) => {
    expect(() => schemaOf(source)).toThrow(message);
  });
});
