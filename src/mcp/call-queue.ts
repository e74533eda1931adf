import type { ServerContext } from '@modelcontextprotocol/server';
import { DeliveryError, stoppedError } from '../errors.ts';
import { MCP } from '../protocol/limits.ts';
import type { ToolCall } from './authorizations.ts';
import { createCallLogger, writeLogLine } from './call-log.ts';
import { refuseCall, runCall } from './run-call.ts';
import type { McpSession } from './session.ts';
import { formatAnswer, type ToolAnswer } from './tool-answer.ts';

/** The calls of one server that are under way. */
export class CallQueue {
  readonly #session: McpSession;
  readonly #running = new Set<Promise<ToolAnswer>>();
  #count = 0;

  constructor(session: McpSession) {
    this.#session = session;
  }

  /** Runs a call. It never throws. */
  async run(call: ToolCall, context: ServerContext): Promise<ToolAnswer> {
    if (this.#running.size >= MCP.calls) return refuseCall(call, busyError(), this.#session);
    this.#count += 1;
    const work = runAndTell(call, `${call.tool} ${this.#count}`, context, this.#session);
    this.#running.add(work);
    return work.finally(() => this.#running.delete(work));
  }

  /** Resolves once no call is under way. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}

/** A call that was canceled gets no answer: the log and the resource tell what happened to it. */
async function runAndTell(
  call: ToolCall,
  label: string,
  { mcpReq }: ServerContext,
  session: McpSession,
): Promise<ToolAnswer> {
  const { ports, redactor, ended } = session;
  const logger = createCallLogger(label, redactor, ports.clock, createProgressReporter(mcpReq));
  // The client's reason may be any text; a delivery is stopped by an abort.
  const stop = new AbortController();
  mcpReq.signal.addEventListener('abort', () => stop.abort(stoppedError()), { once: true });
  if (mcpReq.signal.aborted) stop.abort(stoppedError());
  const signal = AbortSignal.any([ports.signal, stop.signal]);
  const answer = await runCall(call, session, { ...ports, logger, signal });
  const canceled = mcpReq.signal.aborted;
  ended.push({ tool: call.tool, canceled, answer });
  if (ended.length > MCP.answers) ended.shift();
  const text = `${label}${canceled ? ', canceled' : ''}: ${formatAnswer(answer)}`;
  writeLogLine(text, redactor);
  if (canceled) await mcpReq.log('warning', redactor.redact(text), label).catch(() => undefined);
  return answer;
}

/** Sends lines as progress, if the client asked for it. A client that is gone is no failure. */
function createProgressReporter({ _meta, notify, signal }: ServerContext['mcpReq']) {
  const progressToken = _meta?.progressToken;
  let progress = 0;
  return (message: string): void => {
    if (progressToken === undefined || signal.aborted) return;
    progress += 1;
    const params = { progressToken, progress, message };
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

const busyError = (): DeliveryError =>
  new DeliveryError('RATE_LIMITED', `${MCP.calls} calls are under way already`, {
    step: 'check',
    hint: 'wait for one of them to end, or name several files in one call',
  });
