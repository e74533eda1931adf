import { expect } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import type { ChannelKey, Step } from '../../src/protocol/words.ts';
import { PUBLIC_ADDRESS } from '../world/public-address.ts';
import type { ActionResult } from '../world/runner.ts';
import type { DeliveredStep, ScenarioWorld } from './scenario.ts';

/** A step of the action, and the reports that it left. */
type PlayedStep = Omit<DeliveredStep, 'repository'>;

/** Everything that a step printed, and its outputs and summary. */
export function collectOutput({ stdout, stderr, outputs, summary }: ActionResult): string {
  // The runner removes the mask commands from the log.
  const log = stdout.replace(/^::add-mask::.*\n/gm, '');
  return [log, stderr, ...Object.values(outputs), summary].join('\n');
}

/**
 * Finds what a runner would execute as a command: `::name …::` at the start of a line, else `##[name …]` anywhere in it.
 *
 * @see https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
 */
export function parseRunnerCommands(stdout: string): string[] {
  return stdout.split(/\r?\n/).flatMap((line) => {
    const [, name] = /^\s*::([^\s:]*).*?::/.exec(line) ?? /##\[(\S*)/.exec(line) ?? [];
    return name === undefined ? [] : [name];
  });
}

/** Checks that the report's lines, the outputs, the summary and the log agree. */
function expectConsistentReport(delivered: PlayedStep): void {
  const { outputs, report, stdout, stderr } = delivered;
  expect(stderr).toBe('');
  const lines = Object.entries(report.lines).map(([name, text]) => `${name}: ${text}`.trimEnd());
  expect(lines.map((line) => line.slice(0, line.indexOf(':')))).toEqual([
    'CLAIM',
    'CODE',
    'TEST',
    'RESULT',
    'UNKNOWN',
  ]);
  expect(outputs.report).toBe(lines.join('\n'));
  // No text from outside can add a second result.
  expect(stdout.match(/^RESULT: .*/gm)).toHaveLength(1);
  for (const line of lines) expect(stdout).toContain(line.replaceAll('##[', '## ['));
  expect(outputs.channel).toBe(report.channel ?? '');
  expect(outputs['commit-sha']).toBe(report.commitSha ?? '');
  expect(outputs.sha256).toBe(report.file?.sha256 ?? '');
  expect(outputs.size).toBe(String(report.file?.size ?? ''));
  // The glob library writes debug lines.
  const own = ['add-mask', 'group', 'endgroup', 'error', 'warning', 'debug'];
  expect(parseRunnerCommands(stdout).filter((name) => !own.includes(name))).toEqual([]);
}

/** UNKNOWN without the entry that no browser has opened the page: only few scenarios have a browser. */
export const listUnproven = ({ unknown }: Report): string =>
  unknown.filter((entry) => !/^(?:K1: )?whether a browser shows the page: /.test(entry)).join('; ');

interface ExpectedReady {
  readonly channel: ChannelKey;
  /** The expected answer of the URL. */
  readonly shows: string | Buffer;
  readonly url?: string | RegExp;
  /** The UNKNOWN line; empty by default. */
  readonly unknown?: RegExp;
}

/** Checks that the step is ready everywhere, and that its URL shows the file without credentials. */
export async function expectReady(
  scenario: ScenarioWorld,
  delivered: PlayedStep,
  expected: ExpectedReady,
): Promise<void> {
  const { outputs, report, exitCode, stdout, summary } = delivered;
  expect(report.notReady).toBeNull();
  expect({ exitCode, result: outputs.result }).toEqual({ exitCode: 0, result: 'ready' });
  expectConsistentReport(delivered);
  expect(report.gates.map(({ passed }) => passed)).toEqual([true, true, true, true]);
  expect(report.channel).toBe(expected.channel);
  const { url = '' } = outputs;
  expect(report.url).toBe(url);
  expect(url).toMatch(/^https:\/\//);
  if (expected.url instanceof RegExp) expect(url).toMatch(expected.url);
  if (typeof expected.url === 'string') expect(url).toBe(expected.url);
  expect(report.lines.RESULT).toBe(`ГОТОВО → ${url}`);
  expect(summary).toContain(`\n\n<${url}>`);
  if (expected.unknown === undefined) expect(listUnproven(report)).toBe('');
  else expect(listUnproven(report)).toMatch(expected.unknown);
  // No URL is printed before the report.
  expect(stdout.indexOf(url)).toBeGreaterThan(stdout.indexOf('\nCLAIM: '));
  expect((await scenario.fetchPublic(url)).equals(Buffer.from(expected.shows))).toBe(true);
}

/** Checks that the step is not ready, names step and reason, and has no URL; by default the exit code is 1. */
export function expectNotReady(
  delivered: PlayedStep,
  step: Step,
  reason: RegExp,
  expected: { readonly httpCode?: number | null; readonly hint?: RegExp; readonly exitCode?: number } = {},
): void {
  const { outputs, report, exitCode, stdout, summary } = delivered;
  const { notReady } = report;
  expect(notReady?.reason).toMatch(reason);
  expect(notReady?.step).toBe(step);
  if (expected.httpCode !== undefined) expect(notReady?.httpCode).toBe(expected.httpCode);
  if (expected.hint !== undefined) expect(notReady?.hint).toMatch(expected.hint);
  expect({ exitCode, result: outputs.result }).toEqual({
    exitCode: expected.exitCode ?? 1,
    result: 'not-ready',
  });
  expectConsistentReport(delivered);
  expect(report.ready).toBe(false);
  expect(report.gates.at(-1)?.passed).toBe(false);
  expect(outputs).toMatchObject({ url: '', 'raw-url': '', 'duplicate-url': '' });
  expect(collectOutput(delivered)).not.toMatch(PUBLIC_ADDRESS);
  const where = notReady?.httpCode == null ? '' : `, HTTP ${notReady.httpCode}`;
  const said = notReady?.reason.replace(/[\s\p{Cc}]+/gu, ' ');
  expect(report.lines.RESULT).toContain(`НЕ ГОТОВО → ${said} (step ${notReady?.step}${where})`);
  expect(report.lines.UNKNOWN).not.toBe('');
  expect(summary).toContain('### ❌ Not ready: ');
  expect(parseRunnerCommands(stdout).filter((name) => name === 'error')).toHaveLength(exitCode === 0 ? 0 : 1);
}
