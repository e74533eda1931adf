import type { Readable } from 'node:stream';
import { upload } from '../http/upload.ts';
import type { Ports } from '../ports.ts';
import type { Call } from '../protocol/calls.ts';
import { PROTOCOL } from '../protocol/words.ts';
import type { GitHub } from './client.ts';
import { refusalBody, refusalFailure } from './failures.ts';

/** A call whose body is too long for memory. */
export interface Streaming {
  readonly call: Call;
  readonly url: URL;
  readonly type: string;
  /** Exact length of the body in bytes. */
  readonly length: number;
  /** A fresh stream of the body. */
  readonly body: () => Readable;
}

/**
 * Streams a body to GitHub with the token, once, in its turn among the client's writes.
 *
 * @returns the JSON of a 201
 * @throws {DeliveryError} by status; `CONNECTION` when it is unknown what has arrived.
 */
export async function streamFile(github: GitHub, asked: Streaming, ports: Ports): Promise<unknown> {
  const { call, url, type, length, body } = asked;
  const answer = await github.pace(() =>
    upload(ports.http, {
      method: call.method,
      url,
      headers: {
        accept: `application/vnd.${PROTOCOL.vendor}+json`,
        authorization: `Bearer ${github.token}`,
        'content-type': type,
      },
      length,
      body,
      meter: () => ports.logger.meter('uploaded', length, 'bytes'),
      signal: ports.signal,
      clock: ports.clock,
    }),
  );
  if (answer.status === 201) return answer.json;
  const refusal = { status: answer.status, headers: answer.headers, ...refusalBody(answer.json) };
  throw refusalFailure(refusal, call.does, ports.clock.now());
}
