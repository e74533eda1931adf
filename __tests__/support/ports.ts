import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import type {
  Clock,
  HttpRequest,
  HttpResponse,
  Logger,
  Ports,
  Progress,
  ProgressUnit,
  SendHttp,
} from '../../src/ports.ts';

/** The time at which a FakeClock starts: 2026-01-02T03:04:05Z, so that no two parts are equal. */
export const NOON = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A clock whose time advances only when something sleeps, without real waiting. */
export class FakeClock implements Clock {
  time = NOON;
  /** Every pause so far, in milliseconds. */
  readonly slept: number[] = [];

  now(): number {
    return this.time;
  }

  date(): number {
    return this.time;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(ms);
    this.time += ms;
    // Lets the servers of the test handle I/O between two pauses.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Never aborts, because only a test advances this clock. */
  timeout(): AbortSignal {
    return new AbortController().signal;
  }
}

/** Progress that was started: its arguments, how much is done, and whether it was ended. */
export interface FakeProgress {
  readonly title: string;
  readonly total: number;
  readonly unit: ProgressUnit;
  done: number;
  ended: boolean;
}

/** A logger that records its lines, its secrets and its progress; like every logger it may be spread. */
export class FakeLogger implements Logger {
  readonly lines: string[] = [];
  readonly masked: string[] = [];
  readonly shownProgress: FakeProgress[] = [];

  info = (line: string): void => {
    this.lines.push(line);
  };

  warning = (line: string): void => {
    this.lines.push(`warning: ${line}`);
  };

  debug = (line: string): void => {
    this.lines.push(`debug: ${line}`);
  };

  startSection = (title: string): void => {
    this.lines.push(`# ${title}`);
  };

  endSection = (): void => {
    // A test reads titles and lines; where a section ends does not matter.
  };

  mask = (secret: string): void => {
    this.masked.push(secret);
  };

  progress = (title: string, total: number, unit: ProgressUnit): Progress => {
    const shown: FakeProgress = { title, total, unit, done: 0, ended: false };
    this.shownProgress.push(shown);
    return {
      advance: (amount) => {
        shown.done += amount;
      },
      end: () => {
        shown.ended = true;
      },
    };
  };
}

/** The response of a fake host. */
export interface Scripted {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** A text, bytes, or an object that is sent as JSON; an Error interrupts the body. */
  readonly body?: string | Buffer | object | Error;
}

/** A request that was sent to a fake host, with its whole body. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Respond = (request: Seen, nth: number) => Scripted | Error | undefined | Promise<Scripted>;

/**
 * An HTTP client with the responses of `respond`: an Error is thrown, and a request without a response fails the test.
 */
export class FakeHttp {
  readonly seen: Seen[] = [];
  readonly #respond: Respond;

  constructor(respond: Respond) {
    this.#respond = respond;
  }

  readonly http: SendHttp = async (request) => {
    request.signal?.throwIfAborted();
    const sent = {
      method: request.method,
      url: request.url.href,
      headers: request.headers ?? {},
      body: await readBody(request),
    };
    this.seen.push(sent);
    const given = this.#respond(sent, this.seen.length);
    const response = given instanceof Promise ? await given : given;
    if (response === undefined) throw new Error(`no response for ${sent.method} ${sent.url}`);
    if (response instanceof Error) throw response;
    return createResponse(response);
  };
}

async function readBody({ body }: HttpRequest): Promise<string> {
  const content = body?.();
  if (content === undefined || typeof content === 'string') return content ?? '';
  if (Buffer.isBuffer(content)) return content.toString('latin1');
  const chunks = await content.toArray();
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString('latin1');
}

function createResponse({ status = 200, headers = {}, body = '' }: Scripted): HttpResponse {
  if (body instanceof Error) return { status, headers, body: interruptedBody(body) };
  const json = typeof body === 'object' && !Buffer.isBuffer(body);
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(json ? JSON.stringify(body) : body);
  const type = json ? { 'content-type': 'application/json; charset=utf-8' } : {};
  return { status, headers: { ...type, ...headers }, body: createBody(bytes) };
}

/** A body as undici's: one that is closed before its end fails, and whoever closes it must expect that. */
function createBody(bytes: Buffer): Readable {
  return new Readable({
    read() {
      if (bytes.length > 0) this.push(bytes);
      this.push(null);
    },
    destroy(error, callback) {
      const aborted = Object.assign(new Error('Request aborted'), { name: 'AbortError' });
      callback(error ?? (this.readableEnded ? null : aborted));
    },
  });
}

function interruptedBody(error: Error): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from('half a');
      throw error;
    })(),
  );
}

export interface FakePorts extends Ports {
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  readonly stop: AbortController;
}

/** Fakes of all ports; the test controls time and random numbers. */
export function fakePorts(http: SendHttp = new FakeHttp(() => undefined).http): FakePorts {
  const stop = new AbortController();
  return {
    http,
    clock: new FakeClock(),
    logger: new FakeLogger(),
    signal: stop.signal,
    random: () => 0.5,
    env: process.env,
    tempFolder: tmpdir(),
    stop,
  };
}
