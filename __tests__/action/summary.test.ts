import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { literal, summaryOf } from '../../src/action/summary.ts';
import { compose, refusal, type Report } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { GATES, REPORT_LINES } from '../../src/protocol/words.ts';
import { fileWith, outcomeWith, PAGE, placementWith } from '../delivery/builders.ts';
import { shown } from './runner.ts';

const reportWith = (more: Partial<Parameters<typeof compose>[0]> = {}): Report =>
  compose({
    subject: 'page.html',
    file: fileWith(),
    because: 'it was asked for',
    main: outcomeWith(),
    duplicates: [],
    unknown: [],
    failure: null,
    ...more,
  });

describe('text from outside', () => {
  test.each([
    '[click](https://evil.example)',
    '![x](https://evil.example/p.png)',
    '<img src=x onerror=alert(1)>',
    '<!-- hidden',
    '`code`',
    '**bold** _it_ ~~no~~',
    'a | b',
    '# heading',
    '&lt;',
    '\\|',
  ])('%j is shown as it is', (text) => {
    expect(literal(text)).not.toMatch(/[\\`*_{}[\]<>()|~!]|&(?!#\d+;)/);
    expect(shown(literal(text))).toBe(text);
  });

  test('is shown as it is, whatever its signs, and never as markup', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const escaped = literal(text);
        expect(escaped).not.toMatch(/[\\`*_{}[\]<>()|~!\n\r]|&(?!#\d+;)/);
        expect(shown(escaped)).toBe(text.replace(/[\s\p{Cc}]+/gu, ' '));
      }),
    );
  });

  test.each(['a\nb', 'a\r\n\r\nb', 'a\u0000b', 'a\u2028b', 'a\u0085b'])('%j stays in one line', (text) => {
    expect(literal(text)).toBe('a b');
  });
});

describe('the summary of a ready delivery', () => {
  const summary = summaryOf(reportWith());

  test('begins with the link', () => {
    expect(summary.split('\n').slice(0, 3)).toEqual(['### page.html', '', `**ГОТОВО** → <${PAGE.href}>`]);
  });

  test('has every gate with its evidence, every line of the report, and the seconds of each step', () => {
    const rows = shown(summary).split('\n');
    for (const gate of GATES)
      expect(rows).toContainEqual(expect.stringMatching(`^\\| ${gate} \\| ✅ \\| .+ \\|$`));
    for (const line of REPORT_LINES)
      expect(rows).toContainEqual(expect.stringMatching(`^\\| ${line} \\| .+ \\|$`));
    expect(rows).toEqual(expect.arrayContaining(['| place | 1.2 |', '| wait | 34.6 |', '| verify | 0.0 |']));
  });

  test('says that nothing is unknown', () => {
    expect(summary).toContain('| UNKNOWN | nothing: everything was verified |');
  });
});

describe('the summary of a delivery that is not ready', () => {
  const failure = new DeliveryError('NOT_PROVEN', 'it shows\n| nothing |', {
    step: 'verify',
    httpCode: 404,
    hint: 'set `path:`',
  });

  test('begins with the reason, the step, the HTTP code and what to change', () => {
    const summary = summaryOf(reportWith({ main: outcomeWith({ proof: null, rawUrl: null, failure }) }));
    expect(shown(summary).split('\n').slice(0, 5)).toEqual([
      '### page.html',
      '',
      '**НЕ ГОТОВО** → it shows | nothing | (step `verify`, HTTP 404)',
      '',
      '**To change:** set `path:`',
    ]);
  });

  test('shows which gates are closed, and no address', () => {
    const main = outcomeWith({ placement: placementWith(), proof: null, rawUrl: null, failure });
    const summary = shown(summaryOf(reportWith({ main })));
    expect(summary).toContain('| G3_VERIFY_200_и_маркер | ❌ | the address is not proven |');
    expect(summary).not.toContain('https://');
  });

  test('leaves out what is not known: HTTP code, hint, timings, file', () => {
    const report = refusal('the given link', new DeliveryError('BAD_INPUT', 'no'));
    const summary = summaryOf(report);
    expect(summary).toMatch(/^### Delivery\n\n\*\*НЕ ГОТОВО\*\* → no \(step `check`\)\n\n\| Gate/);
    expect(summary).not.toContain('Seconds');
  });

  test('keeps its tables whole whatever a file is called', () => {
    const summary = summaryOf(refusal('a|b](c)\n<h1>.html', failure));
    const widths = summary
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').length);
    expect(new Set(widths)).toEqual(new Set([4, 5]));
    expect(summary).not.toContain('<h1>');
  });
});
