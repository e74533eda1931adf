import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createRedactor } from '../../src/credentials.ts';
import { finishReport } from '../../src/delivery/finish-report.ts';
import { composeReceipt } from '../../src/delivery/receipt.ts';
import { composeDocument, type FullReport } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { notProven, planned, provenFile, reportWith, unprovenFile, withdrawn } from '../action/reports.ts';
import { attemptWith, PAGE, placementWith, proofWith } from './builders.ts';

/** What in-toto's own texts ask of a Statement (v1) with the predicate svr v0.2. */
const SCHEMA = {
  type: 'object',
  required: ['_type', 'subject', 'predicateType', 'predicate'],
  additionalProperties: false,
  properties: {
    _type: { const: 'https://in-toto.io/Statement/v1' },
    subject: {
      type: 'array',
      minItems: 1,
      maxItems: 1_024,
      items: {
        type: 'object',
        required: ['name', 'digest'],
        additionalProperties: false,
        properties: {
          name: { type: 'string', pattern: '^https://' },
          digest: {
            type: 'object',
            required: ['sha256'],
            additionalProperties: false,
            properties: { sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' } },
          },
        },
      },
    },
    predicateType: { const: 'https://in-toto.io/attestation/svr/v0.2' },
    predicate: {
      type: 'object',
      required: ['verifier', 'timeCreated', 'properties'],
      additionalProperties: false,
      properties: {
        verifier: {
          type: 'object',
          required: ['id', 'policies'],
          additionalProperties: false,
          properties: { id: { type: 'string', pattern: '^[a-z]+:' }, policies: { type: 'array' } },
        },
        timeCreated: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' },
        properties: { type: 'array', uniqueItems: true, items: { type: 'string', pattern: '^[A-Z0-9_]+$' } },
      },
    },
  },
};
const isStatement = new Ajv2020().compile(SCHEMA);

const NOW = Date.UTC(2026, 0, 2);
const DIGEST = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);

/** A page with as many further files. */
const siteOf = (parts: number, url = PAGE): FullReport => ({
  ...reportWith({
    main: attemptWith({
      proof: proofWith({ sha256: DIGEST }),
      placement: placementWith({
        url,
        parts: Array.from({ length: parts }, (_, nth) => ({
          path: `file-${nth}.js`,
          url: new URL(`file-${nth}.js`, url),
          size: 1,
          sha256: OTHER,
        })),
      }),
    }),
  }),
  site: { count: parts + 1 } as FullReport['site'],
});

const read = (reports: readonly FullReport[]) => {
  const text = composeReceipt(reports, NOW) ?? '';
  const statement = JSON.parse(text);
  expect([isStatement(statement), isStatement.errors]).toEqual([true, null]);
  const { subject, predicate } = statement as {
    subject: { name: string; digest: { sha256: string } }[];
    predicate: { properties: string[] };
  };
  return { text, subject, names: subject.map(({ name }) => name), properties: predicate.properties };
};

describe('a receipt', () => {
  test('names every proven address with what it answered', () => {
    const { subject } = read([siteOf(1)]);
    expect(subject).toEqual([
      { name: PAGE.href, digest: { sha256: DIGEST } },
      { name: new URL('file-0.js', PAGE).href, digest: { sha256: OTHER } },
    ]);
  });

  test('differs from an earlier one of the same delivery in its time alone', () => {
    const [one, other] = [NOW, NOW + 1].map((now) => composeReceipt([siteOf(2)], now)?.split('\n') ?? []);
    const different = one?.filter((line, nth) => line !== other?.[nth]) ?? [];
    expect(different.map((line) => line.trim())).toEqual(['"timeCreated": "2026-01-02T00:00:00.000Z",']);
  });

  test.each([
    ['the very bytes', DIGEST, true],
    ['a page that the site has rendered', OTHER, false],
  ])('says of %s whether they are those of the file', (_, sha256, isSame) => {
    const { properties } = read([{ ...siteOf(0), file: { path: 'page.html', size: 1, sha256 } }]);
    expect(properties.includes('SCREEN_DELIVERY_BYTES_IDENTICAL_TO_THE_FILE')).toBe(isSame);
  });

  test('says only what holds for every delivery of the run', () => {
    const other = { ...siteOf(0, new URL('https://octo.github.io/site/b.html')), unknown: ['something'] };
    expect(read([siteOf(0)]).properties).toContain('SCREEN_DELIVERY_NOTHING_UNKNOWN');
    expect(read([siteOf(0), other]).properties).not.toContain('SCREEN_DELIVERY_NOTHING_UNKNOWN');
  });

  test('names no more addresses than GitHub signs, and says that there are more', () => {
    const { names, properties } = read([siteOf(1_024)]);
    expect(names).toHaveLength(1_024);
    expect(read([siteOf(1_023)]).properties).toContain('SCREEN_DELIVERY_EVERY_FILE_IS_A_SUBJECT');
    expect(
      properties.concat(read([siteOf(600), siteOf(600, new URL('https://o.example/x/'))]).properties),
    ).not.toContain('SCREEN_DELIVERY_EVERY_FILE_IS_A_SUBJECT');
  });

  test('leaves out an address that holds a credential, and says that it is not all', () => {
    const redactor = createRedactor();
    redactor.addSecret('ghs_0123456789abcdef');
    const given = siteOf(1, PAGE);
    const proven = [...(given.proven ?? []), { url: `${PAGE.origin}/ghs_0123456789abcdef`, sha256: OTHER }];
    const { text, names, properties } = read([finishReport({ ...given, proven }, redactor)]);
    expect(names).toHaveLength(2);
    expect(text).not.toContain('ghs_');
    expect(properties).not.toContain('SCREEN_DELIVERY_EVERY_FILE_IS_A_SUBJECT');
  });

  test.each<[string, readonly FullReport[]]>([
    ['nothing', []],
    ['what is not proven', [unprovenFile('a.html', notProven)]],
    ['a plan', [planned('a.html')]],
    ['a withdrawal', [withdrawn(provenFile('a.html'))]],
    [
      'several, of which one is not proven',
      [siteOf(0), unprovenFile('a.html', new DeliveryError('NOT_PROVEN', 'x'))],
    ],
  ])('is not made for %s', (_, reports) => {
    expect(composeReceipt(reports, NOW)).toBeNull();
  });

  test('adds nothing to the JSON', () => {
    expect(JSON.stringify(composeDocument([siteOf(1)]))).not.toContain('proven":');
  });
});
