import type { Readable } from 'node:stream';

/** The current time and timers. Only `systemClock` reads the machine's clocks; tests use a fake one. */
export interface Clock {
  /** Milliseconds that never jump, for deadlines and durations. Where they begin means nothing. */
  now(): number;
  /** Milliseconds since the epoch, for dates that are shown or compared with a host's. Somebody may set this clock. */
  date(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  timeout(ms: number): AbortSignal;
}

/** The log of a run. Lines are plain text; the implementation escapes them for its output. */
export interface Logger {
  info(line: string): void;
  warning(line: string): void;
  /** For the authors of this tool: shown only where a run is debugged. */
  debug(line: string): void;
  /** Starts a titled section of the log; the one before ends. */
  startSection(title: string): void;
  endSection(): void;
  /** From now on the secret is replaced in everything that is printed. */
  mask(secret: string): void;
  progress(title: string, total: number, unit: ProgressUnit): Progress;
}

export type ProgressUnit = 'bytes' | 'milliseconds' | 'files';

export interface Progress {
  /** Adds to what is done, in the unit of this progress. */
  advance(amount: number): void;
  end(): void;
}

export interface HttpRequest {
  readonly method: string;
  /** An absolute https URL. */
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called once for each attempt, so that every attempt has a new body. */
  readonly body?: () => Readable | Buffer | string;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the headers of the response must arrive once the body was sent; `EXCHANGE.headers` by default. */
  readonly headersTimeout?: number | undefined;
  /** Whether to connect to public addresses only, because the URL comes from an untrusted source. */
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

/** The connections of the core to the outside world, passed in so that tests can replace them. */
export interface Ports {
  readonly http: SendHttp;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Returns a number in [0, 1), for jitter and for names. */
  readonly random: () => number;
  /** The environment of the process. Nothing below reads it otherwise. */
  readonly env: NodeJS.ProcessEnv;
  /** Where temporary files go. */
  readonly tempFolder: string;
}
