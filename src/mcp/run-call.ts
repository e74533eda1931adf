import { runRequest } from '../context.ts';
import { refusalReport } from '../delivery/compose-report.ts';
import { findLiteralFiles } from '../delivery/find-files.ts';
import { finishReport } from '../delivery/finish-report.ts';
import { composeDocument, type FullReport } from '../delivery/report.ts';
import type { Ports } from '../ports.ts';
import { refuseUnsafeEnvironment } from '../request/environment.ts';
import { toolFace } from '../request/faces.ts';
import type { InputName, ToolName } from '../request/inputs.ts';
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
  try {
    const args = authorizations.findArguments(call, ports.clock);
    begun = { ...call, args };
    const request = await createCallRequest(begun, session, ports);
    const reports = await runRequest(request, ports, {
      face: faceOf(call.tool, session),
      async authorize(options, own) {
        const result = await authorizations.authorize(begun, options, own);
        if (typeof result !== 'string') {
          required = result;
          throw authorizationRequiredError(result);
        }
        granted = result;
        return granted;
      },
    });
    if (granted !== undefined && reports.some(({ notReady }) => notReady?.code === 'BAD_TOKEN')) {
      authorizations.forget(granted);
    }
    const answer = answerWith(reports, session);
    if (required === undefined) return answer;
    return { ...answer, result: 'authorization_required', authorization: required };
  } catch (thrown) {
    return refuseCall(begun, thrown, session);
  }
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

const faceOf = (tool: ToolName, { fixed }: McpSession) => toolFace(listInputs(tool, fixed));

const answerWith = (reports: readonly FullReport[], { redactor }: McpSession): ToolAnswer =>
  composeDocument(reports.map((report) => finishReport(report, redactor)));

/** The answer to a call that was refused before it could begin. */
export function refuseCall({ tool, args }: ToolCall, thrown: unknown, session: McpSession): ToolAnswer {
  const asked = { ...toRawInputs(args, tool), operation: tool };
  return answerWith([refusalReport(asked, thrown, faceOf(tool, session))], session);
}
