import * as core from '@actions/core';
import { type Redactor, secretsIn } from '../credentials.ts';
import { toOneLine } from '../plain-text.ts';
import type { Clock, Logger } from '../ports.ts';
import { lineProgress } from '../progress.ts';
import { PROGRESS_INTERVAL } from '../protocol/limits.ts';

/** The job's log. Masks secrets in later lines, and escapes runner commands. */
export function createActionLogger(redactor: Redactor, clock: Clock): Logger {
  const safe = (text: string): string => escapeLogLine(redactor.redact(text));
  let isInSection = false;
  const endSection = (): void => {
    if (isInSection) core.endGroup();
    isInSection = false;
  };
  const info = (line: string): void => core.info(safe(line));
  return {
    info,
    warning: (line) => core.warning(safe(line)),
    debug: (line) => core.debug(safe(line)),
    startSection(title) {
      endSection();
      core.startGroup(safe(title));
      isInSection = true;
    },
    endSection,
    mask(given) {
      // The runner would hide a short value such as `17` everywhere in the log.
      for (const secret of secretsIn(given)) core.setSecret(secret);
      redactor.addSecret(given);
    },
    progress: lineProgress(PROGRESS_INTERVAL.action, clock, info),
  };
}

/** The runner shows this line and never runs it as a command. */
export function escapeLogLine(text: string): string {
  return toOneLine(text)
    .replace(/^(\s*)::/, '$1: :')
    .replaceAll('##[', '## [');
}
