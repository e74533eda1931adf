import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client as Client2026 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Transport2026 } from '@modelcontextprotocol/client/stdio';
import { Client as Client2025 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Transport2025 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ToolAnswer } from '../../src/mcp/tool-answer.ts';
import { SIMULATED_TIME, writeFiles } from '../world/runner.ts';
import type { GitHubWorld } from '../world/world.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const NODE = join(ROOT, 'node_modules/.bin/node');
export const CLI = join(ROOT, 'dist/cli.js');

/** The lines of official clients, by the specification that they speak. */
export type ClientLine = '2025' | '2026';

/** A server in a folder of its own. */
export interface ServerStart {
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** What the person decides whom the client shows an address; without it the client offers none. */
  readonly decide?: (question: { readonly url: string; readonly message: string }) => 'accept' | 'decline';
}

/** What one call of a tool returned. */
export interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
  readonly answer: ToolAnswer;
}

/** A call's way to be followed and to be stopped. */
export interface CallOptions {
  readonly onProgress?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/** A server with an official client. */
export interface ConnectedServer {
  readonly folder: string;
  readonly stderr: () => string;
  /** The warnings that the client got. */
  readonly warnings: readonly string[];
  listTools(): Promise<readonly ListedTool[]>;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  /** The JSON of a resource. */
  read(uri: string): Promise<unknown>;
  close(): Promise<void>;
}

/** A tool as a client sees it. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: { readonly properties?: Readonly<Record<string, unknown>> | undefined };
  readonly outputSchema?: object | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

/** The program, its arguments and its environment. */
export async function prepareServer(world: GitHubWorld, { files, env, flags = [] }: ServerStart) {
  const folder = await mkdtemp(join(world.folder, 'mcp-'));
  await writeFiles(folder, files ?? {});
  return {
    command: NODE,
    args: [CLI, 'mcp', ...(flags.includes('--root') ? [] : ['--root', folder]), ...flags],
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...world.env, ...SIMULATED_TIME, ...env },
    cwd: folder,
    stderr: 'pipe' as const,
  };
}

/** Starts the server of the bundle and connects an official client of the given line. */
export async function connectClient(
  line: ClientLine,
  world: GitHubWorld,
  start: ServerStart = {},
): Promise<ConnectedServer> {
  const parameters = await prepareServer(world, start);
  const [transport, client] = line === '2025' ? create2025(parameters, start) : create2026(parameters, start);
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const warnings: string[] = [];
  const warn = ({ params }: { readonly params: { readonly data?: unknown } }): void =>
    void warnings.push(String(params.data));
  if (client instanceof Client2025) client.setNotificationHandler(LoggingMessageNotificationSchema, warn);
  else client.setNotificationHandler('notifications/message', warn);
  await (client as Client2025).connect(transport as Transport2025);
  return {
    folder: parameters.cwd,
    stderr: () => log,
    warnings,
    listTools: async () => (await client.listTools()).tools as readonly ListedTool[],
    async call(name, args, { onProgress, signal } = {}) {
      const options = {
        timeout: 100_000,
        ...(signal === undefined ? {} : { signal }),
        onprogress: ({ message = '' }: { readonly message?: string | undefined }) => onProgress?.(message),
      };
      const request = { name, arguments: args };
      const result =
        client instanceof Client2025
          ? await client.callTool(request, undefined, options)
          : await client.callTool(request, options);
      const [first] = result.content as readonly { readonly text: string }[];
      return {
        isError: result.isError === true,
        text: first?.text ?? '',
        answer: result.structuredContent as unknown as ToolAnswer,
      };
    },
    async read(uri) {
      const [found] = (await client.readResource({ uri })).contents as readonly { readonly text: string }[];
      return JSON.parse(found?.text ?? '');
    },
    close: () => client.close(),
  };
}

const ABOUT = { name: 'test', version: '1.0.0' };

type ServerParameters = Awaited<ReturnType<typeof prepareServer>>;

function create2025(parameters: ServerParameters, { decide }: ServerStart): [Transport2025, Client2025] {
  const capabilities = decide === undefined ? {} : { elicitation: { url: {} } };
  const client = new Client2025(ABOUT, { capabilities });
  if (decide !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
      action: decide(params as { url: string; message: string }),
    }));
  }
  return [new Transport2025(parameters), client];
}

function create2026(parameters: ServerParameters, { decide }: ServerStart): [Transport2026, Client2026] {
  const capabilities = decide === undefined ? {} : { elicitation: { url: {} } };
  const client = new Client2026(ABOUT, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  if (decide !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: decide(params as { url: string; message: string }),
    }));
  }
  return [new Transport2026(parameters), client];
}
