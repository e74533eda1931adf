import type { Redactor } from '../credentials.ts';
import { toOneLine } from '../plain-text.ts';
import type { Clock, Logger } from '../ports.ts';
import { lineProgress } from '../progress.ts';
import { PROGRESS_INTERVAL } from '../protocol/limits.ts';

/** Writes one line of the server's log to stderr: stdout holds messages of the protocol only. */
export function writeLogLine(line: string, { redact }: Pick<Redactor, 'redact'>): void {
  process.stderr.write(`${toOneLine(redact(line))}\n`);
}

/** The log of one call, on stderr with its name. @param report tells the client a line as progress */
export function createCallLogger(
  call: string,
  redactor: Redactor,
  clock: Pick<Clock, 'now'>,
  report: (line: string) => void = () => undefined,
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
    progress: lineProgress(PROGRESS_INTERVAL.mcp, clock, print),
  };
}
