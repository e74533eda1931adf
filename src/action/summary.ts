import type { Report } from '../delivery/report.ts';
import { REPORT_LINES } from '../protocol/words.ts';

/**
 * The job summary: the link first, then gates with their evidence, the report and the timings.
 * Everything that came from outside is escaped.
 */
export function summaryOf(report: Report): string {
  return [
    heading(report),
    table(
      ['Gate', 'Passed', 'Evidence'],
      report.gates.map(({ name, passed, evidence }) => [name, passed ? '✅' : '❌', evidence]),
    ),
    table(
      ['Report', ''],
      REPORT_LINES.map((line) => [line, report.lines[line] || 'nothing: everything was verified']),
    ),
    timings(report),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

function heading({ file, notReady, url }: Report): string {
  const name = literal(file?.path ?? 'Delivery');
  if (notReady === null) return `### ${name}\n\n**ГОТОВО** → <${url}>`;
  const code = notReady.httpCode === null ? '' : `, HTTP ${notReady.httpCode}`;
  const change = notReady.hint === '' ? '' : `\n\n**To change:** ${literal(notReady.hint)}`;
  return `### ${name}\n\n**НЕ ГОТОВО** → ${literal(notReady.reason)} (step \`${notReady.step}\`${code})${change}`;
}

function timings({ took }: Report): string {
  const steps = Object.entries(took);
  if (steps.length === 0) return '';
  return table(
    ['Step', 'Seconds'],
    steps.map(([step, ms]) => [step, (ms / 1000).toFixed(1)]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(literal).join(' | ')} |`;
  return [line(head), `|${head.map(() => ' --- |').join('')}`, ...rows.map(line)].join('\n');
}

/** Text that Markdown and HTML show as it is, in one line. */
export function literal(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/[\\`*_{}[\]<>()#+!|~&]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
