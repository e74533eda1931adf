import { answerRequest } from '../context.ts';
import { findLiteralFiles } from '../delivery/find-files.ts';
import { composeDocument } from '../delivery/report.ts';
import type { authorizeDevice } from '../github/device-flow.ts';
import type { Ports } from '../ports.ts';
import { refuseUnsafeEnvironment } from '../request/environment.ts';
import { toolFace } from '../request/faces.ts';
import type { InputName } from '../request/inputs.ts';
import { createLocalRequest } from '../request/local-request.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { listInputs, toRawInputs } from './arguments.ts';
import { authorizationRequiredError, type PersonRequest, type ToolCall } from './authorizations.ts';
import type { McpSession } from './session.ts';
import type { ToolAnswer } from './tool-answer.ts';

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

/** The answer to a call that was refused before it could begin. */
export const refuseCall = (call: ToolCall, thrown: Error, session: McpSession): Promise<ToolAnswer> =>
  answerCall(call, Promise.reject(thrown), session, { ports: session.ports });

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
  refuseUnsafeEnvironment(env);
  const asked = toRawInputs(args, tool);
  const inputs = { ...asked, ...fixed, token };
  const context = {
    env,
    secrets,
    folder: roots[0],
    allowedRoots: roots,
    origin: 'from an agent',
    allowsFullPaths: false,
    findFiles: findLiteralFiles,
    // What the server was started with holds for every call, also for those that do not need it.
    given: Object.keys(asked) as InputName[],
  };
  return createLocalRequest(tool, inputs, context, ports);
}
