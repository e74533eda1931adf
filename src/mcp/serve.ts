import { Console } from 'node:console';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';
import { untilAborted } from '../async.ts';
import { createPorts } from '../context.ts';
import { stoppedError } from '../errors.ts';
import type { PersonRequest } from '../github/person-authorization.ts';
import { machineContract } from '../protocol/contract.ts';
import { ERROR_CODES } from '../protocol/error-codes.ts';
import { MCP } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import type { ToolName } from '../request/inputs.ts';
import { systemClock } from '../system.ts';
import { createCallLogger, writeLogLine } from './call-log.ts';
import { McpSession, type McpSettings, type ToolCall } from './session.ts';
import { ANSWER_SCHEMA, LIST_SCHEMA, type ToolAnswer } from './tool-answer.ts';
import { createInputSchema, TOOLS, type ToolArguments, withoutNull } from './tools.ts';

/** Serves MCP until stdin closes or the signal aborts, and all calls have ended. @throws {DeliveryError} */
export async function startServer(settings: McpSettings, signal: AbortSignal): Promise<void> {
  const { redactor } = settings;
  const stop = new AbortController();
  const logger = createCallLogger('server', redactor, systemClock);
  const session = new McpSession(settings, createPorts(settings.env, logger, stop.signal));
  // Libraries must not print to stdout, which carries protocol messages only.
  globalThis.console = new Console(process.stderr);
  const log = (line: string): void => writeLogLine(`${TOOL.name}: ${line}`, redactor);
  const onerror = ({ message }: Error): void => log(message);
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MCP.message });
  const handle = serveStdio(() => createServer(session), { transport, onerror });
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

const INSTRUCTIONS = [
  'Your human can see a page or file of yours only at a public https URL. `deliver` publishes it, verifies it, and only then returns `url`.',
  'Repeat `say` to your human after each call: it has the facts in plain words. `hint` is for you alone.',
  'Never give a URL that is not in `url`, and never compose one.',
  'Everything is public. Deliver nothing that is secret or personal.',
  'If a call is refused, change the content as `hint` says, or ask your human. Never look for a way around a refusal.',
  'To correct a page, deliver the same file or name again: its URL stays.',
].join(' ');

const JSON_TYPE = 'application/json';

const QUESTION = 'authorization';

function createServer(session: McpSession): McpServer {
  const server = new McpServer(
    { name: TOOL.name, title: 'Screen Delivery', version: TOOL.version },
    { instructions: INSTRUCTIONS },
  );
  for (const name of Object.keys(TOOLS) as ToolName[]) {
    const inputSchema = z.preprocess(withoutNull, createInputSchema(name, session.settings.fixed));
    server.registerTool(
      name,
      { ...TOOLS[name], inputSchema, outputSchema: name === 'list' ? LIST_SCHEMA : ANSWER_SCHEMA },
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
  const response = inputResponse(mcpReq.inputResponses, QUESTION);
  return { tool, args, isDeclined: response.kind === 'elicit' && response.action !== 'accept' };
}

function canOpenUrl({ server }: McpServer, { mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const declared = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()) as
    | ClientCapabilities
    | undefined;
  return declared?.elicitation?.url !== undefined;
}

/** Shows only the code and the host's own page. @see protocol 5 (2) */
function askPerson({ userCode, page }: PersonRequest): InputRequiredResult {
  return inputRequired({
    inputRequests: {
      [QUESTION]: inputRequired.elicitUrl({
        url: page,
        message: `To publish in your repository, open ${page} and enter the code ${userCode}`,
      }),
    },
    requestState: QUESTION,
  });
}

const toResult = (answer: ToolAnswer) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(answer) }],
  structuredContent: { ...answer },
  isError: answer.result === 'not-ready',
});

function registerResources(server: McpServer, session: McpSession): void {
  const resources = [
    [
      'contract',
      'The machine contract',
      'Channels, gates, limits, what is not a delivery, and what each error code means.',
      () => ({ ...machineContract(), error_codes: ERROR_CODES }),
    ],
    [
      'answers',
      'The last answers',
      'The outcome of the last calls of this server, the newest last, also of canceled calls.',
      () =>
        session.ended.map(({ tool, canceled, answer: { result, say, hint, report } }) => {
          return { tool, canceled, result, say, hint, report };
        }),
    ],
  ] as const;
  for (const [name, title, description, read] of resources) {
    const uri = `${TOOL.name}://${name}`;
    const about = { title, description, mimeType: JSON_TYPE };
    server.registerResource(name, uri, about, async () => toContents(uri, read()));
  }
  const reports = new ResourceTemplate(`${TOOL.name}://reports/{call}`, { list: undefined });
  const about = { title: 'A report', description: 'The whole report of a recent call.', mimeType: JSON_TYPE };
  server.registerResource('reports', reports, about, async ({ href }) => {
    const found = session.ended.find(({ answer }) => answer.report === href);
    return toContents(href, found?.document ?? 'This report is no longer kept.');
  });
}

const toContents = (uri: string, content: unknown) => ({
  contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(content, null, 2) }],
});
