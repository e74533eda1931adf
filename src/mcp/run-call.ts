import { runRequest } from '../context.ts';
import { refusalReport } from '../delivery/compose-report.ts';
import { finishReport } from '../delivery/finish-report.ts';
import { composeDocument, type FullReport } from '../delivery/report.ts';
import { type DeliveryError, toDeliveryError } from '../errors.ts';
import type { Logger, Ports } from '../ports.ts';
import { refuseUnsafeEnvironment } from '../request/environment.ts';
import { toolFace } from '../request/faces.ts';
import type { InputName, RawInputs, ToolName } from '../request/inputs.ts';
import { createLocalRequest, type DeliveryRequest, operationOf } from '../request/parse-request.ts';
import { findRepository, type SourceRepository } from '../request/source-repository.ts';
import { listInputs, mergeArguments, toRawInputs } from './arguments.ts';
import type { PersonRequest, ToolCall } from './authorizations.ts';
import type { McpSession } from './session.ts';
import type { ToolAnswer } from './tool-answer.ts';

/** Does what a tool was called for. It never throws: a failure, or a stop, is an answer that says so. */
export async function runCall(call: ToolCall, session: McpSession, ports: Ports): Promise<ToolAnswer> {
  let args = call.args;
  try {
    args = findArguments(call, session, ports);
    refuseUnsafeEnvironment(session.env);
    const request = await createCallRequest({ ...call, args }, session, ports);
    return await answerReports({ ...call, args }, request, session, ports);
  } catch (thrown) {
    return refuseCall({ ...call, args }, toDeliveryError(thrown).withStep('check'), session);
  }
}

function findArguments({ tool, args, handle }: ToolCall, { authorizations }: McpSession, { clock }: Ports) {
  if (handle === undefined) return args;
  return mergeArguments(args, authorizations.findArguments(handle, tool, clock));
}

/** @throws {DeliveryError} `BAD_INPUT` with what to change. */
async function createCallRequest(
  { tool, args }: ToolCall,
  session: McpSession,
  ports: Ports,
): Promise<DeliveryRequest> {
  const { env, fixed, secrets, roots } = session;
  const asked = toRawInputs(args, tool);
  const inputs: Partial<RawInputs> = { ...asked, ...fixed };
  const { sources, ...destination } = await findDestination(tool, inputs, session, ports.logger);
  return createLocalRequest(
    tool,
    { ...inputs, ...destination },
    {
      ...{ env, sources, secrets, folder: roots[0], allowedRoots: roots },
      ...{ origin: 'from an agent', allowsFullPaths: false, opensLinks: false },
      // What the server was started with holds for every call, also for those that do not need it.
      given: Object.keys(asked) as InputName[],
    },
    ports,
  );
}

/** Where it is published and with which token, and the repositories that the file may come from. */
async function findDestination(
  tool: ToolName,
  inputs: Partial<RawInputs>,
  { env, roots, token }: McpSession,
  logger: Logger,
): Promise<SourceRepository & { readonly token: string }> {
  if (tool === 'verify' || tool === 'check') return { token: '', repository: '', sources: [] };
  const query = { inputs, folder: roots[0], files: inputs.file?.split('\n') ?? [], env };
  return { token, ...(await findRepository(query, logger)) };
}

async function answerReports(
  call: ToolCall,
  request: DeliveryRequest,
  session: McpSession,
  ports: Ports,
): Promise<ToolAnswer> {
  const { authorizations } = session;
  let required: PersonRequest | undefined;
  let granted: string | undefined;
  const onRequired = (asked: PersonRequest): void => {
    required = asked;
  };
  const reports = await runRequest(request, ports, {
    face: faceOf(call.tool, session),
    checkOnly: call.tool === 'check',
    async authorize(options, own) {
      granted = await authorizations.authorize({ ...call, onRequired }, options, own);
      return granted;
    },
  });
  if (granted !== undefined && reports.some(({ notReady }) => notReady?.code === 'BAD_TOKEN')) {
    authorizations.forget(granted);
  }
  return answerWith(reports, session, required);
}

/** The words of a tool of this server. */
const faceOf = (tool: ToolName, { fixed }: McpSession) => toolFace(listInputs(tool, fixed));

function answerWith(
  reports: readonly FullReport[],
  { redactor }: McpSession,
  required?: PersonRequest,
): ToolAnswer {
  const answer = composeDocument(reports.map((report) => finishReport(report, redactor)));
  if (required === undefined) return answer;
  return { ...answer, result: 'authorization_required', authorization: required };
}

/** The answer to a call that was refused before it could begin. */
export function refuseCall(
  { tool, args }: ToolCall,
  failure: DeliveryError,
  session: McpSession,
): ToolAnswer {
  const subject = String(args.name ?? args.file ?? args.path ?? '');
  const report = refusalReport(subject, failure, operationOf(tool), faceOf(tool, session));
  return answerWith([report], session);
}
