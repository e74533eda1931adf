import * as core from '@actions/core';
import { lineMeter } from '../meter.ts';
import type { Clock, Logger } from '../ports.ts';
import { METER_LINES } from '../protocol/limits.ts';
import type { Redactor } from '../redact.ts';

/**
 * The job's log. A secret is masked before anything else is said; no line can carry a credential, or be read
 * by the runner as a command.
 */
export function actionLogger(redactor: Redactor, clock: Clock): Logger {
  const safe = (text: string): string => plainLine(redactor.redact(text));
  const info = (line: string): void => core.info(safe(line));
  return {
    info,
    warning: (line) => core.warning(safe(line)),
    group: (title, work) => core.group(safe(title), work),
    mask(secret) {
      if (secret === '') return;
      core.setSecret(secret);
      redactor.keep(secret);
    },
    meter: (title, total, unit) => lineMeter(title, total, unit, METER_LINES.action, clock, info),
  };
}

/** One line that the runner takes for text and nothing else. */
export function plainLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/^(\s*)::/, '$1: :')
    .replaceAll('##[', '## [');
}
