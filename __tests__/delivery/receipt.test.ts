import { describe, expect, test } from '@jest/globals';
import { createRedactor } from '../../src/credentials.ts';
import { composeReceipt } from '../../src/delivery/receipt.ts';
import { redactReport } from '../../src/delivery/redact-report.ts';
import { composeDocument, type Report } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { notProven, planned, provenFile, reportWith, unprovenFile, withdrawn } from '../action/reports.ts';
import { attemptWith, PAGE, placementWith, proofWith } from './builders.ts';

interface Statement {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: { readonly properties: readonly string[] };
}

const NOW = Date.UTC(2026, 0, 2);
const DIGEST = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);

/** A page with as many further files. */
const siteOf = (files: number, url = PAGE): Report => {
  const further = Array.from({ length: files }, (_, nth) => ({
    url: new URL(`file-${nth}.js`, url).href,
    sha256: OTHER,
  }));
  const proof = proofWith({ sha256: DIGEST, further });
  const main = attemptWith({ proof, placement: placementWith({ url }) });
  return { ...reportWith({ main }), site: { count: files + 1 } as Report['site'] };
};

const read = (reports: readonly Report[]) => {
  const text = composeReceipt(reports, NOW) ?? '';
  const statement: Statement = JSON.parse(text);
  const { subject, predicate } = statement;
  // All that in-toto's own texts ask of a Statement (v1) with the predicate svr v0.2.
  expect({ ...statement, subject: [], predicate: { ...predicate, properties: [] } }).toEqual({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [],
    predicateType: 'https://in-toto.io/attestation/svr/v0.2',
    predicate: {
      verifier: { id: expect.stringMatching(/^pkg:npm\/screen-delivery@/), policies: [] },
      timeCreated: '2026-01-02T00:00:00.000Z',
      properties: [],
    },
  });
  for (const { name, digest, ...others } of subject) {
    expect([name, digest.sha256].join(' ')).toMatch(/^https:\/\/\S+ [0-9a-f]{64}$/);
    expect({ ...others, algorithms: Object.keys(digest) }).toEqual({ algorithms: ['sha256'] });
  }
  for (const property of predicate.properties) expect(property).toMatch(/^[A-Z0-9_]+$/);
  return { text, subject, names: subject.map(({ name }) => name), properties: predicate.properties };
};

describe('a receipt', () => {
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
    const { text, names, properties } = read([redactReport({ ...given, proven }, redactor)]);
    expect(names).toHaveLength(2);
    expect(text).not.toContain('ghs_');
    expect(properties).not.toContain('SCREEN_DELIVERY_EVERY_FILE_IS_A_SUBJECT');
  });

  test.each<[string, readonly Report[]]>([
    ['nothing', []],
    ['what is not proven', [unprovenFile('a.html', notProven)]],
    ['a plan', [planned('a.html')]],
    ['a withdrawal', [withdrawn(provenFile('a.html'))]],
    ['several, one not proven', [siteOf(0), unprovenFile('a.html', new DeliveryError('NOT_PROVEN', 'x'))]],
  ])('is not made for %s', (_, reports) => {
    expect(composeReceipt(reports, NOW)).toBeNull();
  });

  test('adds nothing to the JSON', () => {
    expect(JSON.stringify(composeDocument([siteOf(1)]))).not.toContain('proven":');
  });
});
