import { Console } from 'node:console';
import { Transform } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { untilAborted } from '../async.ts';
import { stoppedError } from '../errors.ts';
import { createHttpClient } from '../http/client.ts';
import { MCP } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { random, systemClock } from '../system.ts';
import { CallQueue } from './call-queue.ts';
import { createServer } from './server.ts';
import { createSession, type McpSettings, writeLogLine } from './session.ts';

/**
 * Serves MCP on stdin and stdout until the client closes stdin or the signal aborts. Calls that are under way are
 * stopped, and end in order before this resolves.
 *
 * @throws {DeliveryError} `BAD_INPUT` where the root is no folder.
 */
export async function startServer(settings: McpSettings): Promise<void> {
  const stop = new AbortController();
  const session = createSession(settings, {
    http: createHttpClient(),
    clock: systemClock,
    random,
    signal: stop.signal,
  });
  // Whatever a library prints must not be taken for a message.
  globalThis.console = new Console(process.stderr);
  const log = (line: string): void => writeLogLine(`${TOOL.name}: ${line}`, session.redactor);
  const queue = new CallQueue(session);
  const messages = joinLines(MCP.message);
  process.stdin.on('error', (failure) => messages.destroy(failure)).pipe(messages);
  const transport = new StdioServerTransport(messages, process.stdout, { maxBufferSize: 2 * MCP.message });
  const handle = serveStdio(() => createServer(session, queue), {
    transport,
    onerror: ({ message }) => log(message),
  });
  const closed = Promise.withResolvers<void>();
  const { onclose } = transport;
  // The client closed stdin, or can't be written to any more.
  transport.onclose = () => {
    onclose?.();
    closed.resolve();
  };
  log(`MCP server ${TOOL.version}, files below ${session.roots[0]}`);
  await untilAborted(settings.signal, closed.promise).catch(() => undefined);
  stop.abort(stoppedError());
  await queue.settle();
  // The answers of calls that a signal stopped are sent in the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  await handle.close();
}

/** Passes on whole lines: with each part of one, the library would search all parts again. @param limit bytes of a line */
function joinLines(limit: number): Transform {
  let parts: Buffer[] = [];
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      parts.push(chunk);
      size += chunk.length;
      if (chunk.includes('\n')) {
        this.push(Buffer.concat(parts));
        [parts, size] = [[], 0];
      }
      done(size > limit ? new Error(`a message is longer than ${limit} bytes`) : null);
    },
  });
}
