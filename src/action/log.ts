import * as core from '@actions/core';
import type { Logger, Redact } from '../ports.ts';

/**
 * The job's log. The token is masked before the first line; no line can carry a credential, or be read
 * by the runner as a command.
 */
export function actionLogger(token: string, redact: Redact): Logger {
  if (token !== '') core.setSecret(token);
  const safe = (text: string): string => plainLine(redact(text));
  return {
    info: (line) => core.info(safe(line)),
    warning: (line) => core.warning(safe(line)),
    group: (title, work) => core.group(safe(title), work),
  };
}

/** One line that the runner takes for text and nothing else. */
export function plainLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/^(\s*)::/, '$1: :')
    .replaceAll('##[', '## [');
}
