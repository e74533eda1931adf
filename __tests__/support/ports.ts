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

/** 2026-01-02T03:04:05Z: a moment with different digits everywhere. */
export const NOON = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A clock whose time passes only by sleeping, at once. */
export class FakeClock implements Clock {
  time = NOON;
  /** Every pause that was asked for, in milliseconds. */
  readonly slept: number[] = [];

  now(): number {
    return this.time;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(ms);
    this.time += ms;
    // Lets I/O of the test's own servers go on between two sleeps.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Never fires: only a test moves this clock. */
  timeout(): AbortSignal {
    return new AbortController().signal;
  }
}

/** A meter as it was begun, how far it came, and whether it was ended. */
export interface FakeMeter {
  readonly title: string;
  readonly total: number;
  readonly unit: ProgressUnit;
  done: number;
  ended: boolean;
}

/** A log that remembers its lines, its secrets and its meters. */
export class FakeLogger implements Logger {
  readonly lines: string[] = [];
  readonly masked: string[] = [];
  readonly meters: FakeMeter[] = [];

  info(line: string): void {
    this.lines.push(line);
  }

  warning(line: string): void {
    this.lines.push(`warning: ${line}`);
  }

  startSection(title: string): void {
    this.lines.push(`# ${title}`);
  }

  endSection(): void {
    // A test reads titles and lines; where a section ends does not matter.
  }

  mask(secret: string): void {
    this.masked.push(secret);
  }

  progress(title: string, total: number, unit: ProgressUnit): Progress {
    const meter: FakeMeter = { title, total, unit, done: 0, ended: false };
    this.meters.push(meter);
    return {
      advance: (amount) => {
        meter.done += amount;
      },
      end: () => {
        meter.ended = true;
      },
    };
  }
}

/** An answer of a scripted host. */
export interface Scripted {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** A string, bytes, or an object that is sent as JSON; an Error breaks the body off. */
  readonly body?: string | Buffer | object | Error;
}

/** A request as the scripted host saw it, with its body read to the end. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * An HTTP port that answers from a script: by `METHOD url`, or whatever `answer` decides.
 * A request that nothing answers fails the test; an Error is thrown instead of answered.
 */
export class FakeHttp {
  readonly seen: Seen[] = [];
  readonly #answer: (request: Seen, nth: number) => Scripted | Error | undefined;

  constructor(answer: (request: Seen, nth: number) => Scripted | Error | undefined) {
    this.#answer = answer;
  }

  readonly http: SendHttp = async (request) => {
    request.signal?.throwIfAborted();
    const seen = {
      method: request.method,
      url: request.url.href,
      headers: request.headers ?? {},
      body: await bodyOf(request),
    };
    this.seen.push(seen);
    const answer = this.#answer(seen, this.seen.length);
    if (answer === undefined) throw new Error(`nothing answers ${seen.method} ${seen.url}`);
    if (answer instanceof Error) throw answer;
    return responseOf(answer);
  };
}

async function bodyOf({ body }: HttpRequest): Promise<string> {
  const made = body?.();
  if (made === undefined || typeof made === 'string') return made ?? '';
  const chunks = await made.toArray();
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString('latin1');
}

function responseOf({ status = 200, headers = {}, body = '' }: Scripted): HttpResponse {
  if (body instanceof Error) return { status, headers, body: brokenOff(body) };
  const json = typeof body === 'object' && !Buffer.isBuffer(body);
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(json ? JSON.stringify(body) : body);
  const type = json ? { 'content-type': 'application/json; charset=utf-8' } : {};
  return { status, headers: { ...type, ...headers }, body: Readable.from([bytes]) };
}

function brokenOff(error: Error): Readable {
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

/** All ports as fakes, time and chance in the test's hand. */
export function fakePorts(http: SendHttp = new FakeHttp(() => undefined).http): FakePorts {
  const stop = new AbortController();
  return {
    http,
    clock: new FakeClock(),
    logger: new FakeLogger(),
    signal: stop.signal,
    random: () => 0.5,
    stop,
  };
}
