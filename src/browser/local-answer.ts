import { Readable } from 'node:stream';
import type { HttpResponse } from '../ports.ts';
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
