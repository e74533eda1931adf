import { hash } from 'node:crypto';
import { setImmediate as letOthersWork } from 'node:timers/promises';
import { faultError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import { getContentType } from '../../rules/media-type.ts';
import { type AddAddress, type FoundAddress, formatAddress, isExternal } from '../../rules/page/addresses.ts';
import { LARGEST_PAGE } from '../../rules/page/page-file.ts';
import { type ConvertOptions, describeFile, type InlinedFile, type Resource } from '../resources.ts';
import { getMediaType, matchesIntegrity, toDataUrl } from './resource-text.ts';

/** The files that a page needs. Each is read once. */
export class PageFiles {
  readonly files: InlinedFile[] = [];
  readonly notes = new Set<string>();
  /** The `data:` URLs of style sheets, which may import each other many times. */
  readonly sheets = new Map<string, string>();
  readonly #resources = new Map<string, Resource>();
  #made = 0;
  readonly #options: ConvertOptions;
  readonly #folder: URL;

  constructor(options: ConvertOptions) {
    this.#options = options;
    this.#folder = new URL('.', options.url);
  }

  async read(url: URL): Promise<Resource> {
    // Without a turn for others, no stop and no time limit would be seen.
    await letOthersWork();
    this.#options.signal.throwIfAborted();
    const address = url.href.slice(0, url.href.length - url.hash.length);
    const known = this.#resources.get(address);
    if (known !== undefined) return known;
    const resource = await this.#options.read(new URL(address));
    this.#resources.set(address, resource);
    this.files.push(describeFile(resource));
    return resource;
  }

  /** Reads a style sheet or script. A browser ignores a style sheet of another type. */
  async readCode(url: URL): Promise<Resource> {
    const resource = await this.read(url);
    this.#requireType(url, getMediaType(resource), CODE, 'style sheet or script');
    return resource;
  }

  /** A picture, font, sound or video as it is. A fragment selects a part of it. */
  async inlineData(url: URL): Promise<string> {
    const resource = await this.read(url);
    const sent = getMediaType(resource);
    // Browsers show a picture and use a font without a type.
    const type = UNTYPED.test(sent) ? getContentType(new URL(resource.url).pathname) : sent;
    this.#requireType(url, type, MEDIA, 'picture, font, sound or video');
    return `${toDataUrl(type, resource.bytes)}${url.hash.replaceAll('\\', '%5c')}`;
  }

  /** Otherwise a login page, or any file beside the page, would be published. */
  #requireType(url: URL, type: string, types: RegExp, what: string): void {
    if (types.test(type)) return;
    const hint = 'correct its URL in the page, or its ending or content type';
    throw faultError(`${this.show(url)} is ${type}, not a ${what}`, hint);
  }

  /** The `data:` URL of a style sheet or script. Files in files could grow without end, so their sum is limited. */
  makeDataUrl(type: string, text: string): string {
    const made = toDataUrl(type, text);
    this.#made += made.length;
    if (this.#made <= MOST_TEXT) return made;
    const what = "the page's style sheets and scripts have too many others in them";
    throw faultError(what, 'import each of them once, from the page');
  }

  /** @param integrity the hashes that the page names, or an empty text */
  async checkIntegrity(url: URL, integrity: string): Promise<void> {
    if (integrity === '') return;
    const { bytes } = await this.read(url);
    if (matchesIntegrity(bytes, integrity)) return;
    const what = `${this.show(url)} can't be put into the page: it differs from the hash in \`integrity\``;
    const found = `sha384-${hash('sha384', bytes, 'base64')}`;
    throw faultError(what, `correct the URL, or set \`integrity="${found}"\` if this file is meant`);
  }

  /** The path of a file of the page's own host, of which the page must not tell; `null` for another host. */
  ownPath(address: string): string | null {
    const { href, origin } = this.#folder;
    const isOwn = address.startsWith(`${origin}/`);
    return isOwn ? address.slice(address.startsWith(href) ? href.length : origin.length) : null;
  }

  show = ({ href }: URL): string => formatAddress(this.ownPath(href) ?? href);
}

const CODE = /^text\/css$|^(?:text|application)\/(?:x-)?(?:java|ecma)script$|[/+]json$|\/wasm$/;
const MEDIA = /^(?:image|audio|video)\/|font|^application\/ogg$|^text\/vtt$/;
const UNTYPED = /^(?:application|binary)\/octet-stream$/;

/** Far beyond real pages, so that a hostile page can't take much memory. */
export const MOST_ADDRESSES = 50_000;
const MOST_TEXT = 4 * LARGEST_PAGE;

/** A text in parts, which grows no larger than a page may be: files that import each other could grow without end. */
export class TextParts {
  readonly #parts: string[] = [];
  #length = 0;

  add(text: string): void {
    this.#length += text.length;
    if (this.#length > LARGEST_PAGE) refuseSize();
    this.#parts.push(text);
  }

  join = (): string => this.#parts.join('');
}

export function refuseSize(): never {
  const what = `with everything that it needs, the page is larger than ${LARGEST_PAGE / MEGABYTE} MB`;
  throw faultError(what, 'leave out pictures or other large files');
}

/**
 * Replaces the addresses in a text, one after the other.
 * @param replace returns `null` to leave an address
 * @param writeBare writes an address that has no quotes
 */
export async function replaceAddresses(
  text: string,
  find: (add: AddAddress) => void,
  replace: (found: FoundAddress) => Promise<string | null>,
  writeBare = (address: string): string => address,
): Promise<string> {
  const found: FoundAddress[] = [];
  find((one) => isExternal(one.address) && found.push(one) > MOST_ADDRESSES && refuseSize());
  const parts = new TextParts();
  let at = 0;
  for (const one of found) {
    const address = await replace(one);
    if (address === null) continue;
    const given = text.slice(one.offset, one.end);
    parts.add(text.slice(at, one.offset));
    parts.add(/^["'`]/.test(given) ? `"${address}"` : writeBare(address));
    at = one.end;
  }
  parts.add(text.slice(at));
  return parts.join();
}
