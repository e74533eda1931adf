import { domainToUnicode } from 'node:url';

/** How often a text may be percent-encoded: an address within an address within an address. */
const DEEPEST_ENCODING = 3;

/**
 * Whether a text is only a part of an address, in any of the usual encodings. A page that repeats its address
 * (a warning, a page to sign in with `return_to`, an error, a search) then contains the text without
 * containing the content.
 */
export function isPartOfAddress(text: string, addresses: readonly URL[]): boolean {
  const parts = [text, text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')]
    .map(normalize)
    .filter((part) => part !== '');
  if (parts.length === 0) return true;
  return addresses.some((url) => {
    const forms = [url.href, `https://${domainToUnicode(url.hostname)}${url.pathname}`].map(normalize);
    return parts.some((part) => forms.some((form) => form.includes(part)));
  });
}

/** One form for every encoding of the same characters. */
function normalize(text: string): string {
  let plain = text
    .replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\/g, '')
    .replace(/&#x([0-9a-f]{1,5});?/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(/&#(\d{1,6});?/g, (_, digits: string) => String.fromCodePoint(Number(digits)))
    .replace(/&amp;/gi, '&')
    .replace(/&quot;/gi, '"');
  for (let depth = 0; depth < DEEPEST_ENCODING; depth += 1) plain = decode(plain);
  // A slug and a title say the same with other separators.
  return plain
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s+_-]+/g, ' ')
    .trim();
}

/** Decodes each run of percent-encoded bytes on its own, so that a stray % harms nothing else. */
const decode = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run;
    }
  });
