import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Duplex, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toDeliveryError } from '../errors.ts';
import { type HostConnector, openConnection } from './outbound-connection.ts';

/** What one page may use of the network. */
export interface TrafficLimits {
  /** Bytes in both directions. */
  readonly bytes: number;
  /** Connections and plain requests in all. */
  readonly connections: number;
}

export interface OutboundProxyOptions {
  /** How a host is reached, and which hosts are refused. */
  readonly connector: HostConnector;
  readonly limits: TrafficLimits;
  /** Answers for one host instead of the network: the page that is not published yet. */
  readonly local?: LocalAnswer | undefined;
}

export interface LocalAnswer {
  readonly host: string;
  /** Takes over the connection, on which the browser speaks TLS next. */
  accept(socket: Duplex): void;
}

/** A proxy on loopback for the traffic of one page, which nothing else can use. */
export interface OutboundProxy {
  /** Such as `http://127.0.0.1:40000`. */
  readonly url: string;
  readonly credentials: { readonly username: string; readonly password: string };
  /** The hosts with ports that were refused, such as `localhost:80`, and why. */
  readonly refused: ReadonlyMap<string, string>;
  /** Why all traffic was ended; empty while it is not. */
  readonly exceeded: string;
  /** Ends all traffic. */
  cutOff(reason: string): void;
  close(): Promise<void>;
}

/** The address that the browser opens once, to learn the credentials of the proxy. */
export const PROXY_GREETING = 'http://proxy.invalid/';

/** Refused hosts that are remembered. */
const MOST_REFUSED = 100;

/** Starts a proxy; the browser sends everything of one page through it. */
export async function startOutboundProxy(options: OutboundProxyOptions): Promise<OutboundProxy> {
  const proxy = new PageProxy(options);
  await proxy.listen();
  return proxy;
}

class PageProxy implements OutboundProxy {
  readonly credentials = { username: 'page', password: randomBytes(24).toString('hex') };
  readonly refused = new Map<string, string>();
  exceeded = '';
  readonly #options: OutboundProxyOptions;
  readonly #server = createServer();
  readonly #sockets = new Set<Duplex>();
  #connections = 0;
  #bytes = 0;

  constructor(options: OutboundProxyOptions) {
    this.#options = options;
    this.#server.on('connection', (socket) => this.#keep(socket));
    this.#server.on('connect', (message: IncomingMessage, socket: Duplex) => {
      void this.#tunnel(message, socket).catch(() => socket.destroy());
    });
    this.#server.on('request', (message, response) => {
      void this.#forward(message, response).catch(() => response.destroy());
    });
    // WebSockets come as CONNECT; anything else that wants another protocol is refused.
    this.#server.on('upgrade', (_message, socket: Duplex) => socket.destroy());
    this.#server.on('clientError', (_error, socket: Duplex) => socket.destroy());
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    this.#server.unref();
  }

  cutOff(reason: string): void {
    if (this.exceeded === '') this.exceeded = reason;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** `CONNECT host:port`: TLS and WebSockets. */
  async #tunnel(message: IncomingMessage, socket: Duplex): Promise<void> {
    socket.on('error', () => socket.destroy());
    if (!this.#isAuthorized(message))
      return void socket.end(answer(407, 'Proxy-Authenticate: Basic realm="page"'));
    const target = URL.parse(`https://${message.url}`);
    if (target === null || !this.#mayConnect()) return void socket.end(answer(403));
    const { local } = this.#options;
    if (target.host === local?.host) {
      socket.write(ESTABLISHED);
      return local.accept(socket);
    }
    const connected = await this.#open(target);
    if (connected === null) return void socket.end(answer(403));
    socket.write(ESTABLISHED);
    await Promise.all([
      pipeline(socket, this.#counter(), connected),
      pipeline(connected, this.#counter(), socket),
    ]).catch(() => undefined);
    connected.destroy();
    socket.destroy();
  }

  /** A plain http request with its whole address. */
  async #forward(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#isAuthorized(message)) {
      return void response.writeHead(407, { 'proxy-authenticate': 'Basic realm="page"' }).end();
    }
    const url = URL.parse(message.url ?? '');
    if (url?.href === PROXY_GREETING) return void response.writeHead(204).end();
    if (url?.protocol !== 'http:' || !this.#mayConnect()) return void response.writeHead(403).end();
    const connected = await this.#open(url);
    if (connected === null) return void response.writeHead(403).end();
    const { 'proxy-authorization': _own, 'proxy-connection': _kept, ...headers } = message.headers;
    const sent = sendRequest(
      { createConnection: () => connected, method: message.method, path: url.pathname + url.search, headers },
      (received) => {
        response.writeHead(received.statusCode ?? 502, received.headers);
        pipeline(received, this.#counter(), response).catch(() => response.destroy());
      },
    );
    await pipeline(message, this.#counter(), sent).catch(() => response.destroy());
  }

  /** `null` where the host is refused or can't be reached. */
  async #open(target: URL): Promise<Socket | null> {
    try {
      const socket = await openConnection(target, this.#options.connector);
      this.#keep(socket);
      socket.on('error', () => socket.destroy());
      return socket;
    } catch (thrown) {
      const { code, message } = toDeliveryError(thrown);
      const port = target.port || (target.protocol === 'http:' ? '80' : '443');
      const isNew = this.refused.size < MOST_REFUSED;
      if (code === 'NOT_EXTERNAL' && isNew) this.refused.set(`${target.hostname}:${port}`, message);
      return null;
    }
  }

  #isAuthorized(message: IncomingMessage): boolean {
    const { username, password } = this.credentials;
    const wanted = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`);
    const given = Buffer.from(message.headers['proxy-authorization'] ?? '');
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }

  #mayConnect(): boolean {
    this.#connections += 1;
    const { connections } = this.#options.limits;
    if (this.#connections > connections) this.cutOff(`the page opened more than ${connections} connections`);
    return this.exceeded === '';
  }

  /** Counts what passes through, and ends everything when it is too much. */
  #counter(): Transform {
    const { bytes } = this.#options.limits;
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#bytes += chunk.length;
        if (this.#bytes > bytes) this.cutOff(`the page loaded more than ${bytes} bytes`);
        done(null, chunk);
      },
    });
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';

const REASONS: Readonly<Record<number, string>> = { 403: 'Forbidden', 407: 'Proxy Authentication Required' };

const answer = (status: number, header = 'Cache-Control: no-store'): string =>
  `HTTP/1.1 ${status} ${REASONS[status]}\r\n${header}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
