import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { ToolAnswer } from '../../src/mcp/tool-answer.ts';
import { SIMULATED_TIME, writeFiles } from '../world/runner.ts';
import type { GitHubWorld } from '../world/world.ts';
import { CLI, NODE } from './scenario.ts';

/** The specification that the official client speaks: the one with a handshake, or the one without. */
export type ClientLine = '2025' | '2026';

/** A server in a folder of its own. */
export interface ServerStart {
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The server's fixed settings, besides its root. */
  readonly flags?: readonly string[];
  /** The user's decision on the page that the client shows; without it, the client can't ask. */
  readonly decide?: (question: { readonly url: string; readonly message: string }) => 'accept' | 'decline';
}

/** How a call reports its progress and is stopped. */
interface CallOptions {
  readonly onProgress?: (message: string) => void;
  readonly signal?: AbortSignal;
}

/** A server with an official client. */
export type ConnectedServer = Awaited<ReturnType<typeof connectClient>>;

/** The program, its arguments and its environment. */
export async function prepareServer(world: GitHubWorld, { files, env, flags = [] }: ServerStart) {
  const folder = await mkdtemp(join(world.folder, 'mcp-'));
  await writeFiles(folder, files ?? {});
  return {
    command: NODE,
    args: [CLI, 'mcp', '--root', folder, ...flags],
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...world.env, ...SIMULATED_TIME, ...env },
    cwd: folder,
    stderr: 'pipe' as const,
  };
}

/** Starts the server of the bundle and connects an official client of the given line. */
export async function connectClient(line: ClientLine, world: GitHubWorld, start: ServerStart = {}) {
  const prepared = await prepareServer(world, start);
  const transport = new StdioClientTransport(prepared);
  const { decide } = start;
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: decide === undefined ? {} : { elicitation: { url: {} } },
      versionNegotiation: { mode: line === '2025' ? 'legacy' : { pin: '2026-07-28' } },
    },
  );
  if (decide !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: decide(params as { url: string; message: string }),
    }));
  }
  let log = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  await client.connect(transport);
  return {
    folder: prepared.cwd,
    stderr: () => log,
    listTools: async () => (await client.listTools()).tools,
    async call(name: string, args: Record<string, unknown>, { onProgress, signal }: CallOptions = {}) {
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
    /** The JSON of a resource. */
    async read(uri: string): Promise<unknown> {
      const [found] = (await client.readResource({ uri })).contents as readonly { readonly text: string }[];
      return JSON.parse(found?.text ?? '');
    },
    close: () => client.close(),
  };
}
