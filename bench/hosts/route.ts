import type { IncomingMessage, ServerResponse } from 'node:http';

export const OWNER = 'bench';
export const REPOSITORY = 'site';
/** The tag of a release that exists already. */
export const EXISTING_TAG = 'bench';

/** One call of one host; its path's groups are decoded. */
export interface BenchRoute {
  readonly host: string;
  readonly method: string;
  readonly path: RegExp;
  readonly serve: (call: BenchCall) => Promise<void> | void;
}

export interface BenchCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  /** The path's groups. */
  readonly parts: readonly string[];
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(value));
}

/** The JSON of a request, read into memory. */
export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks = await request.toArray();
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}
