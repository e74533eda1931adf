import { hash } from 'node:crypto';
import { MEGABYTE } from '../../protocol/limits.ts';
import { type AddAddress, type FoundAddress, formatAddress, isExternal } from '../../rules/page/addresses.ts';
import { LARGEST_PAGE } from '../../rules/page/page-file.ts';
import type { InlinedFile, ReadResource, Resource } from '../resources.ts';
import { getMediaType, toDataUrl } from './resource-text.ts';

/** A fault of the page, or of a file that it needs. */
export class PageProblem extends Error {
  readonly hint: string;
  line: number | null = null;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

export interface InlineOptions {
  /** Of the page. What is in its folder is the page's own. */
  readonly url: URL;
  readonly read: ReadResource;
  readonly signal: AbortSignal;
}

/** The files that a page needs. Each is read once. */
export class PageFiles {
  readonly files: InlinedFile[] = [];
  readonly notes = new Set<string>();
  readonly #resources = new Map<string, Resource>();
  readonly #made = new Map<string, string>();
  readonly #options: InlineOptions;
  readonly #folder: URL;

  constructor(options: InlineOptions) {
    this.#options = options;
    this.#folder = new URL('.', options.url);
  }

  async read(url: URL): Promise<Resource> {
    const address = url.href.slice(0, url.href.length - url.hash.length);
    const known = this.#resources.get(address);
    if (known !== undefined) return known;
    this.#options.signal.throwIfAborted();
    const resource = await this.#options.read(new URL(address));
    this.#resources.set(address, resource);
    const { bytes } = resource;
    this.files.push({ url: resource.url, sha256: hash('sha256', bytes), size: bytes.length });
    return resource;
  }

  /** Reads a style sheet or script. Some hosts answer with a page if they don't have it. */
  async readCode(url: URL): Promise<Resource> {
    const resource = await this.read(url);
    if (getMediaType(resource) !== 'text/html') return resource;
    const what = `${this.show(url)} is a web page, not a style sheet or script`;
    throw new PageProblem(what, 'correct the address');
  }

  /** A picture, font or other file as it is. A fragment selects a part of it. */
  async inlineData(url: URL): Promise<string> {
    const resource = await this.read(url);
    const make = async (): Promise<string> => toDataUrl(getMediaType(resource), resource.bytes);
    return `${await this.makeOnce(`data ${resource.url}`, make)}${url.hash}`;
  }

  /** A page may name a file a thousand times. */
  async makeOnce(key: string, make: () => Promise<string>): Promise<string> {
    const made = this.#made.get(key) ?? (await make());
    this.#made.set(key, made);
    return made;
  }

  /** The path of a file of the page's own host, of which the page must not tell; `null` for another host. */
  ownPath(address: string): string | null {
    const { href, origin } = this.#folder;
    const isOwn = address.startsWith(`${origin}/`);
    return isOwn ? address.slice(address.startsWith(href) ? href.length : origin.length) : null;
  }

  show = ({ href }: URL): string => formatAddress(this.ownPath(href) ?? href);
}

/** Far beyond real pages, so that a hostile page can't take much memory. */
export const MOST_ADDRESSES = 50_000;

/** Joins parts of a page, but not more than a page may have: files that import each other may grow without end. */
export function joinParts(parts: readonly string[]): string {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return length > LARGEST_PAGE ? refuseSize() : parts.join('');
}

export function refuseSize(): never {
  const what = `with everything that it needs, the page is larger than ${LARGEST_PAGE / MEGABYTE} MB`;
  throw new PageProblem(what, 'leave out pictures or other large files');
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
  const parts: string[] = [];
  let at = 0;
  for (const one of found) {
    const address = await replace(one);
    if (address === null) continue;
    const given = text.slice(one.offset, one.end);
    parts.push(text.slice(at, one.offset), /^["'`]/.test(given) ? `"${address}"` : writeBare(address));
    at = one.end;
  }
  return joinParts([...parts, text.slice(at)]);
}
