import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { collect, type Handler, type Incoming, Refusal, type Reply, redirect } from './http.ts';
import { type Answer, asReply, type Interceptions } from './interceptions.ts';
import { PLAIN_HTTP_MARK } from './proxy.ts';
import type { Exchange, Wire } from './wire.ts';

/** The one server behind the proxy: every host of the world is played here. */
export interface Front {
  readonly port: number;
  close(): Promise<void>;
}

interface FrontParts {
  readonly wire: Wire;
  readonly interceptions: Interceptions;
  /** The host's handler; undefined for a host that does not exist. */
  readonly lookUp: (host: string) => Handler | undefined;
}

/** Starts the server on a free port of 127.0.0.1. */
export async function startFront(parts: FrontParts): Promise<Front> {
  const server = http.createServer((request, response) => {
    serve(parts, request, response).catch(() => request.socket.resetAndDestroy());
  });
  // Uploads of test size may take long on a busy machine; nothing here guards against slow clients.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  { wire, interceptions, lookUp }: FrontParts,
  raw: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const { request, exchange } = receive(wire, raw);
  const handler = lookUp(request.host);
  const answer = interceptions.take(request);
  // An unknown host can't be reached at all, as if its name did not resolve.
  if (handler === undefined && answer === undefined) return cut(raw);
  if (answer === undefined) {
    await send(request, exchange, response, await ask(handler, request));
  } else {
    await answerDifferently(answer, () => ask(handler, request), { raw, request, exchange, response });
  }
  request.body.resume();
}

function receive(wire: Wire, raw: http.IncomingMessage): { request: Incoming; exchange: Exchange } {
  const { [PLAIN_HTTP_MARK]: plain, ...headers } = raw.headers;
  const host = (headers.host ?? '').toLowerCase();
  const target = raw.url ?? '/';
  const url = `${plain === undefined ? 'https' : 'http'}://${host}${target}`;
  const method = raw.method ?? 'GET';
  const { exchange, tap } = wire.record({ method, url, host, headers });
  pipeline(raw, tap).catch(() => tap.destroy());
  tap.on('error', () => {});
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1));
  return { request: { method, url, host, path, query, headers, body: tap }, exchange };
}

/** What a host answers; its failures are answers too. */
export async function ask(handler: Handler | undefined, request: Incoming): Promise<Reply> {
  if (handler === undefined) throw new Error(`No such host: ${request.host}`);
  if (!request.url.startsWith('https:')) return redirect(request.url.replace('http:', 'https:'), 301);
  try {
    return await handler(request);
  } catch (error) {
    if (error instanceof Refusal) return error.reply;
    console.error(`The world failed at ${request.method} ${request.url}:`, error);
    return { status: 500, headers: { 'content-type': 'text/plain' }, body: `The world failed: ${error}` };
  }
}

interface Conversation {
  readonly raw: http.IncomingMessage;
  readonly request: Incoming;
  readonly exchange: Exchange;
  readonly response: http.ServerResponse;
}

async function answerDifferently(
  answer: Answer,
  askHost: () => Promise<Reply>,
  { raw, request, exchange, response }: Conversation,
): Promise<void> {
  if ('alter' in answer) {
    const altered = await answer.alter(await inMemory(await askHost()), request);
    return send(request, exchange, response, asReply(altered));
  }
  if (!('fault' in answer)) return send(request, exchange, response, asReply(answer));
  if (answer.fault === 'hang') return answer.meanwhile?.();
  if (answer.fault === 'reset-before') return cut(raw);
  const real = await inMemory(await askHost());
  if (answer.fault === 'reset-after') return cut(raw);
  if (answer.fault === 'drip') return drip(response, real, answer.pause);
  const announced = real.body.length + (answer.fault === 'short' ? 1 : 0);
  response.writeHead(real.status, { ...real.headers, 'content-length': announced });
  if (answer.fault === 'short') return void response.write(real.body, () => raw.socket.end());
  // Cut only once the half has left this process, or the client would see nothing of it.
  response.write(real.body.subarray(0, Math.floor(real.body.length / 2)), () => {
    setTimeout(() => cut(raw), 20);
  });
}

async function drip(
  response: http.ServerResponse,
  { status, headers, body }: Awaited<ReturnType<typeof inMemory>>,
  pause: () => Promise<void>,
): Promise<void> {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  for (const byte of body) {
    if (response.destroyed || response.closed) return;
    response.write(Buffer.from([byte]));
    await pause();
  }
  response.end();
}

async function send(
  { method }: Incoming,
  exchange: Exchange,
  response: http.ServerResponse,
  { status, headers = {}, body = '' }: Reply,
): Promise<void> {
  exchange.status = status;
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body instanceof Readable) {
    if (method !== 'HEAD') return pipeline(body, response);
    body.destroy();
    response.end();
    return;
  }
  if (!response.hasHeader('content-length') && status !== 204 && status !== 304) {
    response.setHeader('content-length', Buffer.byteLength(body));
  }
  response.end(method === 'HEAD' ? '' : body);
}

async function inMemory({
  status,
  headers = {},
  body = '',
}: Reply): Promise<{ status: number; headers: Record<string, string>; body: Buffer }> {
  // The length is set anew when an altered body is sent.
  const { 'content-length': _, ...rest } = headers;
  return { status, headers: rest, body: body instanceof Readable ? await collect(body) : Buffer.from(body) };
}

function cut(raw: http.IncomingMessage): void {
  raw.socket.resetAndDestroy();
}
