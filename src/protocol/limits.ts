import type { ChannelKey } from './words.ts';

/** Limits of the protocol, of the hosts, and of several files. In bytes and milliseconds. @see protocol 8 */

export const MEGABYTE = 1_048_576;
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** @see protocol 8 */
export const SIZE = {
  methodA: MEGABYTE,
  /** GitHub refuses larger blobs; method C pushes them with git. */
  methodB: 35 * MEGABYTE,
  /** One file with any method of K1, not a whole site. */
  repository: 95 * MEGABYTE,
  asset: 2_048 * MEGABYTE,
} as const;

/** The largest file that a channel accepts, and the channels for larger files. @see protocol 8 */
export const MAX_FILE_SIZE: Readonly<
  Partial<Record<ChannelKey, { readonly bytes: number; readonly instead: readonly ChannelKey[] }>>
> = { K1: { bytes: SIZE.repository, instead: ['K2', 'K3'] }, K2: { bytes: SIZE.asset, instead: ['K3'] } };

export const ARTIFACT = {
  block: 4 * MEGABYTE,
  atOnce: 2,
  /** GitHub Pages reads it much earlier. */
  life: DAY,
  pause: 10 * SECOND,
} as const;

/** A site without a branch: its receipt, and the files that a deployment takes over from the live site. */
export const RECEIPT = {
  bytes: 5 * MEGABYTE,
  /** Characters of what one delivery says. */
  message: MEGABYTE - 100_000,
  /** Ids of earlier receipts; deliveries without a file, and the removed paths of each, for audits. */
  before: 50,
  ended: 50,
  removed: 100,
  /** Deployments of one run, if other jobs replace each of them. */
  attempts: 5,
  settle: 30 * SECOND,
  /** Between two looks at the live receipt. */
  gap: 5 * SECOND,
  smallFile: MEGABYTE / 8,
  inMemory: 32 * MEGABYTE,
  verifiedOthers: 100,
} as const;

/** @see protocol 8 */
export const BUILD_WAIT = {
  polls: 48,
  interval: 5 * SECOND,
  pollsBeforeRequest: 6,
  /** The wait may include this many pauses that the host asks for. */
  longestPauses: 4,
  /** The newest runs that are read: others may start the workflow on the branch too. */
  runs: 20,
} as const;

/** For build and verification together, unless `timeout` is set. @see protocol 8 */
export const VERIFY_DEADLINE = 240 * SECOND;

/** A large file may take longer on a slow connection. */
export const PROBE_TIME = { least: 60 * SECOND, perMegabyte: 4 * SECOND } as const;

/** Rounds after which a cache's old copy is accepted, and an optional URL is given up. */
export const MAX_ROUNDS = 3;

/** Consecutive right answers that verify a URL, each from another cache node; doubled after a wrong answer. */
export const AGREEING_ANSWERS = {
  usual: 4,
  /** For a file-bin, which may limit downloads and has one store behind it. */
  counted: 1,
  audited: 2,
  most: 32,
} as const;

/** Bytes of a large file that later requests compare; the first request compares all. */
export const PARTIAL_PROBE = 262_144;

/** Bytes of the largest page in which the host's additions are found. */
export const MAX_JUDGED_PAGE = 2 * MEGABYTE;

export const MAX_REDIRECTS = 10;

export const EXCHANGE = {
  connect: 15 * SECOND,
  headers: 60 * SECOND,
  stall: 30 * SECOND,
  /** Limits a call even if the answer arrives in tiny pieces. `perMegabyte` is added for what is sent. */
  api: 120 * SECOND,
  perMegabyte: 16 * SECOND,
  archive: 240 * SECOND,
  apiBody: 8 * MEGABYTE,
} as const;

/** The file-bin answers only after it has stored the file elsewhere. */
export const BIN_ANSWER = { longest: 900 * SECOND, interval: 10 * SECOND } as const;

/** More than any file that can be delivered. */
export const MAX_FETCHED_BODY = SIZE.asset + MEGABYTE;

export const RETRY = {
  attempts: 5,
  firstPause: SECOND,
  longestPause: 60 * SECOND,
  /** No attempt starts later than this after the first failure. */
  totalTime: 600 * SECOND,
  /** The random part of a pause that the host asks for. */
  spread: SECOND,
  /** Conflicts with another writer end sooner and may happen more often. */
  conflict: { attempts: 40, firstPause: 250, longestPause: 16 * SECOND },
  /** For a rate limit without a reset time: at least a minute (half of the first pause), then longer. */
  limited: { attempts: 5, firstPause: 120 * SECOND, longestPause: 600 * SECOND },
} as const;

/** A runner kills the process 7.5 s after a cancellation. */
export const CLEANUP_TIME = 5 * SECOND;

/** GitHub lists at least this many assets of each release. */
export const LISTED_ASSETS = 30;

/** The pages are small because each release lists its assets. */
export const RELEASES = { page: 30, total: 300 } as const;

/** How many tags we try if earlier releases are immutable. */
export const TAG_ATTEMPTS = 100;

export const OTHERS_UPLOAD = 10 * SECOND;

/** GitHub ends a job after this time, so a draft that is unchanged for longer has no job any more. */
export const QUIET_DRAFT = 6 * HOUR;

/** GitHub's limit for a token, minus some writes for other jobs. */
export const WRITES_PER_HOUR = 480;

export const COMMENTS = { body: 65_536, rewrites: 50, memory: 16_384 } as const;

