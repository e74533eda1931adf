import { toOneLine } from '../plain-text.ts';
import type { Clock, Logger } from '../ports.ts';
import { lineProgress } from '../progress.ts';
import { PROGRESS_INTERVAL } from '../protocol/limits.ts';
import type { Redactor } from '../redact.ts';

/** Writes one line of the server's log to stderr: stdout holds messages of the protocol only. */
export function writeLogLine(line: string, { redact }: Pick<Redactor, 'redact'>): void {
  process.stderr.write(`${toOneLine(redact(line))}\n`);
}

/**
 * The log of one call: on stderr with the call's name, and to the client as progress.
 *
 * @param report sends one line of progress to the client
 */
export function createCallLogger(
  call: string,
  redactor: Redactor,
  clock: Pick<Clock, 'now'>,
  report: (line: string) => void,
): Logger {
  const print = (line: string): void => {
    writeLogLine(`${call}: ${line}`, redactor);
    report(toOneLine(redactor.redact(line)));
  };
  return {
    info: print,
    warning: (line) => print(`warning: ${line}`),
    debug: () => undefined,
    startSection: print,
    endSection: () => undefined,
    mask: (secret) => redactor.addSecret(secret),
    progress: (title, total, unit) =>
      lineProgress({ title, total, unit, interval: PROGRESS_INTERVAL.mcp, clock, print }),
  };
}
