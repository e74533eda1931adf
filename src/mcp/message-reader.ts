import { Transform } from 'node:stream';
import { INVALID_REQUEST, PARSE_ERROR, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { parseJson } from '../plain-text.ts';

/** The answer to a line that is no message. */
export interface MessageRefusal {
  /** `null` where the line has none that could be repeated. */
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

const ID = String.raw`"id"\s*:\s*(\d+|"[^"\\]*")`;

/** The id of a request of which only both ends are known: clients write it before or after everything else. */
const ID_AT_AN_END = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${ID}|${ID}\s*\}\s*$`);

/** Bytes of each end of a message that is too long. */
const END = 512;

/**
 * Passes on the lines that the library handles. What is none of its messages it would leave without an answer: that
 * is refused here, and reading goes on after it. Notifications and answers are never answered.
 *
 * @param limit bytes of the longest line; of a longer one only both ends are kept
 * @see https://www.jsonrpc.org/specification#error_object
 */
export function createMessageReader(limit: number, refuse: (refused: MessageRefusal) => void): Transform {
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer): void => {
    size += part.length;
    parts.push(part);
    if (size <= limit) return;
    const known = Buffer.concat(parts);
    parts = [Buffer.from(known.subarray(0, END)), Buffer.from(known.subarray(-END))];
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0;
      for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
        add(chunk.subarray(start, end + 1));
        const line = Buffer.concat(parts);
        const refused =
          size > limit ? refuseLongMessage(line.toString(), limit) : refuseMessage(line.toString());
        if (refused === null) this.push(line);
        else refuse(refused);
        [parts, size, start] = [[], 0, end + 1];
      }
      add(chunk.subarray(start));
      done();
    },
  });
}

function refuseLongMessage(ends: string, limit: number): MessageRefusal {
  const [, first, last] = ID_AT_AN_END.exec(ends) ?? [];
  const message = `the message is longer than ${limit} bytes: name a file instead of its content`;
  return refusal(parseJson(first ?? last ?? ''), INVALID_REQUEST, message);
}

function refuseMessage(line: string): MessageRefusal | null {
  const message = parseJson(line);
  if (line.trim() === '' || isMessage(message)) return null;
  if (message === undefined)
    return refusal(null, PARSE_ERROR, 'the line is not JSON: send one message a line');
  const fields: Readonly<Record<string, unknown>> = { ...Object(message) };
  const isNotification = typeof fields.method === 'string' && !('id' in fields);
  const isAnswer = fields.method === undefined && ('result' in fields || 'error' in fields);
  if (isNotification || isAnswer) return null;
  return refusal(
    fields.id,
    INVALID_REQUEST,
    'send one request a line, with `jsonrpc: "2.0"`, a `method`, as `id` a text or a whole number, and nothing else but `params`, an object',
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

const refusal = (id: unknown, code: number, message: string): MessageRefusal => ({
  id: typeof id === 'string' || typeof id === 'number' ? id : null,
  error: { code, message },
});
