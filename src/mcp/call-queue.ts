import type { ServerContext } from '@modelcontextprotocol/server';
import { answerRequest } from '../context.ts';
import { composeDocument } from '../delivery/report.ts';
import { DeliveryError, stoppedError } from '../errors.ts';
import type { authorizeDevice } from '../github/device-flow.ts';
import type { Ports } from '../ports.ts';
import { MCP } from '../protocol/limits.ts';
import { toolFace } from '../request/faces.ts';
import type { InputName } from '../request/inputs.ts';
import { createLocalRequest } from '../request/local-request.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { authorizationRequiredError, type PersonRequest, type ToolCall } from './authorizations.ts';
import { createCallLogger, type McpSession, writeLogLine } from './session.ts';
import { formatAnswer, type ToolAnswer } from './tool-answer.ts';
import { listInputs, toRawInputs } from './tools.ts';

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
    if (this.#running.size >= MCP.calls) {
      return answerCall(call, Promise.reject(busyError()), this.#session, { ports: this.#session.ports });
    }
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

/** Sends lines as progress, if the client asked for it. One that is gone is no failure; one that reads none misses some. */
function createProgressReporter({ _meta, notify, signal }: ServerContext['mcpReq']) {
  const progressToken = _meta?.progressToken;
  let progress = 0;
  return (message: string): void => {
    if (progressToken === undefined || signal.aborted || process.stdout.writableNeedDrain) return;
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

/** Does what a tool was called for. It never throws: a failure, or a stop, is an answer that says so. */
export async function runCall(call: ToolCall, session: McpSession, ports: Ports): Promise<ToolAnswer> {
  const { authorizations } = session;
  let begun = call;
  let required: PersonRequest | undefined;
  let granted: string | undefined;
  const createRequest = async (): Promise<DeliveryRequest> => {
    begun = { ...call, args: authorizations.findArguments(call, ports.clock) };
    return createCallRequest(begun, session, ports);
  };
  const authorize: typeof authorizeDevice = async (options, own) => {
    const result = await authorizations.authorize(begun, options, own);
    if (typeof result !== 'string') {
      required = result;
      throw authorizationRequiredError(result);
    }
    granted = result;
    return granted;
  };
  const answer = await answerCall(call, createRequest(), session, { ports, authorize });
  if (granted !== undefined && answer.reports.some(({ notReady }) => notReady?.code === 'BAD_TOKEN')) {
    authorizations.forget(granted);
  }
  if (required === undefined) return answer;
  return { ...answer, result: 'authorization_required', authorization: required };
}

async function answerCall(
  { tool, args }: ToolCall,
  request: Promise<DeliveryRequest>,
  { redactor, fixed }: McpSession,
  { ports, ...parts }: { readonly ports: Ports; readonly authorize?: typeof authorizeDevice },
): Promise<ToolAnswer> {
  const reports = await answerRequest(request, ports, {
    asked: { ...toRawInputs(args, tool), operation: tool },
    redactor,
    face: toolFace(listInputs(tool, fixed)),
    ...parts,
  });
  return composeDocument(reports);
}

async function createCallRequest(
  { tool, args }: ToolCall,
  { env, fixed, secrets, roots, token }: McpSession,
  ports: Ports,
): Promise<DeliveryRequest> {
  const asked = toRawInputs(args, tool);
  const inputs = { ...asked, ...fixed, token };
  const context = {
    env,
    secrets,
    folder: roots[0],
    allowedRoots: roots,
    origin: 'from an agent',
    allowsFullPaths: false,
    // What the server was started with holds for every call, also for those that do not need it.
    given: Object.keys(asked) as InputName[],
  };
  return createLocalRequest(tool, inputs, context, ports);
}
