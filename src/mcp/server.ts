import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  fromJsonSchema,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { TOOL } from '../protocol/words.ts';
import { toolContract } from '../request/commands.ts';
import type { ToolName } from '../request/inputs.ts';
import answerSchema from './answer.schema.json' with { type: 'json' };
import type { PersonRequest, ToolCall } from './authorizations.ts';
import type { CallQueue } from './call-queue.ts';
import type { McpSession } from './session.ts';
import { formatAnswer, isFailure, type ToolAnswer } from './tool-answer.ts';
import { createInputSchema, TOOLS, type ToolArguments } from './tools.ts';

const INSTRUCTIONS =
  'A file that exists only in your environment is not delivered until its https address is proven. Call `deliver`, and give your human `url` if it is not empty, else `reason` and `hint`. Read the resource screen-delivery://contract for the rules.';

const JSON_TYPE = 'application/json';

/** What every tool answers; generated from the type. */
const TOOL_ANSWER = fromJsonSchema<ToolAnswer>(answerSchema);

const QUESTION = 'authorization';

/** The server of one connection: its tools and resources. */
export function createServer(session: McpSession, queue: CallQueue): McpServer {
  const server = new McpServer(
    { name: TOOL.name, title: 'Screen Delivery', version: TOOL.version },
    { capabilities: { logging: {} }, instructions: INSTRUCTIONS },
  );
  for (const name of Object.keys(TOOLS) as ToolName[]) {
    const { title, description, annotations } = TOOLS[name];
    server.registerTool(
      name,
      {
        title,
        description,
        annotations: { title, ...annotations },
        inputSchema: createInputSchema(name, session.fixed),
        outputSchema: TOOL_ANSWER,
      },
      async (args: ToolArguments, context: ServerContext) => {
        const answer = await queue.run(readCall(name, args, context), context);
        const asked = 'authorization' in answer ? answer.authorization : undefined;
        const mayAsk = asked !== undefined && context.mcpReq.requestState() === undefined;
        return mayAsk && canOpenUrl(server, context) ? askPerson(asked) : toResult(answer);
      },
    );
  }
  registerResources(server, session);
  return server;
}

function readCall(tool: ToolName, args: ToolArguments, { mcpReq }: ServerContext): ToolCall {
  const { authorization, ...others } = args;
  const state = mcpReq.requestState<string>();
  const response = inputResponse(mcpReq.inputResponses, QUESTION);
  const given = authorization === undefined ? undefined : String(authorization);
  return {
    tool,
    args: others,
    handle: state ?? given,
    isDeclined: response.kind === 'elicit' && response.action !== 'accept',
  };
}

/** Whether the client shows a person an address and asks for their consent. */
function canOpenUrl({ server }: McpServer, { mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const declared = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()) as
    | ClientCapabilities
    | undefined;
  return declared?.elicitation?.url !== undefined;
}

/** Only the code and the host's own page are shown. @see protocol 5 (2) */
function askPerson({ userCode, page, handle }: PersonRequest): InputRequiredResult {
  return inputRequired({
    inputRequests: {
      [QUESTION]: inputRequired.elicitUrl({
        url: page,
        message: `To publish in your repository, open ${page} and enter the code ${userCode}`,
      }),
    },
    requestState: handle,
  });
}

function toResult(answer: ToolAnswer) {
  return {
    content: [{ type: 'text' as const, text: formatAnswer(answer) }],
    structuredContent: { ...answer },
    isError: isFailure(answer),
  };
}

function registerResources(server: McpServer, session: McpSession): void {
  const add = (name: string, about: { title: string; description: string }, read: () => unknown): void => {
    const uri = `${TOOL.name}://${name}`;
    server.registerResource(name, uri, { ...about, mimeType: JSON_TYPE }, async () => ({
      contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(read(), null, 2) }],
    }));
  };
  add(
    'contract',
    {
      title: 'The machine contract',
      description:
        'Channels, gates, limits, what is not a delivery, and what each error code means: the content of contract.json.',
    },
    toolContract,
  );
  add(
    'answers',
    {
      title: 'The last answers',
      description:
        'What the last calls of this server answered, the newest last. A call that was canceled gets no answer: here is what happened to it.',
    },
    () => session.ended,
  );
}
