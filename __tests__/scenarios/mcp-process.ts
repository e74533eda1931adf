import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { GitHubWorld } from '../world/world.ts';
import { prepareServer, type ServerStart } from './mcp-clients.ts';

/** The first message of a client of the 2025 specification. */
export const INITIALIZE = {
  id: 2,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

export const toLine = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

/** The server without a client: every line of its stdout must be a message. */
export async function startProcess(world: GitHubWorld, start: ServerStart = {}) {
  const { command, args, ...options } = await prepareServer(world, start);
  const child = spawn(command, args, { ...options, stdio: 'pipe' });
  const messages: { readonly id?: number | string | null }[] = [];
  let log = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    messages.push(JSON.parse(line));
    child.stdout.emit('message');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
    child.stderr.emit('logged');
  });
  // What is written to a process that has ended fails.
  child.stdin.on('error', () => undefined);
  return {
    write: (text: string) => child.stdin.write(text),
    end: () => child.stdin.end(),
    /** Reads no more: what the server writes then fails. */
    closeStdout: () => child.stdout.destroy(),
    kill: () => child.kill('SIGTERM'),
    stderr: () => log,
    /** All messages until now. */
    messages: () => [...messages],
    async logged(pattern: RegExp) {
      while (!pattern.test(log)) await once(child.stderr, 'logged');
    },
    exitCode: once(child, 'close').then(([code]) => code as number | null),
    async answerTo(id: number) {
      for (;;) {
        const found = messages.find((message) => message.id === id);
        if (found !== undefined) return found;
        await once(child.stdout, 'message');
      }
    },
  };
}
