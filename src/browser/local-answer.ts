import { Readable } from 'node:stream';
import type { HttpResponse } from '../ports.ts';
import { decodePath, findServed } from '../rules/site/site-address.ts';
import type { LocalFiles, UnpublishedFile } from './screen-view.ts';

/** What a host answers for a path. */
interface LocalResponse {
  readonly file?: UnpublishedFile | undefined;
  readonly httpCode: number;
  /** The path to which it redirects. */
  readonly redirect?: string;
}

/** What GitHub Pages answers for a path: the file, a redirect to a folder, or `404.html`. */
export function findLocalFile(files: LocalFiles, pathname: string): LocalResponse {
  const path = decodePath(pathname).slice(1);
  const served = findServed(path, (one) => files.has(`/${one}`));
  if (served === `${path}/index.html`) return { httpCode: 301, redirect: `${pathname}/` };
  if (served !== null) return { file: files.get(`/${served}`), httpCode: 200 };
  const [root = ''] = path.split('/');
  return { file: files.get(`/${root}/404.html`) ?? files.get('/404.html'), httpCode: 404 };
}

const PLAIN_404 = {
  contentType: 'text/plain',
  size: 14,
  read: () => Readable.from([Buffer.from('404: not found')]),
};

/**
 * Answers for a host whose page is not published yet, with files of this machine, as GitHub Pages will. The browser
 * sees the address that the page will have, so that paths, origin and secure context are the same.
 */
export function answerLocally(
  files: LocalFiles,
  { pathname, search }: URL,
  requested: Readonly<Record<string, string>>,
): HttpResponse {
  const { file = PLAIN_404, httpCode, redirect } = findLocalFile(files, pathname);
  if (redirect !== undefined) {
    return { status: httpCode, headers: { location: redirect + search }, body: Readable.from([]) };
  }
  const headers = {
    'access-control-allow-origin': '*',
    'cache-control': 'max-age=600',
    'content-type': file.contentType,
  };
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(requested.range ?? '') ?? [];
  const [start, end] = [Number(first), Math.min(Number(last) + 1, file.size)];
  if (httpCode !== 200 || !(start < end)) {
    return {
      status: httpCode,
      headers: { ...headers, 'content-length': String(file.size) },
      body: file.read(),
    };
  }
  return {
    status: 206,
    headers: {
      ...headers,
      'accept-ranges': 'bytes',
      'content-length': String(end - start),
      'content-range': `bytes ${start}-${end - 1}/${file.size}`,
    },
    body: Readable.from(readPart(file, start, end)),
  };
}

async function* readPart(file: UnpublishedFile, start: number, end: number): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const chunk of file.read() as AsyncIterable<Buffer>) {
    if (at + chunk.length > start) yield chunk.subarray(Math.max(0, start - at), end - at);
    at += chunk.length;
    if (at >= end) return;
  }
}
