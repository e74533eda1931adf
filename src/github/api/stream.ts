import type { Readable } from 'node:stream';
import { sendUpload } from '../../http/upload.ts';
import type { Ports } from '../../ports.ts';
import type { CallTemplate } from '../../protocol/calls.ts';
import { API_VERSION, PROTOCOL } from '../../protocol/words.ts';
import type { GitHubClient } from './client.ts';
import { refusalError } from './failures.ts';
import { parseErrorBody } from './refusal.ts';

/** A call whose body is too large for memory, and so for Octokit. */
export interface StreamedCall {
  readonly call: CallTemplate;
  readonly url: URL;
  /** The body's Content-Type. */
  readonly type: string;
  /** Exact length of the body in bytes. */
  readonly length: number;
  /** Creates a new stream of the body. */
  readonly body: () => Readable;
}

/**
 * Streams a body to GitHub with the token, once, queued among the client's writes.
 *
 * @returns the JSON of a 201
 * @throws {DeliveryError} by status; `CONNECTION` when it is unknown what has arrived.
 */
export async function sendStreamed(
  github: GitHubClient,
  { call, url, type, length, body }: StreamedCall,
  ports: Ports,
): Promise<unknown> {
  const answer = await github.pace(() =>
    sendUpload(ports.http, {
      method: call.method,
      url,
      headers: {
        accept: `application/vnd.${PROTOCOL.vendor}+json`,
        authorization: `Bearer ${github.token}`,
        'content-type': type,
        'x-github-api-version': API_VERSION,
      },
      length,
      body,
      startProgress: () => ports.logger.progress('uploaded', length, 'bytes'),
      signal: ports.signal,
      clock: ports.clock,
    }),
  );
  if (answer.status === 201) return answer.json;
  const refusal = { status: answer.status, headers: answer.headers, ...parseErrorBody(answer.json) };
  throw refusalError(refusal, call, ports.clock.now());
}