/** GitHub's largest page. For a branch's rules, pull requests and deployments only one page is read. */
export const LIST_PAGE = 100;

/** GitHub allows no more comments on a pull request, and fewer assets in a release. */
export const LIST_TOTAL = 2_500;

export const SUMMARY = MEGABYTE;

export const BIN_NAME = { shortest: 8, longest: 60 } as const;

/** Our longest file name in a bin, and the longest text that we quote from a bin. In bytes. */
export const BIN_FILE_NAME = 120;

export const BATCH = {
  /** Files and folders that a pattern's search may visit. */
  looked: 500_000,
  files: 500,
  reads: 6,
  probes: 12,
  /** Each folder sends many requests of its own. */
  folders: 4,
  /** For more paths than this, the whole tree is read. */
  paths: 3,
  /** Paths in one GraphQL query, and versions of each path if the paths are few. */
  history: 50,
  versions: 10,
} as const;

export const HISTORY_PAGES = 12;

export const SITE = {
  files: 10_000,
  entries: 50_000,
  /** The largest Pages site, and the size that causes a warning. */
  size: 1_024 * MEGABYTE,
  largeSize: 800 * MEGABYTE,
  checks: 4,
  probes: 16,
  /** Changed files that are also fetched without `?v=`, as a browser does. */
  plainProbes: 100,
  /** Up to this many files of a link's site must answer as often as its page. Of a larger site, each answers once. */
  fewLinked: 100,
  /** Time after the deadline, so that each file is fetched at least once. */
  overtime: 15 * SECOND,
  /** Changed files that the object API sends, one per request, if git can't be used; pictures of changed pages come on top. */
  apiWrites: 20,
  /** Neighbouring folders whose last commit is read, for `keep`. */
  siblings: 500,
  /** Older commits whose trees a withdrawal reads, for changed sites. */
  olderTrees: 20,
  kept: 500,
  /** Files whose own history is read, to see whether they were delivered one by one. */
  singleFiles: 500,
  named: 10,
  listed: 500,
  /** GitHub signs at most this many URLs at once. */
  subjects: 1_024,
} as const;

/** A list takes at most ten requests: it reads less of the history, and the newest releases. */
export const LISTING = { pages: 3, olderTrees: 0, releases: { page: 30, total: 30 }, shown: 50 } as const;

/** A comparison with another folder: how many pages with other bytes are read, each one's most bytes, and how many have pictures. */
export const COMPARE = { pages: 300, page: 2 * MEGABYTE, pictures: 5, time: 60 * SECOND } as const;

export const AUDIT = {
  pages: HISTORY_PAGES,
  /** Older commits whose files are read, for changed or removed folders. */
  olderTrees: 12,
  together: 12,
  /** URLs of a removed folder that must answer 404. */
  gone: 10,
} as const;

export const SCREEN = {
  pages: 10,
  /** A browser takes too long to open more. */
  largestText: MEGABYTE,
  largestImage: 8 * MEGABYTE,
  /** Time that one step may lose to a browser that doesn't start, crashes or hangs. */
  lost: 30 * SECOND,
  clearDifference: 0.02,
  marker: 1_000,
  markedPage: 4 * MEGABYTE,
  /** A picture of 1280 × 800 pixels with four bytes each is always smaller. */
  picture: 5 * MEGABYTE,
  text: 200,
  /** Characters of a page's text, to compare it with what the page shows elsewhere. */
  seen: 100_000,
} as const;

/** GitHub Pages lets caches keep a page for ten minutes. */
export const SITE_CACHE = 600 * SECOND;

/** Lengths in characters, except `marker` and `refusal`, which are in bytes. */
export const TEXT = {
  path: 1_024,
  message: 200,
  /** A reason or a hint in an agent's answer. */
  answer: 600,
  marker: 65_536,
  hostMessage: 300,
  refusal: 4_096,
  shortestMarker: 3,
} as const;

/** Content that is given instead of a file. After `silence` the log says that nothing arrives. */
export const CONTENT = {
  bytes: SIZE.repository,
  name: 255,
  silence: 3 * SECOND,
  time: 600 * SECOND,
} as const;

/** A page that is made self-contained, or a text that is rendered as a page. `time` is for each file. */
export const CONVERT = {
  source: 20 * MEGABYTE,
  files: 100,
  bytes: 20 * MEGABYTE,
  time: 30 * SECOND,
} as const;

export const PROGRESS_INTERVAL = {
  action: 10 * SECOND,
  cli: 3 * SECOND,
  /** Many clients end a call after 60 s of silence. */
  mcp: 45 * SECOND,
  terminal: SECOND / 2,
} as const;

/** @see protocol 2.2, 4.1, 8 */
export const DEVICE_FLOW = {
  scope: 'repo',
  grantType: 'urn:ietf:params:oauth:grant-type:device_code',
  slowDown: 5 * SECOND,
  /** Seconds. `fallback` was observed; `max` protects a job from waiting longer. */
  interval: { fallback: 5, min: 1, max: 60 },
  lifetime: { fallback: 899, min: 0, max: 1_800 },
} as const;

export const MCP = {
  content: 5 * MEGABYTE,
  argument: 65_536,
  /** JSON may escape every byte of `content`. A longer message ends the server. */
  message: 48 * MEGABYTE,
  calls: 8,
  /** Clients give up after 60 s by default. */
  authorization: 40 * SECOND,
  answers: 20,
  progress: 10,
  /** Deliveries whose bytes a server remembers. */
  remembered: 1_000,
} as const;
