import type { ServerContext } from '@modelcontextprotocol/server';
import type { Redactor } from '../credentials.ts';
import { DeliveryError, stoppedError } from '../errors.ts';
import { toOneLine } from '../plain-text.ts';
import type { Clock, Logger } from '../ports.ts';
import { lineProgress } from '../progress.ts';
import { MCP, PROGRESS_INTERVAL } from '../protocol/limits.ts';
import type { ToolCall } from './authorizations.ts';
import { refuseCall, runCall } from './run-call.ts';
import type { McpSession } from './session.ts';
import { formatAnswer, type ToolAnswer } from './tool-answer.ts';

export interface CallQueue {
  /** Runs a call. It never throws. */
  run(call: ToolCall, context: ServerContext): Promise<ToolAnswer>;
  /** Resolves once no call is under way. */
  settle(): Promise<void>;
}

export function createCallQueue(session: McpSession): CallQueue {
  const running = new Set<Promise<ToolAnswer>>();
  let count = 0;
  return {
    async run(call, context) {
      if (running.size >= MCP.calls) return refuseCall(call, busyError(), session);
      count += 1;
      const work = runAndTell(call, `${call.tool} ${count}`, context, session);
      running.add(work);
      return work.finally(() => running.delete(work));
    },
    async settle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

/** A call that was canceled gets no answer: the log and the resource tell what happened to it. */
async function runAndTell(
  call: ToolCall,
  label: string,
  { mcpReq }: ServerContext,
  session: McpSession,
): Promise<ToolAnswer> {
  const { ports, redactor } = session;
  const report = createProgressReporter(mcpReq);
  const logger = createCallLogger(label, redactor, ports.clock, report);
  // The client's reason may be any text; a delivery is stopped by an abort.
  const stop = new AbortController();
  mcpReq.signal.addEventListener('abort', () => stop.abort(stoppedError()), { once: true });
  if (mcpReq.signal.aborted) stop.abort(stoppedError());
  const signal = AbortSignal.any([ports.signal, stop.signal]);
  const answer = await runCall(call, session, { ...ports, logger, signal });
  const canceled = mcpReq.signal.aborted;
  session.ended.push({ tool: call.tool, canceled, answer });
  if (session.ended.length > MCP.answers) session.ended.shift();
  const text = `${label}${canceled ? ', canceled' : ''}: ${formatAnswer(answer)}`;
  writeLogLine(text, redactor);
  if (canceled) await mcpReq.log('warning', redactor.redact(text), label).catch(() => undefined);
  return answer;
}

/**
 * Sends lines as progress, if the client asked for it. A client that is gone is no failure; one that does not read
 * gets no more than what already waits for it.
 */
function createProgressReporter({ _meta, notify, signal }: ServerContext['mcpReq']): (line: string) => void {
  const progressToken = _meta?.progressToken;
  let progress = 0;
  let unread = 0;
  return (message) => {
    if (progressToken === undefined || signal.aborted || unread >= MCP.progress) return;
    progress += 1;
    unread += 1;
    const params = { progressToken, progress, message };
    notify({ method: 'notifications/progress', params })
      .catch(() => undefined)
      .finally(() => {
        unread -= 1;
      });
  };
}

const busyError = (): DeliveryError =>
  new DeliveryError('RATE_LIMITED', `${MCP.calls} calls are under way already`, {
    step: 'check',
    hint: 'wait for one of them to end, or name several files in one call',
  });

/** Writes one line of the server's log to stderr: stdout holds messages of the protocol only. */
export function writeLogLine(line: string, { redact }: Pick<Redactor, 'redact'>): void {
  process.stderr.write(`${toOneLine(redact(line))}\n`);
}

/** The log of one call, on stderr with its name. @param report tells the client a line as progress */
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
    progress: lineProgress(PROGRESS_INTERVAL.mcp, clock, print),
  };
}
