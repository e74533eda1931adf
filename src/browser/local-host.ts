import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createSecureContext, TLSSocket } from 'node:tls';
import { decodePath, findServed } from '../rules/site/serving.ts';
import type { LocalCertificate } from './local-certificate.ts';
import type { LocalAnswer } from './outbound-proxy.ts';
import type { LocalFiles, UnpublishedFile } from './screen-view.ts';

/** Answers for one host with files of this machine, by the rules of GitHub Pages. */
export interface LocalHost extends LocalAnswer {
  close(): void;
}

/**
 * Creates the answers for a host whose page is not published yet. The browser sees the address that the page will
 * have, so that paths, origin and secure context are the same.
 *
 * @param host as in the page's address, with the port where it is not 443
 */
export function createLocalHost(host: string, files: LocalFiles, certificate: LocalCertificate): LocalHost {
  const secureContext = createSecureContext(certificate);
  const server = createServer((message, response) => {
    answer(files, message, response).catch(() => response.destroy());
  });
  server.on('upgrade', (_message, socket) => socket.destroy());
  return {
    host,
    accept(socket: Duplex) {
      const secure = new TLSSocket(socket as ConstructorParameters<typeof TLSSocket>[0], {
        isServer: true,
        secureContext,
      });
      secure.on('error', () => secure.destroy());
      server.emit('connection', secure);
    },
    close: () => server.closeAllConnections(),
  };
}

async function answer(files: LocalFiles, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, search } = new URL(message.url ?? '/', 'https://local.invalid');
  const found = findLocalFile(files, pathname);
  if (found.redirect !== undefined) {
    return void response.writeHead(301, { location: found.redirect + search }).end();
  }
  const { file, httpCode } = found;
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'max-age=600' };
  if (file === undefined) {
    return void response.writeHead(404, { ...headers, 'content-type': 'text/plain' }).end('404: not found');
  }
  const isHead = message.method === 'HEAD';
  response.writeHead(httpCode, { ...headers, 'content-type': file.contentType, 'content-length': file.size });
  if (isHead) return void response.end();
  await pipeline(file.read(), response);
}

interface LocalResponse {
  readonly file?: UnpublishedFile | undefined;
  readonly httpCode: number;
  /** The path to which the host redirects. */
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
