import type { Readable } from 'node:stream';

/** The current time and timers. Only `systemClock` reads the machine's clocks; tests use a fake one. */
export interface Clock {
  /** Milliseconds from any start that never jump, for deadlines and durations. */
  now(): number;
  /** Milliseconds since the epoch, for dates. Somebody may set this clock. */
  date(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  timeout(ms: number): AbortSignal;
}

/** The log of a run. Lines are plain text; the implementation escapes them for its output. */
export interface Logger {
  info(line: string): void;
  warning(line: string): void;
  /** For maintainers: shown only in a debugged run. */
  debug(line: string): void;
  /** Ends the current section and starts another. */
  startSection(title: string): void;
  endSection(): void;
  /** From now on the secret is replaced in all output. */
  mask(secret: string): void;
  progress(title: string, total: number, unit: ProgressUnit): Progress;
}

export type ProgressUnit = 'bytes' | 'milliseconds' | 'files';

export interface Progress {
  /** Adds an amount in the unit of this progress. */
  advance(amount: number): void;
  end(): void;
}

export interface HttpRequest {
  readonly method: string;
  /** An absolute https URL. */
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Creates a new body for each attempt. */
  readonly body?: () => Readable | Buffer | string;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from the sent body to the response headers; `EXCHANGE.headers` by default. */
  readonly headersTimeout?: number | undefined;
  /** For untrusted URLs: connects to public addresses only. */
  readonly publicOnly?: boolean;
  /** Requests with different numbers never share a connection; 0 by default. */
  readonly connections?: number | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be read to its end or destroyed. */
  readonly body: Readable;
}

/** Sends one request, once, and follows no redirect. @throws {DeliveryError} `CONNECTION` or `NO_NETWORK` */
export type SendHttp = (request: HttpRequest) => Promise<HttpResponse>;

/** The core's connections to the outside world, which tests replace. */
export interface Ports {
  readonly http: SendHttp;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Returns a number in [0, 1), for jitter and for names. */
  readonly random: () => number;
  /** The only access to the environment. */
  readonly env: NodeJS.ProcessEnv;
  readonly tempFolder: string;
}
