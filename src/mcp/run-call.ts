import { runRequest } from '../context.ts';
import { refusalReport } from '../delivery/compose-report.ts';
import { finishReport } from '../delivery/finish-report.ts';
import { composeDocument, type FullReport } from '../delivery/report.ts';
import type { Ports } from '../ports.ts';
import { refuseUnsafeEnvironment } from '../request/environment.ts';
import { toolFace } from '../request/faces.ts';
import type { InputName } from '../request/inputs.ts';
import { createLocalRequest } from '../request/local-request.ts';
import { listInputs, mergeArguments, toRawInputs } from './arguments.ts';
import type { PersonRequest, ToolCall } from './authorizations.ts';
import type { McpSession } from './session.ts';
import type { ToolAnswer } from './tool-answer.ts';

/** Does what a tool was called for. It never throws: a failure, or a stop, is an answer that says so. */
export async function runCall(call: ToolCall, session: McpSession, ports: Ports): Promise<ToolAnswer> {
  const { authorizations, env, fixed, secrets, roots, token } = session;
  const { tool, handle } = call;
  let args = call.args;
  let required: PersonRequest | undefined;
  let granted: string | undefined;
  try {
    if (handle !== undefined) {
      args = mergeArguments(args, authorizations.findArguments(handle, tool, ports.clock));
    }
    refuseUnsafeEnvironment(env);
    const asked = toRawInputs(args, tool);
    const inputs = { ...asked, ...fixed, token };
    const context = {
      ...{ env, secrets, folder: roots[0], allowedRoots: roots, files: inputs.file?.split('\n') ?? [] },
      ...{ origin: 'from an agent', allowsFullPaths: false },
      // What the server was started with holds for every call, also for those that do not need it.
      given: Object.keys(asked) as InputName[],
    };
    const request = await createLocalRequest(tool, inputs, context, ports);
    const reports = await runRequest(request, ports, {
      face: faceOf(call, session),
      async authorize(options, own) {
        const onRequired = (person: PersonRequest): void => {
          required = person;
        };
        granted = await authorizations.authorize({ ...call, args, onRequired }, options, own);
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
    return refuseCall({ ...call, args }, thrown, session);
  }
}

/** The words of a tool of this server. */
const faceOf = ({ tool }: ToolCall, { fixed }: McpSession) => toolFace(listInputs(tool, fixed));

const answerWith = (reports: readonly FullReport[], { redactor }: McpSession): ToolAnswer =>
  composeDocument(reports.map((report) => finishReport(report, redactor)));

/** The answer to a call that was refused before it could begin. */
export function refuseCall(call: ToolCall, thrown: unknown, session: McpSession): ToolAnswer {
  const asked = { ...toRawInputs(call.args, call.tool), operation: call.tool };
  return answerWith([refusalReport(asked, thrown, faceOf(call, session))], session);
}
