import { MEGABYTE } from '../../protocol/limits.ts';
import { getContentType } from '../media-type.ts';

/** Whether a page may need other hosts: `warn` lists in UNKNOWN what it needs of them, `off` does not. */
export type SelfContained = 'enforce' | 'warn' | 'off';

/**
 * The largest page that is searched, in bytes. Measured with Node 24: it takes 1 to 6 seconds of the processor, 12 where
 * it is nothing but short links, and a process of 0.12 to 0.3 GB.
 */
export const LARGEST_PAGE = 32 * MEGABYTE;

export const isHtml = (name: string): boolean => /html/.test(getContentType(name));

export const isXhtml = (name: string): boolean => /xhtml/.test(getContentType(name));

/** The text of a page in pieces: a byte order mark decides the encoding; without one, Pages serves UTF-8. */
export async function* decodeText(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const chunk of chunks) {
    const mark = chunk.toString('hex', 0, 2);
    decoder ??= new TextDecoder(mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8');
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder?.decode() ?? '';
}
