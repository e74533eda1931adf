import { STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import type { Protocol } from 'puppeteer-core';
import { createSilenceTimer } from '../async.ts';
import { decodeBody, discard, firstHeader, readEncodings } from '../http/response.ts';
import type { Clock, HttpResponse } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';
import { decodePath, findServed } from '../rules/site/site-address.ts';
import type { LocalFiles } from './screen-view.ts';

/**
 * Answers for a host whose page is not published yet, with files of this machine, as GitHub Pages will: the file, a
 * redirect to a folder, or `404.html`. The browser sees the address that the page will have, so that paths, origin and
 * secure context are the same.
 */
export function answerLocally(files: LocalFiles, { pathname, search }: URL): HttpResponse {
  const path = decodePath(pathname).slice(1);
  const served = findServed(path, (one) => files(`/${one}`) !== undefined);
  if (served === `${path}/index.html`) {
    return { status: 301, headers: { location: `${pathname}/${search}` }, body: Readable.from([]) };
  }
  const [root = ''] = path.split('/');
  const file = served === null ? (files(`/${root}/404.html`) ?? files('/404.html')) : files(`/${served}`);
  const { contentType = 'text/plain', size = 14 } = file ?? {};
  return {
    status: served === null ? 404 : 200,
    headers: {
      'access-control-allow-origin': '*',
      'cache-control': 'max-age=600',
      'content-type': contentType,
      'content-length': String(size),
    },
    body: file?.read() ?? Readable.from([Buffer.from('404: not found')]),
  };
}

/** An answer as the browser takes it. */
type BrowserAnswer = Omit<Protocol.Fetch.FulfillRequestRequest, 'requestId'>;

/** Milliseconds without a byte after which what is still arriving is shown as far as it is there. */
const SILENCE = 2 * SECOND;

interface ReadOptions {
  readonly clock: Clock;
  readonly isHead: boolean;
  /** Whether it is shown while it arrives, as documents are. */
  readonly isDocument: boolean;
  /** Called with the bytes of each piece, and of the body so far; throws where that is too much. */
  readonly count: (piece: number, size: number) => void;
}

/**
 * Reads a whole answer: the browser takes no part of one. A document or a stream of events of which nothing more comes
 * is complete as it is.
 */
export async function readAnswer(response: HttpResponse, options: ReadOptions): Promise<BrowserAnswer> {
  const isStream = /event-stream/.test(firstHeader(response, 'content-type') ?? '') || options.isDocument;
  const silence = isStream ? createSilenceTimer(options.clock, SILENCE) : undefined;
  silence?.signal.addEventListener('abort', () => response.body.destroy());
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    if (options.isHead) discard(response);
    else {
      for await (const piece of decodeBody(response)) {
        silence?.restart();
        pieces.push(piece);
        size += piece.length;
        options.count(piece.length, size);
      }
    }
  } catch (thrown) {
    if (silence?.signal.aborted !== true) throw thrown;
  }
  return {
    responseCode: response.status,
    responsePhrase: STATUS_CODES[response.status] ?? 'Other',
    responseHeaders: listHeaders(response),
    body: Buffer.concat(pieces).toString('base64'),
  };
}

/** As the host sent them, but those of an encoding that is undone by now. */
function listHeaders(response: HttpResponse): { name: string; value: string }[] {
  const isEncoded = readEncodings(response).length > 0;
  return Object.entries(response.headers)
    .filter(([name]) => !isEncoded || !/^content-(encoding|length)$/.test(name))
    .flatMap(([name, value]) => [value ?? []].flat().map((one) => ({ name, value: one })));
}
