import { realpathSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import type { ReadResource, Resource } from '../../convert/resources.ts';
import { DeliveryError, toDeliveryError } from '../../errors.ts';
import { connectionError } from '../../http/client.ts';
import { followRedirects } from '../../http/follow.ts';
import { decodeBody, discard, parseRetryAfter, readType } from '../../http/response.ts';
import type { HttpResponse } from '../../ports.ts';
import { CONVERT, MEGABYTE } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { parseExternalAddress } from '../../rules/external-address.ts';
import { inspectFile } from '../../rules/inspect.ts';
import { getContentType } from '../../rules/media-type.ts';
import { decodePath, encodePath } from '../../rules/naming.ts';
import { isBelow } from '../../rules/open-file.ts';
import { formatAddress, hideQuery } from '../../rules/page/addresses.ts';
import type { Text } from '../../words.ts';
import { checkContent } from '../check-content.ts';
import type { RequestContext } from '../delivery-context.ts';

const LEVEL = '/above';
const ABOVE = /^(?:\/above)+\//;
/** Deep enough that a path with `../` stays apart from an absolute path. */
const DEPTH = 32;

interface ResourceSources {
  readonly run: RequestContext;
  /** Aborts when the time for all files is over. */
  readonly limit: AbortSignal;
}

/** Reads what a page needs: files of its folder, and files of public hosts, without credentials. */
export class ResourceReader {
  /** Names of files with allowed findings that look like secrets. */
  readonly allowed: string[] = [];
  readonly #path: string;
  /** The page's folder on a made-up host. Nobody can guess the host's name, so no other host's file leads there. */
  readonly #folder: URL;
  readonly #sources: ResourceSources;
  #files = 0;
  #bytes = 0;

  /** @param page the absolute path of the page */
  constructor(page: string, sources: ResourceSources) {
    this.#path = dirname(page);
    this.#folder = new URL(
      `https://own-${sources.run.random().toString(36).slice(2)}.invalid${LEVEL.repeat(DEPTH)}/`,
    );
    this.#sources = sources;
  }

  /** The made-up URL of a file in the page's folder. */
  toUrl(name: string): URL {
    return new URL(this.#folder.href + encodePath(name));
  }

  /** How messages and reports name a URL, without credentials and query: a file of the folder by its path. */
  toName({ href }: { readonly href: string }): string {
    const { href: folder, origin } = this.#folder;
    if (!href.startsWith(`${origin}/`)) return hideQuery(href);
    const above = (levels: string): string => '../'.repeat(DEPTH - Math.floor(levels.length / LEVEL.length));
    const path = href
      .replace(/[?#].*/s, '')
      .replace(folder, '')
      .replace(origin, '')
      .replace(ABOVE, above);
    return decodePath(path) || './';
  }

  /** @throws {DeliveryError} `BAD_FILE` if it can't be read or has a secret; `TOO_LARGE` above a limit */
  readonly read: ReadResource = async (url) => {
    const name = formatAddress(this.toName(url));
    const resource = await this.#read(url, name);
    // In the page its text is encoded.
    const allowed = await checkContent(resource.bytes, name, this.#sources.run);
    if (allowed > 0) this.allowed.push(name);
    return resource;
  };

  async #read(url: URL, name: string): Promise<Resource> {
    const { run, limit } = this.#sources;
    const isOwn = url.host === this.#folder.host;
    try {
      limit.throwIfAborted();
      this.#files += 1;
      if (this.#files > CONVERT.files) throw tooMuchError(name, `${CONVERT.files} files`);
      if (isOwn) return await this.#readOwn(url, name);
      const signal = AbortSignal.any([run.signal, limit]);
      return await withRetries({ ...run, signal }, () => this.#fetch(url, name, signal), CONVERT.time);
    } catch (thrown) {
      run.signal.throwIfAborted();
      const failure = toDeliveryError(thrown);
      throw ['TOO_LARGE', 'LOCAL'].includes(failure.code)
        ? failure
        : unreadError(name, failure, isOwn ? OWN_HINT : limit.aborted ? TIME_HINT : undefined);
    }
  }

  async #readOwn({ href, pathname }: URL, name: string): Promise<Resource> {
    const { run } = this.#sources;
    const isBeside = href.startsWith(this.#folder.href);
    const folder = realpathSync.native(this.#path);
    const path = resolve(folder, decodePath(pathname.slice(isBeside ? this.#folder.pathname.length : 1)));
    const isAbove = (!isBeside && pathname.startsWith(`${LEVEL}/`)) || !isBelow(folder, path);
    if (isAbove || run.request.isLeftOut(resolve(this.#path, relative(folder, path)))) {
      const reason = isAbove ? "it is above the page's folder" : 'a `!` line excludes it';
      throw new DeliveryError('BAD_FILE', reason, { hint: OWN_HINT });
    }
    const location = { path, given: name, within: folder, refusesHidden: true, mayBeEmpty: true };
    const accept = (size: number): void => this.#count(size, name);
    // `read` searches them for secrets.
    const options = { ...location, marker: undefined, secrets: [], accept, signal: run.signal };
    const chunks: Buffer[] = [];
    await inspectFile(options, async (file) => {
      for await (const chunk of file.pieces()) chunks.push(chunk);
    });
    return { url: href, bytes: Buffer.concat(chunks), contentType: getContentType(path) };
  }

  async #fetch(url: URL, name: string, end: AbortSignal): Promise<Resource> {
    const { http, clock } = this.#sources.run;
    const signal = AbortSignal.any([end, clock.timeout(CONVERT.time)]);
    const guard = (hop: URL): void => void parseExternalAddress(hop, 'it');
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      const { response, hops } = await followRedirects(http, url, { signal, guard, publicOnly: true });
      if (response.status !== 200) throw refusedError(response, clock.date());
      addAbortSignal(signal, response.body);
      for await (const chunk of decodeBody(response)) {
        size += chunk.length;
        this.#count(chunk.length, name);
        chunks.push(chunk);
      }
      const { href } = hops.at(-1) ?? url;
      return { url: href, bytes: Buffer.concat(chunks), contentType: readType(response) };
    } catch (thrown) {
      this.#bytes -= size;
      throw connectionError(thrown, { url, signal });
    }
  }

  #count(bytes: number, name: string): void {
    this.#bytes += bytes;
    if (this.#bytes > CONVERT.bytes) throw tooMuchError(name, `${CONVERT.bytes / MEGABYTE} MB`);
  }
}

/** The page must name another file, unless another attempt may succeed. */
function refusedError(response: HttpResponse, now: number): DeliveryError {
  const { status: httpCode } = response;
  discard(response);
  const retryable = httpCode === 429 || httpCode >= 500;
  return new DeliveryError('HOST_ERROR', `its host answers HTTP ${httpCode}`, {
    httpCode,
    hint: retryable ? 'try again later' : undefined,
    retryable,
    retryAfter: parseRetryAfter(response, now),
  });
}

const OWN_HINT = "correct its URL in the page: it must lead to a visible file in the page's folder";
const HOST_HINT = "correct its URL in the page, or save the file in the page's folder and refer to it there";

const TIME_HINT: Text = (w) => `set a longer ${w.input('timeout')}`;

/** A failure of the network or host keeps its code and hint; all else is a fault of the page. */
function unreadError(name: string, failure: DeliveryError, given?: Text): DeliveryError {
  const { code, advice, message, httpCode } = failure;
  const isOfPage = given === OWN_HINT || code === 'NOT_EXTERNAL' || advice === undefined;
  return new DeliveryError(isOfPage ? 'BAD_FILE' : code, `${name} can't be put into the page: ${message}`, {
    cause: failure,
    httpCode,
    hint: given ?? (isOfPage ? HOST_HINT : advice),
  });
}

const tooMuchError = (name: string, most: string): DeliveryError =>
  new DeliveryError('TOO_LARGE', `${name} can't be put into the page: a page may load at most ${most}`, {
    hint: 'let the page load less, or deliver it as a folder with its files',
  });
