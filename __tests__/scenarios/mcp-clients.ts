import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { ToolAnswer } from '../../src/mcp/tool-answer.ts';
import { SIMULATED_TIME, writeFiles } from '../world/runner.ts';
import type { GitHubWorld } from '../world/world.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const NODE = join(ROOT, 'node_modules/.bin/node');
export const CLI = join(ROOT, 'dist/cli.js');

/** The specification that the official client speaks: the one with a handshake, or the one without. */
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
  const transport = new StdioClientTransport(parameters);
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: start.decide === undefined ? {} : { elicitation: { url: {} } },
      versionNegotiation: { mode: line === '2025' ? 'legacy' : { pin: '2026-07-28' } },
    },
  );
  const { decide } = start;
  if (decide !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: decide(params as { url: string; message: string }),
    }));
  }
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const warnings: string[] = [];
  client.setNotificationHandler(
    'notifications/message',
    ({ params }) => void warnings.push(String(params.data)),
  );
  await client.connect(transport);
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
      const result = await client.callTool({ name, arguments: args }, options);
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
