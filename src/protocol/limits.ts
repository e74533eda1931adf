import type { ChannelKey } from './words.ts';

/**
 * Every limit, written once. Sizes are bytes, times are milliseconds.
 *
 * @see protocol 8
 */

export const MEGABYTE = 1_048_576;
export const SECOND = 1_000;
export const DAY = 86_400 * SECOND;

/** Largest file each way of placing takes. @see protocol 8 */
export const SIZE = {
  /** K1 method A, the single-call write. */
  methodA: MEGABYTE,
  /** K1 method B, the object API: above this size GitHub refuses blobs, and git's own protocol takes over. */
  methodB: 35 * MEGABYTE,
  /** The repository's ceiling. */
  repository: 95 * MEGABYTE,
  /** K2, one release asset. */
  asset: 2_048 * MEGABYTE,
} as const;

/** The largest file that a channel takes, and the channels for a larger one. @see protocol 8 */
export const MAX_FILE_SIZE: Readonly<
  Partial<Record<ChannelKey, { readonly bytes: number; readonly instead: string }>>
> = {
  K1: { bytes: SIZE.repository, instead: 'K2 or K3' },
  K2: { bytes: SIZE.asset, instead: 'K3' },
};

/** The wait for a pages build. @see protocol 8 */
export const BUILD_WAIT = {
  polls: 48,
  interval: 5 * SECOND,
  total: 240 * SECOND,
  /** Build polls without a build of our commit after which one is requested, once. */
  pollsBeforeRequest: 6,
} as const;

/** Build and verification together may not take longer. @see protocol 8 */
export const VERIFY_DEADLINE = 240 * SECOND;

/** The shortest time for build and verification that makes sense. */
export const MIN_TIMEOUT = SECOND / 10;

/** The shortest pause between two polls that a host is asked to bear. */
export const MIN_POLL_INTERVAL = 50;

/** One look at an address: as long as any exchange may take, and what a large file needs on a slow line. */
export const PROBE_TIME = { least: 60 * SECOND, perMegabyte: 4 * SECOND } as const;

/** Looks at each further address of a proven page; caches may lag, and never hold a delivery up for long. */
export const FURTHER_PROBES = 3;

/** Redirects that are followed while fetching an address back. */
export const MAX_REDIRECTS = 10;

/** Bounds of a single HTTP exchange. */
export const EXCHANGE = {
  connect: 15 * SECOND,
  /** Until the answer's headers arrive. */
  headers: 60 * SECOND,
  /** Between two pieces of an answer's body. */
  stall: 30 * SECOND,
  /** A whole call to the API, its answer included: an answer that only drips ends here. */
  api: 120 * SECOND,
  /** In which git says nothing while it talks to a host; it waits for the end of some broken answers for ever. */
  git: 300 * SECOND,
  /** Longest JSON answer that is read. */
  apiBody: 8 * MEGABYTE,
} as const;

/** Longest body that is read when an address is fetched back. */
export const MAX_FETCHED_BODY = SIZE.asset + MEGABYTE;

/** The retry policy's numbers. */
export const RETRY = {
  attempts: 5,
  firstPause: SECOND,
  longestPause: 60 * SECOND,
  /** From the first failure on; no further attempt begins later. */
  patience: 600 * SECOND,
  /** Added at most to a pause that the host asks for. */
  spread: SECOND,
  /** Losing a race against other writers passes sooner, and may happen more often. */
  conflict: { attempts: 40, firstPause: 250, longestPause: 16 * SECOND },
  /** A limit that names no end lasts a minute at least, which is half of the first pause; then ever longer. */
  limited: { attempts: 5, firstPause: 120 * SECOND, longestPause: 600 * SECOND },
} as const;

/** Time to clear away what is half done, when a delivery was stopped; a runner then waits 7.5 s at most. */
export const CLEANUP_TIME = 5 * SECOND;

/** From the beginning of a write to that of the next one of the same client. */
export const WRITE_INTERVAL = SECOND;

/** Assets of a release are listed in pages of this size, and there can be no more than the total. */
export const ASSETS = { page: 100, total: 1_000 } as const;

/** A pull request's comments: listed in pages of this size, no more than the host allows, no longer than it takes. */
export const COMMENTS = { page: 100, total: 2_500, body: 65_536 } as const;

/** Pull requests of one branch that are looked through. */
export const PULLS = 100;

/** Largest job summary of a step that the runner takes. */
export const SUMMARY = MEGABYTE;

/** The bin's name. */
export const BIN_NAME = { shortest: 8, longest: 60 } as const;

/** Deliveries in one step. */
export const BATCH = {
  /** Files; each stays open until its delivery has ended. */
  files: 500,
  /** Requests that only read, at once. */
  reads: 6,
  /** Paths above which a whole tree is read, instead of each path for itself. */
  paths: 3,
} as const;

/** Longest texts that are taken from the user or from a host. */
export const TEXT = { path: 1_024, message: 200, marker: 65_536, hostMessage: 300 } as const;

/** Pause between two lines of progress, by face. */
export const PROGRESS_INTERVAL = { action: 10 * SECOND, cli: 3 * SECOND } as const;

/** The device flow. @see protocol 2.2, 4.1, 8 */
export const DEVICE_FLOW = {
  scope: 'repo',
  grantType: 'urn:ietf:params:oauth:grant-type:device_code',
  /** Added to the pause by each slow_down. */
  slowDown: 5 * SECOND,
  /** Seconds, where the host names none; observed values. */
  interval: 5,
  lifetime: 899,
  /** Seconds; a host that asks for less is not polled faster. */
  leastInterval: 1,
} as const;
