import { STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import type { Protocol } from '#puppeteer';
import { decodeBody, discard, readEncodings } from '../http/response.ts';
import type { HttpResponse } from '../ports.ts';
import { decodePath } from '../rules/naming.ts';
import { findServed } from '../rules/site/site-address.ts';
import type { LocalFiles } from './screen-view.ts';

/** Answers as GitHub Pages would after publishing: the file, a redirect to a folder, or `404.html`. */
export function answerLocally(files: LocalFiles, { pathname, search }: URL): HttpResponse {
  const path = decodePath(pathname).slice(1);
  const served = findServed(path, (candidate) => files(`/${candidate}`) !== undefined);
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

/** The browser accepts only whole answers. @param count gets the bytes of each piece and in total; throws if too many */
export async function readAnswer(
  response: HttpResponse,
  isHead: boolean,
  count: (piece: number, size: number) => void,
): Promise<Omit<Protocol.Fetch.FulfillRequestRequest, 'requestId'>> {
  const pieces: Buffer[] = [];
  let size = 0;
  if (isHead) discard(response);
  else {
    for await (const piece of decodeBody(response)) {
      pieces.push(piece);
      size += piece.length;
      count(piece.length, size);
    }
  }
  return {
    responseCode: response.status,
    responsePhrase: STATUS_CODES[response.status] ?? 'Other',
    responseHeaders: listHeaders(response),
    body: Buffer.concat(pieces).toString('base64'),
  };
}

/** Drops `content-encoding` and `content-length` if the body was encoded, because it is already decoded. */
function listHeaders(response: HttpResponse): { name: string; value: string }[] {
  const isEncoded = readEncodings(response).length > 0;
  return Object.entries(response.headers)
    .filter(([name]) => !isEncoded || !/^content-(encoding|length)$/.test(name))
    .flatMap(([name, value]) => [value ?? []].flat().map((text) => ({ name, value: text })));
}
