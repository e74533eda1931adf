import { Transform } from 'node:stream';
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  PARSE_ERROR,
  parseJSONRPCMessage,
} from '@modelcontextprotocol/server';

/** The answer to a line that is no message. */
export interface MessageRefusal {
  /** `null` where the line has none that could be repeated. */
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

/**
 * What a client is told that sent something else than a message of MCP: the library would leave it without an answer.
 * Notifications and answers never get one.
 *
 * @returns `null` for what the library handles
 * @see https://www.jsonrpc.org/specification#error_object
 */
export function refuseMessage(line: string): MessageRefusal | null {
  if (line.trim() === '') return null;
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return refusal(null, PARSE_ERROR, 'the line is not JSON: send one message a line');
  }
  if (isMessage(message)) return null;
  if (Array.isArray(message)) {
    return refusal(null, INVALID_REQUEST, 'a batch is not supported: send one message a line');
  }
  const fields = { ...(message as Readonly<Record<string, unknown>>) };
  const { method, id } = fields;
  const isNotification = typeof method === 'string' && !('id' in fields);
  const isAnswer = method === undefined && ('result' in fields || 'error' in fields);
  if (isNotification || isAnswer) return null;
  const repeated = typeof id === 'string' || typeof id === 'number' ? id : null;
  if (isMessage({ ...fields, params: undefined })) {
    return refusal(repeated, INVALID_PARAMS, '`params` must be an object, with what MCP has in its `_meta`');
  }
  return refusal(
    repeated,
    INVALID_REQUEST,
    'a request needs `jsonrpc: "2.0"`, a `method`, and as `id` a text or a whole number, and has nothing else but `params`',
  );
}

function isMessage(value: unknown): boolean {
  try {
    parseJSONRPCMessage(value);
    return true;
  } catch {
    return false;
  }
}

const refusal = (id: MessageRefusal['id'], code: number, message: string): MessageRefusal => ({
  id,
  error: { code, message },
});

/**
 * Passes on the lines that the library handles.
 *
 * @param limit bytes after which a line is passed on although it has not ended: the library then ends the connection
 */
export function createMessageFilter(limit: number, refuse: (refused: MessageRefusal) => void): Transform {
  let begun: Buffer[] = [];
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0;
      for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
        const line = Buffer.concat([...begun, chunk.subarray(start, end + 1)]);
        const refused = refuseMessage(line.toString());
        if (refused === null) this.push(line);
        else refuse(refused);
        [begun, size, start] = [[], 0, end + 1];
      }
      begun.push(chunk.subarray(start));
      size += chunk.length - start;
      if (size > limit) {
        this.push(Buffer.concat(begun));
        [begun, size] = [[], 0];
      }
      done();
    },
  });
}
