import { MEGABYTE } from '../../protocol/limits.ts';
import { getContentType } from '../media-type.ts';

/** What happens if a page needs other hosts: `warn` lists it in UNKNOWN. */
export type SelfContained = 'enforce' | 'warn' | 'off';

/** The largest page that is searched, in bytes. Measured with Node 24: 1 to 12 seconds, and 0.12 to 0.3 GB. */
export const LARGEST_PAGE = 32 * MEGABYTE;

/** A tag of a template that should have been filled in, but not an expression of a workflow. */
export const TEMPLATE_TAG = /(?<!\$)\{\{[^{}]{1,80}\}\}|\{%[^{}]{1,80}%\}|<%[^<>]{1,80}%>/;

export const isHtml = (name: string): boolean => /html/.test(getContentType(name));

export const isXhtml = (name: string): boolean => /xhtml/.test(getContentType(name));

/** Decodes a page by its byte order mark, otherwise as UTF-8, as Pages declares it. */
export async function* decodeText(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const chunk of chunks) {
    const mark = chunk.toString('hex', 0, 2);
    decoder ??= new TextDecoder(mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8');
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder?.decode() ?? '';
}
