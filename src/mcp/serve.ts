import { Console } from 'node:console';
import { Transform } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { untilAborted } from '../async.ts';
import { createPorts } from '../context.ts';
import { stoppedError } from '../errors.ts';
import { MCP } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { systemClock } from '../system.ts';
import { CallQueue } from './call-queue.ts';
import { createServer } from './server.ts';
import { createCallLogger, createSession, type McpSettings, writeLogLine } from './session.ts';

/**
 * Serves MCP on stdin and stdout until the client closes stdin or the signal aborts. Calls that are under way are
 * stopped, and end in order before this resolves.
 *
 * @throws {DeliveryError} `BAD_INPUT` where the root is no folder.
 */
export async function startServer(settings: McpSettings, signal: AbortSignal): Promise<void> {
  const { redactor } = settings;
  const stop = new AbortController();
  const logger = createCallLogger('server', redactor, systemClock);
  const session = createSession(settings, createPorts(logger, stop.signal));
  // Whatever a library prints must not be taken for a message.
  globalThis.console = new Console(process.stderr);
  const log = (line: string): void => writeLogLine(`${TOOL.name}: ${line}`, redactor);
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
  await untilAborted(signal, closed.promise).catch(() => undefined);
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
