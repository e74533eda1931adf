import type { Readable } from 'node:stream';
import type { Ports } from '../../ports.ts';
import type { CallTemplate } from '../../protocol/calls.ts';
import { PROTOCOL } from '../../protocol/words.ts';
import type { GitHubClient } from './client.ts';
import { sendCall } from './send-call.ts';

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
  const headers = { accept: `application/vnd.${PROTOCOL.vendor}+json`, 'content-type': type };
  const startProgress = () => ports.logger.progress('uploaded', length, 'bytes');
  const request = { url, headers, length, body, startProgress };
  return (await github.pace(() => sendCall(call, request, github, ports))).json;
}
