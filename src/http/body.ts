import type { Readable } from 'node:stream';
import { DeliveryError } from '../errors.ts';
import type { HttpResponse } from '../ports.ts';

/**
 * Reads a short answer to its end.
 *
 * @param limit bytes above which the answer is refused and dropped
 * @throws {DeliveryError} `HOST_ERROR` when the answer is longer.
 */
export async function readText(body: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      throw new DeliveryError(
        'HOST_ERROR',
        `an answer was longer than the ${limit} bytes that are read of it`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Lets go of an answer whose body is of no interest. */
export function discard(answer: HttpResponse): void {
  answer.body.on('error', () => undefined).destroy();
}
