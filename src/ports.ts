import type { Readable } from 'node:stream';

/** Time, injected: no code of the core reads the machine's clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as that aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A signal that aborts after `ms`. */
  timeout(ms: number): AbortSignal;
}

/** Where the story is told. Lines are plain text; the face makes them safe for its medium. */
export interface Logger {
  info(line: string): void;
  warning(line: string): void;
  /** Begins a titled section; the one before ends. */
  startSection(title: string): void;
  endSection(): void;
  /** From now on the secret stands in nothing that is shown. */
  mask(secret: string): void;
  /** Begins to show how far something long is, such as an upload. */
  progress(title: string, total: number, unit: ProgressUnit): Progress;
}

export type ProgressUnit = 'bytes' | 'milliseconds';

/** How far something long is. */
export interface Progress {
  /** So much more is done, in the meter's unit. */
  advance(amount: number): void;
  end(): void;
}

export interface HttpRequest {
  readonly method: string;
  /** Absolute and https. */
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called once for each attempt, so that a repeated request has a fresh body. */
  readonly body?: () => Readable | string;
  readonly signal?: AbortSignal | undefined;
  /** Whether only public addresses may be connected to: the address came from outside. */
  readonly publicOnly?: boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be read to its end or destroyed. */
  readonly body: Readable;
}

/**
 * One HTTP exchange: no redirect is followed, nothing is sent twice.
 *
 * @throws {DeliveryError} `CONNECTION` or `NO_NETWORK` when no answer came.
 */
export type SendHttp = (request: HttpRequest) => Promise<HttpResponse>;

/** What every part that acts in time is given. */
export interface Ports {
  readonly http: SendHttp;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborts when the delivery is to stop. */
  readonly signal: AbortSignal;
  /** A number in [0, 1): jitter and names. */
  readonly random: () => number;
}
