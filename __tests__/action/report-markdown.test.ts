import { describe, expect, test } from '@jest/globals';
import {
  describeHint,
  describeReason,
  FACTS,
  gatesTable,
  linesList,
  listFacts,
  type ReportState,
  reportName,
  reportStateOf,
  shortText,
} from '../../src/action/report-markdown.ts';
import { LINK_SUBJECT } from '../../src/delivery/file-delivery.ts';
import { type Report, refusalReport } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { GATES, REPORT_LINES } from '../../src/protocol/words.ts';
import { attemptWith, PAGE, placementWith, planWith, RAW } from '../delivery/builders.ts';
import { notProven, planned, provenFile, reportWith, unprovenFile, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

describe('the state of a report', () => {
  test.each<[ReportState, Report]>([
    ['ready', reportWith()],
    ['withdrawn', withdrawn(reportWith())],
    ['planned', planned('page.html')],
    ['notReady', unprovenFile('page.html')],
    ['notReady', withdrawn(unprovenFile('page.html'))],
  ])('is %s', (state, report) => {
    expect(reportStateOf(report)).toBe(state);
  });
});

describe('a report’s parts', () => {
  test('name the file, or the link', () => {
    expect(shown(reportName(provenFile('a_b.html')))).toBe('a_b.html');
    expect(reportName(refusalReport(LINK_SUBJECT, notProven))).toBe(LINK_SUBJECT);
  });

  test('tell reason, step and HTTP code, and what to change', () => {
    const report = unprovenFile('page.html');
    expect(shown(describeReason(report))).toBe('it shows | nothing | (step `verify`, HTTP 404)');
    expect(shown(describeHint(report))).toBe('**To change:** set `path:`');
  });

  test('leave out what is not known', () => {
    const report = refusalReport('page.html', new DeliveryError('BAD_INPUT', 'no'));
    expect([describeReason(report), describeHint(report)]).toEqual(['no (step `check`)', '']);
    expect([describeReason(reportWith()), describeHint(reportWith())]).toEqual(['', '']);
  });

  test('call a dry run’s end no failing step', () => {
    expect(describeReason(planned('page.html'))).toBe('nothing was published, as asked');
  });

  test('are cut where nobody reads on', () => {
    expect(shortText('😀'.repeat(1_000))).toBe('😀'.repeat(1_000));
    expect(shortText('😀'.repeat(1_001))).toBe(`${'😀'.repeat(1_000)}…`);
  });

  test('show each gate with its evidence, and the address as a link', () => {
    const rows = shown(gatesTable(reportWith())).split('\n');
    for (const gate of GATES) {
      expect(rows).toContainEqual(expect.stringMatching(`^\\| <code>${gate}</code> \\| ✅ \\| .+ \\|$`));
    }
    expect(rows).toContain(`| <code>G2_финальный_URL</code> | ✅ | <${PAGE.href}> |`);
    expect(shown(gatesTable(unprovenFile('page.html')))).toContain(
      '</code> | ❌ | the address is not proven |',
    );
    expect(gatesTable({ ...reportWith(), gates: [] })).toBe('');
  });

  test('show the report’s lines, the empty one too', () => {
    const lines = shown(linesList(reportWith())).split('\n');
    expect(lines).toHaveLength(REPORT_LINES.length);
    for (const line of REPORT_LINES) {
      expect(lines).toContainEqual(expect.stringMatching(`^- \\*\\*${line}:\\*\\* .+`));
    }
    expect(lines.at(-1)).toBe('- **UNKNOWN:** nothing');
  });
});

describe('the facts', () => {
  const plan = planWith({ channel: 'K3' });
  const notes = ['the bin expires soon'];

  test('of a ready delivery are its further addresses, its notes, and that nothing is unknown', () => {
    const main = attemptWith({ placement: placementWith({ notes }) });
    const report = reportWith({ main, duplicates: [attemptWith({ plan })] });
    expect(shown(listFacts(report)).split('\n')).toEqual([
      `- **Raw:** <${RAW.href}>`,
      `- **Duplicate on K3:** <${PAGE.href}>`,
      '- **Note:** the bin expires soon',
      '- **UNKNOWN:** nothing, everything was verified',
    ]);
  });

  test('tell what is unknown, one by one', () => {
    const unknown = ['the first', 'the second'];
    expect(listFacts({ ...reportWith(), rawUrl: null, unknown })).toBe(
      '- **UNKNOWN:** the first\n- **UNKNOWN:** the second',
    );
  });

  test('never say that all was verified where it was not', () => {
    expect(listFacts({ ...unprovenFile('page.html'), unknown: [] })).toBe('');
  });

  test('of what was withdrawn hold no link', () => {
    const report = reportWith({ duplicates: [attemptWith({ plan })] });
    expect(listFacts(report)).toContain('https:');
    expect(listFacts(withdrawn(report))).not.toContain('https:');
  });

  test('are counted where there are too many', () => {
    const facts = listFacts({
      ...reportWith(),
      rawUrl: null,
      unknown: Array<string>(25).fill('a doubt'),
    }).split('\n');
    expect(facts).toHaveLength(FACTS + 1);
    expect(facts.at(-1)).toBe('- … and 5 more in the report');
  });
});
