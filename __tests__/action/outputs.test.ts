import { describe, expect, test } from '@jest/globals';
import { composeOutputs, writeOutputs } from '../../src/action/outputs.ts';
import { refusalReport } from '../../src/delivery/compose-report.ts';
import { composeDocument, reportText } from '../../src/delivery/report.ts';
import { DeliveryError } from '../../src/errors.ts';
import { attemptWith, PAGE, planWith, RAW } from '../delivery/builders.ts';
import { fakePorts } from '../support/ports.ts';
import { provenFile, reportWith, unprovenFile } from './reports.ts';
import { inStep } from './runner.ts';

const failure = new DeliveryError('NOT_PROVEN', 'not proven', { step: 'verify', httpCode: 404 });

describe('composeOutputs', () => {
  test('returns every output of a ready delivery', () => {
    const report = reportWith();
    expect(composeOutputs([report])).toEqual({
      url: PAGE.href,
      report: reportText(report),
      'report-json': JSON.stringify(composeDocument([report])),
      result: 'ready',
      channel: 'K1',
      'raw-url': RAW.href,
      'duplicate-url': '',
      'commit-sha': 'c0ffee',
      sha256: 'f00d',
      size: '12',
      files: '1',
      screen: '',
      receipt: '',
      'picture-url': '',
    });
  });

  test('returns no address for what is not ready, and nothing else of a refusal', () => {
    const unproven = reportWith({ main: attemptWith({ proof: null, failure }) });
    expect(JSON.stringify(composeOutputs([unproven]))).not.toMatch(/https?:/);
    const refused = composeOutputs([refusalReport({ file: 'page.html' }, failure)]);
    const given = Object.entries(refused).filter(([name, value]) => !/report/.test(name) && value !== '');
    expect(given).toEqual([
      ['result', 'not-ready'],
      ['files', '0'],
    ]);
  });

  test('returns one line for each of several files, and no address unless all are ready', () => {
    const duplicates = (['K3', 'K2'] as const).map((channel) => attemptWith({ plan: planWith({ channel }) }));
    const failed = attemptWith({ plan: planWith({ channel: 'K4' }), proof: null, failure });
    const reports = [provenFile('a.html'), reportWith({ duplicates: [failed, ...duplicates] })];
    expect(composeOutputs(reports)).toMatchObject({
      url: `https://octo.github.io/site/a.html\n${PAGE.href}`,
      report: reports.map(reportText).join('\n\n'),
      channel: 'K1\nK1',
      // The first one has none.
      'raw-url': `\n${RAW.href}`,
      'duplicate-url': `${PAGE.href}\n${PAGE.href}`,
      sha256: 'f00d\nf00d',
      files: '2',
      screen: '',
    });
    const outputs = composeOutputs([...reports, unprovenFile('b.html')]);
    expect(outputs).toMatchObject({ url: '', result: 'not-ready', sha256: 'f00d\nf00d\nf00d' });
  });
});

const { logger } = fakePorts();

describe('writeOutputs', () => {
  test('writes the report to the log, the outputs and the summary', async () => {
    await inStep({}, async ({ env, outputs, summary, printed }) => {
      // No line of it is a command of the runner.
      const report = reportWith({ subject: 'a##[group].html' });
      await writeOutputs([report], env, logger);
      expect(printed()).toBe(`${reportText(report).replaceAll('##[', '## [')}\nReady: ${report.url}\n`);
      await expect(outputs()).resolves.toEqual(composeOutputs([report]));
      await expect(summary()).resolves.toContain('### ✅ Ready: ');
    });
  });

  test('names the file of the outputs that can not be written', async () => {
    await inStep({ GITHUB_OUTPUT: '/nowhere/output' }, async ({ env, summary }) => {
      await expect(writeOutputs([reportWith()], env, logger)).resolves.toMatch(
        /^Could not write the outputs of this step to the file of GITHUB_OUTPUT,.*: .+/,
      );
      await expect(summary()).resolves.toContain('ГОТОВО');
    });
  });
});
