import { Console } from 'node:console';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';
import { untilAborted } from '../async.ts';
import { createPorts } from '../context.ts';
import { stoppedError } from '../errors.ts';
import { MCP } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { toolContract } from '../request/commands.ts';
import type { ToolName } from '../request/inputs.ts';
import { systemClock } from '../system.ts';
import type { PersonRequest, ToolCall } from './authorizations.ts';
import { createCallLogger, McpSession, type McpSettings, writeLogLine } from './session.ts';
import { formatAnswer, type ToolAnswer } from './tool-answer.ts';
import { createInputSchema, TOOLS, type ToolArguments } from './tools.ts';

/** Serves MCP until stdin closes or the signal aborts, and all calls have ended. @throws {DeliveryError} */
export async function startServer(settings: McpSettings, signal: AbortSignal): Promise<void> {
  const { redactor } = settings;
  const stop = new AbortController();
  const logger = createCallLogger('server', redactor, systemClock);
  const session = new McpSession(settings, createPorts(settings.env, logger, stop.signal));
  // Libraries must not print to stdout, which carries protocol messages only.
  globalThis.console = new Console(process.stderr);
  const log = (line: string): void => writeLogLine(`${TOOL.name}: ${line}`, redactor);
  const limits = { maxBufferSize: MCP.message };
  const transport = new StdioServerTransport(process.stdin, process.stdout, limits);
  const handle = serveStdio(() => createServer(session), {
    transport,
    onerror: ({ message }) => log(message),
  });
  const closed = Promise.withResolvers<void>();
  const { onclose } = transport;
  // The client closed a pipe.
  transport.onclose = () => {
    onclose?.();
    closed.resolve();
  };
  log(`MCP server ${TOOL.version}, files below ${session.roots[0]}`);
  await untilAborted(signal, closed.promise).catch(() => undefined);
  stop.abort(stoppedError());
  await session.settle();
  // Answers of stopped calls are sent in the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  await handle.close();
}

const INSTRUCTIONS =
  'A file that exists only in your environment is not delivered until its https URL is verified. Call `deliver`, and tell your human `say`. Never give a URL that is not in `url`. The resource screen-delivery://contract has the rules.';

const JSON_TYPE = 'application/json';

/** Kept short, because clients list it with every tool. report.schema.json describes reports. */
const ANSWER_SCHEMA = z.strictObject({
  ...{ result: z.string(), url: z.string(), reason: z.string(), hint: z.string() },
  code: z.string().nullable(),
  reports: z.array(z.unknown()),
  say: z.string().describe('What to tell your human, in at most three sentences.'),
  authorization: z
    .unknown()
    .optional()
    .describe('Show your human `page` and `userCode` alone, then call again with `authorization`: `handle`.'),
} satisfies Record<keyof ToolAnswer, z.ZodType>);

const QUESTION = 'authorization';

function createServer(session: McpSession): McpServer {
  const server = new McpServer(
    { name: TOOL.name, title: 'Screen Delivery', version: TOOL.version },
    { instructions: INSTRUCTIONS },
  );
  for (const name of Object.keys(TOOLS) as ToolName[]) {
    const inputSchema = createInputSchema(name, session.settings.fixed);
    server.registerTool(
      name,
      { ...TOOLS[name], inputSchema, outputSchema: ANSWER_SCHEMA },
      async (args: ToolArguments, context: ServerContext) => {
        const answer = await session.run(readCall(name, args, context), context);
        const { authorization: asked } = answer;
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

function canOpenUrl({ server }: McpServer, { mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const declared = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()) as
    | ClientCapabilities
    | undefined;
  return declared?.elicitation?.url !== undefined;
}

/** Shows only the code and the host's own page. @see protocol 5 (2) */
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

const toResult = (answer: ToolAnswer) => ({
  content: [{ type: 'text' as const, text: formatAnswer(answer) }],
  structuredContent: { ...answer },
  isError: answer.result === 'not-ready',
});

function registerResources(server: McpServer, session: McpSession): void {
  const resources = [
    [
      'contract',
      'The machine contract',
      'Channels, gates, limits, what is not a delivery, and what each error code means: the content of contract.json.',
      toolContract,
    ],
    [
      'answers',
      'The last answers',
      'The answers to the last calls of this server, the newest last. A canceled call gets no answer, but its outcome is listed here.',
      () => session.ended,
    ],
  ] as const;
  for (const [name, title, description, read] of resources) {
    const uri = `${TOOL.name}://${name}`;
    server.registerResource(name, uri, { title, description, mimeType: JSON_TYPE }, async () => ({
      contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(read(), null, 2) }],
    }));
  }
}
