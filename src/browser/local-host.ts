import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { LocalCertificate } from './local-certificate.ts';
import type { LocalAnswer } from './outbound-proxy.ts';
import type { UnpublishedFile } from './screen-view.ts';

type LocalFiles = ReadonlyMap<string, UnpublishedFile>;

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

interface FoundFile {
  readonly file?: UnpublishedFile | undefined;
  readonly httpCode: number;
  /** The path to which the host redirects. */
  readonly redirect?: string;
}

/** What GitHub Pages answers for a path: the file, `index.html` of a folder, `page.html` for `page`, or `404.html`. */
export function findLocalFile(files: LocalFiles, pathname: string): FoundFile {
  const get = (path: string): UnpublishedFile | undefined => files.get(path) ?? files.get(decodePath(path));
  if (pathname.endsWith('/')) {
    const file = get(`${pathname}index.html`);
    if (file !== undefined) return { file, httpCode: 200 };
  } else {
    const file = get(pathname) ?? get(`${pathname}.html`);
    if (file !== undefined) return { file, httpCode: 200 };
    if (get(`${pathname}/index.html`) !== undefined) return { httpCode: 301, redirect: `${pathname}/` };
  }
  const [, root] = pathname.split('/');
  return { file: get(`/${root}/404.html`) ?? get('/404.html'), httpCode: 404 };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
