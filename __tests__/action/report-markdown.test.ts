import { describe, expect, test } from '@jest/globals';
import {
  describeHint,
  describeReason,
  formatGates,
  formatReportLines,
  formatReportName,
  formatShortText,
  formatTimings,
  getReportState,
  listFacts,
  MAX_FACTS,
  type ReportState,
} from '../../src/action/report-markdown.ts';
import { LINK_SUBJECT } from '../../src/delivery/file-delivery.ts';
import { type Report, refusalReport } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { GATE_TITLES, GATES, REPORT_LINES } from '../../src/protocol/words.ts';
import { attemptWith, PAGE, placementWith, planWith, RAW } from '../delivery/builders.ts';
import { notProven, planned, provenFile, reportWith, unprovenFile, withdrawn } from './reports.ts';
import { shown } from './runner.ts';

describe('getReportState', () => {
  test.each<[ReportState, Report]>([
    ['ready', reportWith()],
    ['withdrawn', withdrawn(reportWith())],
    ['planned', planned('page.html')],
    ['notReady', unprovenFile('page.html')],
    ['notReady', withdrawn(unprovenFile('page.html'))],
  ])('returns %s for such a report', (state, report) => {
    expect(getReportState(report)).toBe(state);
  });
});

describe('the parts of a report in Markdown', () => {
  test('name the file or the link', () => {
    expect(shown(formatReportName(provenFile('a_b.html')))).toBe('a_b.html');
    expect(formatReportName(refusalReport(LINK_SUBJECT, notProven))).toBe(LINK_SUBJECT);
  });

  test('give the reason, the step, the HTTP code and what to change', () => {
    const report = unprovenFile('page.html');
    expect(shown(describeReason(report))).toBe('it shows | nothing | (step <code>verify</code>, HTTP 404)');
    expect(shown(describeHint(report))).toBe('**To change:** set <code>path:</code>');
  });

  test('leave out an unknown HTTP code and hint', () => {
    const report = refusalReport('page.html', new DeliveryError('BAD_INPUT', 'no'));
    expect([describeReason(report), describeHint(report)]).toEqual(['no (step <code>check</code>)', '']);
    expect([describeReason(reportWith()), describeHint(reportWith())]).toEqual(['', '']);
  });

  test('name no failing step for a dry run', () => {
    expect(describeReason(planned('page.html'))).toBe('nothing was published, as asked');
  });

  test('name nothing to change after a dry run, but what comes next', () => {
    const { notReady, ...report } = planned('page.html');
    expect(describeHint({ ...report, notReady: notReady && { ...notReady, hint: 'do it' } })).toBe(
      '**Next:** do it',
    );
  });

  test('cut long text', () => {
    expect(formatShortText('😀'.repeat(1_000))).toBe('😀'.repeat(1_000));
    expect(formatShortText('😀'.repeat(1_001))).toBe(`${'😀'.repeat(1_000)}…`);
  });

  test('show each gate with its evidence, and the proven address as a link', () => {
    const rows = shown(formatGates(reportWith())).split('\n');
    for (const gate of GATES) {
      expect(rows).toContainEqual(
        expect.stringMatching(`^\\| ${GATE_TITLES[gate]} · <code>${gate}</code> \\| ✅ \\| .+ \\|$`),
      );
    }
    expect(rows).toContain(`| Final URL · <code>G2_финальный_URL</code> | ✅ | <${PAGE.href}> |`);
    expect(shown(formatGates(unprovenFile('page.html')))).toContain(
      '</code> | ❌ | the address is not proven |',
    );
    expect(formatGates({ ...reportWith(), gates: [] })).toBe('');
  });

  test('show all lines of the report, even an empty one', () => {
    const lines = shown(formatReportLines(reportWith())).split('\n');
    expect(lines).toHaveLength(REPORT_LINES.length);
    for (const line of REPORT_LINES) {
      expect(lines).toContainEqual(expect.stringMatching(`^- \\*\\*${line}:\\*\\* .+`));
    }
    expect(lines.at(-1)).toBe('- **UNKNOWN:** nothing');
  });
});

describe('listFacts', () => {
  const plan = planWith({ channel: 'K3' });
  const notes = ['the bin expires soon'];

  test('lists the further addresses and the notes of a ready delivery, and that nothing is unknown', () => {
    const main = attemptWith({ placement: placementWith({ notes }) });
    const report = reportWith({ main, duplicates: [attemptWith({ plan })] });
    expect(shown(listFacts(report)).split('\n')).toEqual([
      `- **Raw:** <${RAW.href}>`,
      `- **Duplicate on K3:** <${PAGE.href}>`,
      '- **Note:** the bin expires soon',
      '- **UNKNOWN:** nothing, everything was verified',
    ]);
  });

  test('lists everything that is unknown', () => {
    const unknown = ['the first', 'the second'];
    expect(listFacts({ ...reportWith(), rawUrl: null, unknown })).toBe(
      '- **UNKNOWN:** the first\n- **UNKNOWN:** the second',
    );
  });

  test('does not say that everything was verified if it was not', () => {
    expect(listFacts({ ...unprovenFile('page.html'), unknown: [] })).toBe('');
  });

  test('contains no link for a withdrawn file', () => {
    const report = reportWith({ duplicates: [attemptWith({ plan })] });
    expect(listFacts(report)).toContain('https:');
    expect(listFacts(withdrawn(report))).not.toContain('https:');
  });

  test('counts the facts that it leaves out', () => {
    const facts = listFacts({
      ...reportWith(),
      rawUrl: null,
      unknown: Array<string>(25).fill('a doubt'),
    }).split('\n');
    expect(facts).toHaveLength(MAX_FACTS + 1);
    expect(facts.at(-1)).toBe('- … and 5 more in the report');
  });
});

describe('formatTimings', () => {
  const took = { place: 1_234, wait: 21_400, verify: 600 };

  test('shows the time of each step in their order', () => {
    expect(formatTimings([{ ...reportWith(), took }])).toBe('Took: place 1.2 s, wait 21.4 s, verify 0.6 s');
  });

  test('shows the longest time of several files', () => {
    const reports = [took, { ...took, verify: 900 }].map((times) => ({ ...reportWith(), took: times }));
    expect(formatTimings(reports)).toBe('Took (longest file): place 1.2 s, wait 21.4 s, verify 0.9 s');
  });

  test('is empty if no step took time', () => {
    expect(formatTimings([{ ...reportWith(), took: {} }])).toBe('');
    expect(formatTimings([])).toBe('');
  });
});
