import { hash } from 'node:crypto';
import { readEncoding } from '../../rules/text-encoding.ts';
import type { Resource } from '../resources.ts';

/** The content type without parameters, safe in any attribute. */
export const getMediaType = ({ contentType }: Resource): string =>
  /^\s*([\w.+-]+\/[\w.+-]+)/.exec(contentType)?.[1]?.toLowerCase() ?? 'application/octet-stream';

const MARKS: Readonly<Record<string, string>> = { fffe: 'utf-16le', feff: 'utf-16be', efbb: 'utf-8' };

/**
 * Decodes a script or style sheet as a browser does.
 * @param declared the encoding that the element names
 * @see https://encoding.spec.whatwg.org/#decode
 */
export function decodeResource({ bytes, contentType }: Resource, declared = ''): string {
  const [, sent = ''] = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType) ?? [];
  // UTF-16 can't be true in a style sheet, because its own declaration is ASCII.
  const [, own = ''] = /^@charset "(?!utf-16)([^"]*)";/i.exec(bytes.toString('latin1', 0, 1_024)) ?? [];
  const marked = MARKS[bytes.toString('hex', 0, 2)];
  const encoding = marked ?? [sent, own, declared].map(readEncoding).find((found) => found !== null);
  return new TextDecoder(encoding === 'replacement' ? 'utf-8' : encoding).decode(bytes);
}

/** A `data:` URL that needs no escapes in attributes, style sheets, scripts and JSON, in any encoding of a page. */
export function toDataUrl(type: string, content: string | Buffer): string {
  if (typeof content !== 'string') return `data:${type};base64,${content.toString('base64')}`;
  const escaped = content
    .replaceAll('%', '%25')
    .replace(/[#"'`&<>\\\p{Cc}\P{ASCII}]+/gu, (run) =>
      Buffer.from(run).toString('hex').replace(/../g, '%$&'),
    );
  return `data:${type};charset=utf-8,${escaped}`;
}

/** Whether the bytes have one of the hashes that an `integrity` attribute names, if it names any. */
export function matchesIntegrity(bytes: Buffer, integrity: string): boolean {
  const named = [...integrity.matchAll(/(?<!\S)(sha(?:256|384|512))-([\w+/=-]+)/g)];
  const matches = ([, name = '', value = '']: readonly string[]): boolean =>
    Buffer.from(value, 'base64').equals(hash(name, bytes, 'buffer'));
  return named.length === 0 || named.some(matches);
}
