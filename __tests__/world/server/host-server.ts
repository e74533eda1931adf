import http from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { InterceptedReply, InterceptionRules } from './interceptions.ts';
import {
  collectBytes,
  type HostHandler,
  type HostReply,
  type HostRequest,
  ReplyError,
  replyRedirect,
} from './messages.ts';
import { type InterceptingProxy, interceptTunnels, readTarget, resetConnection } from './proxy.ts';
import type { HttpExchange, TrafficLog } from './traffic-log.ts';

interface HostServerOptions {
  readonly traffic: TrafficLog;
  readonly interceptions: InterceptionRules;
  /** The host's handler; undefined for a host that does not exist. */
  readonly findHandler: (host: string) => HostHandler | undefined;
}

/** Starts the server of every host on a free port of 127.0.0.1, and the proxy that leads to it. */
export async function startHostServer(parts: HostServerOptions, folder: string): Promise<InterceptingProxy> {
  const server = http.createServer((request, response) => {
    serve(parts, request, response).catch(() => resetConnection(request.socket));
  });
  // Uploads may take long on a busy machine, so there is no request timeout.
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return interceptTunnels(server, folder);
}

async function serve(
  { traffic, interceptions, findHandler }: HostServerOptions,
  raw: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const { request, exchange } = receive(traffic, raw);
  const handler = findHandler(request.host);
  const answer = interceptions.take(request);
  // An unknown host can't be reached, as if its name did not resolve.
  if (handler === undefined && answer === undefined) return resetConnection(raw.socket);
  const askHost = async () => {
    const reply = await callHandler(handler, request);
    exchange.answer = parseAnswer(reply);
    return reply;
  };
  if (answer === undefined) await send(exchange, response, await askHost());
  else await sendIntercepted(answer, askHost, { raw, request, exchange, response });
  request.body.resume();
}

function parseAnswer({ status, headers = {}, body }: HostReply): HttpExchange['answer'] {
  if (typeof body !== 'string' || !/json/.test(headers['content-type'] ?? '')) return null;
  return { status, body: JSON.parse(body) };
}

/** The connections in the order of their first requests. */
const numbers = new WeakMap<object, number>();
let lastNumber = -1;

function numberOf(socket: object): number {
  const number = numbers.get(socket) ?? ++lastNumber;
  numbers.set(socket, number);
  return number;
}

function receive(
  traffic: TrafficLog,
  raw: http.IncomingMessage,
): { request: HostRequest; exchange: HttpExchange } {
  const { headers, method = 'GET' } = raw;
  const { scheme, host, target } = readTarget(raw);
  const url = `${scheme}://${host}${target}`;
  const { exchange, tap } = traffic.record({ method, url, host, headers });
  pipeline(raw, tap).catch(() => tap.destroy());
  tap.on('error', () => {});
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1));
  const connection = numberOf(raw.socket);
  return { request: { method, url, host, path, query, headers, body: tap, connection }, exchange };
}

/** Calls a host; a thrown `ReplyError` is its reply. */
export async function callHandler(
  handler: HostHandler | undefined,
  request: HostRequest,
): Promise<HostReply> {
  if (handler === undefined) throw new Error(`No such host: ${request.host}`);
  if (!request.url.startsWith('https:')) return replyRedirect(request.url.replace('http:', 'https:'), 301);
  try {
    return await handler(request);
  } catch (error) {
    if (error instanceof ReplyError) return error.reply;
    console.error(`The local GitHub failed at ${request.method} ${request.url}:`, error);
    return {
      status: 500,
      headers: { 'content-type': 'text/plain' },
      body: `The local GitHub failed: ${error}`,
    };
  }
}

interface PendingExchange {
  readonly raw: http.IncomingMessage;
  readonly request: HostRequest;
  readonly exchange: HttpExchange;
  readonly response: http.ServerResponse;
}

async function sendIntercepted(
  answer: InterceptedReply,
  askHost: () => Promise<HostReply>,
  { raw, request, exchange, response }: PendingExchange,
): Promise<void> {
  if ('alter' in answer) {
    const altered = await answer.alter(await bufferReply(await askHost()), request);
    return send(exchange, response, altered);
  }
  if (!('fault' in answer)) return send(exchange, response, answer);
  if (answer.fault === 'hang') return answer.meanwhile?.();
  if (answer.fault === 'reset-before') return resetConnection(raw.socket);
  const real = await bufferReply(await askHost());
  if (answer.fault === 'reset-after') return resetConnection(raw.socket);
  if (answer.fault === 'drip') return sendSlowly(response, real, answer.pause);
  const announced = real.body.length + (answer.fault === 'short' ? 1 : 0);
  response.writeHead(real.status, { ...real.headers, 'content-length': announced });
  if (answer.fault === 'short') return void response.write(real.body, () => raw.socket.end());
  // Reset only after half of the body has left this process, or the client would get nothing.
  response.write(real.body.subarray(0, Math.floor(real.body.length / 2)), () => {
    setTimeout(() => resetConnection(raw.socket), 20);
  });
}

async function sendSlowly(
  response: http.ServerResponse,
  { status, headers, body }: Awaited<ReturnType<typeof bufferReply>>,
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
  exchange: HttpExchange,
  response: http.ServerResponse,
  { status, headers = {}, body = '' }: HostReply,
): Promise<void> {
  exchange.status = status;
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body instanceof Readable) return pipeline(body, response);
  if (!response.hasHeader('content-length') && status !== 204 && status !== 304) {
    response.setHeader('content-length', Buffer.byteLength(body));
  }
  response.end(body);
}

async function bufferReply({
  status,
  headers = {},
  body = '',
}: HostReply): Promise<{ status: number; headers: Record<string, string>; body: Buffer }> {
  // The length is set anew when an altered body is sent.
  const { 'content-length': _, ...rest } = headers;
  return {
    status,
    headers: rest,
    body: body instanceof Readable ? await collectBytes(body) : Buffer.from(body),
  };
}
