import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { untilAborted } from '../async.ts';
import { DeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { CONTENT, MEGABYTE, SECOND } from '../protocol/limits.ts';
import type { GivenContent } from '../request/inputs.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { EMPTY_HINT } from '../rules/inspect.ts';

/** Writes given content to a file in a private folder. @throws {DeliveryError} `TOO_LARGE`, `BAD_INPUT` */
export async function openContent(
  request: DeliveryRequest,
  ports: Ports,
  openFolder: () => Promise<string>,
): Promise<DeliveryRequest> {
  const { content } = request;
  const [name = ''] = request.file;
  if (content === undefined) return request;
  const folder = await openFolder();
  await writeContent(join(folder, name), content, ports);
  // The name must not lead to any other local file.
  return { ...request, folder, allowedRoots: [folder], allowsFullPaths: false };
}

async function writeContent(path: string, content: GivenContent, ports: Ports): Promise<void> {
  const name = basename(path);
  const file = await open(path, 'wx', 0o600);
  try {
    let size = 0;
    for await (const chunk of readInTime(content, ports)) {
      size += chunk.length;
      if (size > CONTENT.bytes) {
        const most = `${CONTENT.bytes / MEGABYTE} MB`;
        const hint = 'write it to a file and deliver the file';
        throw new DeliveryError('TOO_LARGE', `the content of ${name} has more than ${most}`, { hint });
      }
      await file.writeFile(chunk);
    }
    if (size === 0) {
      throw new DeliveryError('BAD_INPUT', `the content of ${name} is empty`, { hint: EMPTY_HINT });
    }
  } finally {
    await file.close();
  }
}

/** Yields chunks until a stop or timeout, and warns if it has to wait. */
async function* readInTime(
  content: GivenContent,
  { clock, signal, logger }: Ports,
): AsyncGenerator<Uint8Array> {
  if (typeof content === 'string') return yield Buffer.from(content);
  const over = clock.timeout(CONTENT.time);
  const either = AbortSignal.any([signal, over]);
  const chunks = content[Symbol.asyncIterator]();
  let isWarned = false;
  try {
    for (;;) {
      const reading = chunks.next();
      const silence = clock.timeout(CONTENT.silence);
      await untilAborted(AbortSignal.any([either, silence]), reading).catch(() => undefined);
      if (silence.aborted && !isWarned) logger.warning(WAITING);
      isWarned ||= silence.aborted;
      const next = await untilAborted(either, reading);
      if (next.done === true) return;
      yield next.value;
    }
  } catch (thrown) {
    signal.throwIfAborted();
    if (!over.aborted) throw thrown;
    const hint = 'close the pipe after the last byte, or write the content to a file and deliver the file';
    throw new DeliveryError('BAD_INPUT', `the content did not end within ${CONTENT.time / SECOND} s`, {
      hint,
    });
  }
}

const WAITING = `waiting for the content, for up to ${CONTENT.time / SECOND} s: it ends when the program before the pipe ends, or with Ctrl-D on a terminal`;
