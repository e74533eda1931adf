import type { ServerContext } from '@modelcontextprotocol/server';
import type { Redactor } from '../credentials.ts';
import { toOneLine } from '../plain-text.ts';
import type { Clock, Logger } from '../ports.ts';
import { lineProgress } from '../progress.ts';
import { MCP, PROGRESS_INTERVAL } from '../protocol/limits.ts';

/** Sends a few lines as progress if the client requested it. Ignores clients that don't read. */
export function createProgressReporter({ _meta, notify, signal }: ServerContext['mcpReq']) {
  const progressToken = _meta?.progressToken;
  let progress = 0;
  return (message: string): void => {
    if (progressToken === undefined || signal.aborted || process.stdout.writableNeedDrain) return;
    if (progress === MCP.progress) return;
    progress += 1;
    const params = { progressToken, progress, message };
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

/** Writes a log line to stderr, because stdout carries protocol messages only. */
export function writeLogLine(line: string, { redact }: Pick<Redactor, 'redact'>): void {
  process.stderr.write(`${toOneLine(redact(line))}\n`);
}

/** Logs one call to stderr. @param report sends a step to the client as progress */
export function createCallLogger(
  call: string,
  redactor: Redactor,
  clock: Pick<Clock, 'now'>,
  report: (line: string) => void = () => undefined,
): Logger {
  const info = (line: string): void => writeLogLine(`${call}: ${line}`, redactor);
  const print = (line: string): void => {
    info(line);
    report(toOneLine(redactor.redact(line)));
  };
  return {
    info,
    warning: (line) => info(`warning: ${line}`),
    debug: info,
    startSection: print,
    endSection: () => undefined,
    mask: (secret) => redactor.addSecret(secret),
    progress: lineProgress(PROGRESS_INTERVAL.mcp, clock, print),
  };
}
