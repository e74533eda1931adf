import { createReadStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** A request as a simulated host receives it. */
export interface HostRequest {
  readonly method: string;
  /** The address the client asked for, `https://…`, exactly as it was sent. */
  readonly url: string;
  readonly host: string;
  /** Still percent-encoded: `%2F` and `/` mean different things to some hosts. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  /** The number of its connection, from 0; without sockets, the number that the product chose. */
  readonly connection: number;
}

/** The reply of a host. A stream is sent as it arrives; set `content-length` when it is known. */
export interface HostReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | Readable;
}

/** Simulates one host: takes requests and returns replies, without sockets. */
export type HostHandler = (request: HostRequest) => HostReply | Promise<HostReply>;

/** Thrown by handlers to end a request with a reply. */
export class ReplyError extends Error {
  readonly reply: HostReply;

  constructor(reply: HostReply) {
    super(`${reply.status}`);
    this.reply = reply;
  }
}

export function replyJson(status: number, value: unknown, headers: Record<string, string> = {}): HostReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(value),
  };
}

export function replyText(status: number, body: string, headers: Record<string, string> = {}): HostReply {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body };
}

export function replyHtml(status: number, body: string, headers: Record<string, string> = {}): HostReply {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body };
}

export function replyRedirect(location: string, status = 302): HostReply {
  return { status, headers: { location, 'content-type': 'text/html; charset=utf-8', 'content-length': '0' } };
}

/** A reply with a file from disk, streamed. */
export function replyFile(path: string, size: number, headers: Record<string, string>): HostReply {
  return {
    status: 200,
    headers: { 'content-length': String(size), ...headers },
    body: createReadStream(path),
  };
}

/** Reads a stream into memory; not for files. */
export async function collectBytes(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

/** The JSON object of a request's body; null when it isn't one. */
export async function readJsonBody(request: HostRequest): Promise<Record<string, unknown> | null> {
  const body = await collectBytes(request.body);
  if (body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** `decodeURIComponent` that leaves undecodable text as it is. */
export function decodeComponent(component: string): string {
  try {
    return decodeURIComponent(component);
  } catch {
    return component;
  }
}
