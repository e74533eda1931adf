import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, createServer, type Socket, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { type SecureContext, TLSSocket } from 'node:tls';
import { createAuthority } from './certificates.ts';

/** How a tunnel is handled: an impostor's certificate is not trusted; `silent` gets no answer. */
export type ConnectionMode = 'through' | 'refused' | 'impostor' | 'silent';

/** The intercepting proxy and its temporary certificate authority. */
export interface InterceptingProxy {
  /** Chooses how each new tunnel is handled; `through` by default. */
  chooseMode: (host: string) => ConnectionMode;
  readonly url: string;
  readonly ca: string;
  readonly env: Readonly<Record<string, string>>;
  /** Opens a second port for a host at `https://localhost:<port>`, which can't be reached through the proxy. */
  openDirectAddress(host: string): Promise<string>;
  close(): Promise<void>;
}

/** The origin of a connection: a tunnel's TLS, or a second port of a host. */
interface Way {
  readonly socket: Socket;
  readonly host?: string;
}

const ways = new WeakMap<Socket, Way>();

/** The host that a request means, and whether it came without TLS. */
export function readTarget({ headers, socket, url = '/' }: IncomingMessage): {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly target: string;
} {
  return {
    scheme: socket instanceof TLSSocket ? 'https' : 'http',
    host: (ways.get(socket)?.host ?? headers.host ?? '').toLowerCase(),
    target: url.replace(/^http:\/\/[^/]*/, ''),
  };
}

/** Breaks a connection like a disappearing host. */
export function resetConnection(socket: Socket): void {
  (ways.get(socket)?.socket ?? socket).resetAndDestroy();
}

/** Makes the host server an intercepting proxy: it terminates each tunnel's TLS and answers as every host. */
export async function interceptTunnels(server: Server, folder: string): Promise<InterceptingProxy> {
  const { ca, contextFor } = await createAuthority('Local GitHub of the tests');
  const sockets = new Set<Socket>();
  const doors: TcpServer[] = [];

  const secure = async (socket: Socket, context: Promise<SecureContext>, host?: string): Promise<void> => {
    const secureContext = await context;
    const inner = new TLSSocket(socket, { isServer: true, secureContext });
    ways.set(inner, { socket, ...(host !== undefined && { host }) });
    // A connection broken by a client or a simulated fault is not the server's failure.
    inner.on('error', () => socket.destroy());
    inner.once('secure', () => server.emit('connection', inner));
  };
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay().on('close', () => sockets.delete(socket));
  };
  server.on('connection', (socket: Socket) => {
    if (!(socket instanceof TLSSocket)) track(socket);
  });
  server.on('connect', (request, socket: Socket, head) => {
    socket.on('error', () => socket.destroy());
    const [host = '', port] = (request.url ?? '').split(':');
    const mode = proxy.chooseMode(host);
    if (mode === 'silent') return;
    if (mode === 'refused') return void socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    if (port === '80') return void server.emit('connection', socket);
    const context = mode === 'impostor' ? createImpostor(host) : contextFor(host);
    secure(socket, context).catch((error: Error) => socket.destroy(error));
  });

  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, ca);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: InterceptingProxy = {
    chooseMode: () => 'through',
    url,
    ca,
    env: {
      HTTPS_PROXY: url,
      https_proxy: url,
      NODE_EXTRA_CA_CERTS: caFile,
      GIT_SSL_CAINFO: caFile,
      CURL_CA_BUNDLE: caFile,
      SSL_CERT_FILE: caFile,
    },
    async openDirectAddress(host) {
      const door = createServer((socket) => {
        track(socket);
        secure(socket, contextFor('localhost'), host).catch((error: Error) => socket.destroy(error));
      });
      doors.push(door);
      await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
      return `https://localhost:${(door.address() as AddressInfo).port}`;
    },
    async close() {
      const closed = [server, ...doors].map((one) => new Promise((resolve) => one.close(resolve)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
  return proxy;
}

const createImpostor = async (host: string): Promise<SecureContext> =>
  (await createAuthority('Nobody')).contextFor(host);
