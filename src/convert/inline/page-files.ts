import { hash } from 'node:crypto';
import { MEGABYTE } from '../../protocol/limits.ts';
import { formatAddress } from '../../rules/page/addresses.ts';
import { LARGEST_PAGE } from '../../rules/page/page-file.ts';
import type { InlinedFile, ReadResource, Resource } from '../resources.ts';
import { getMediaType, matchesIntegrity } from './resource-text.ts';

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
  /** Of the page. Addresses in its folder are the page's own. */
  readonly url: URL;
  readonly read: ReadResource;
  readonly signal: AbortSignal;
}

/** The files that a page needs. Each is read once. */
export class PageFiles {
  readonly files: InlinedFile[] = [];
  readonly notes = new Set<string>();
  readonly #read = new Map<string, Resource>();
  readonly #options: InlineOptions;
  readonly #folder: string;

  constructor(options: InlineOptions) {
    this.#options = options;
    this.#folder = new URL('.', options.url).href;
  }

  async read(url: URL): Promise<Resource> {
    const address = new URL(url);
    address.hash = '';
    const known = this.#read.get(address.href);
    if (known !== undefined) return known;
    this.#options.signal.throwIfAborted();
    const resource = await this.#options.read(address);
    const { url: found, bytes } = resource;
    this.#read.set(address.href, resource);
    this.files.push({ url: found, sha256: hash('sha256', bytes), size: bytes.length });
    return resource;
  }

  /** Reads a style sheet or script. Hosts answer with a page if they don't have it. */
  async readCode(url: URL): Promise<Resource> {
    const resource = await this.read(url);
    if (getMediaType(resource) !== 'text/html') return resource;
    const what = `${this.show(url)} is a web page, not a style sheet or script`;
    throw new PageProblem(what, 'correct the address');
  }

  async checkIntegrity(url: URL, integrity: string): Promise<void> {
    if (integrity === '' || matchesIntegrity((await this.read(url)).bytes, integrity)) return;
    const what = `${this.show(url)} is not the file that its integrity attribute names`;
    throw new PageProblem(what, 'correct or remove the attribute `integrity`');
  }

  /** The path of an address within the page's folder; `null` for an address outside of it. */
  ownPath = (address: string): string | null =>
    address.startsWith(this.#folder) ? address.slice(this.#folder.length) : null;

  show = ({ href }: URL): string => formatAddress(this.ownPath(href) ?? href);
}

/** Joins parts of a page, but not more than a page may have: files that import each other may grow without end. */
export function joinParts(parts: readonly string[]): string {
  let length = 0;
  for (const part of parts) length += part.length;
  if (length <= LARGEST_PAGE) return parts.join('');
  const what = `with everything that it needs, the page is larger than ${LARGEST_PAGE / MEGABYTE} MB`;
  throw new PageProblem(what, 'leave out pictures or other large files');
}
