import type { ChannelKey } from './words.ts';

/** The limits of the protocol and of the hosts, and those that several files share. Bytes and milliseconds. @see protocol 8 */

export const MEGABYTE = 1_048_576;
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The largest file for each upload method. @see protocol 8 */
export const SIZE = {
  /** K1 method A: one request with the content. */
  methodA: MEGABYTE,
  /** K1 method B: the Git database API. GitHub refuses larger blobs; these are pushed with git instead (method C). */
  methodB: 35 * MEGABYTE,
  /** K1 by any method: one file, not all of a site. */
  repository: 95 * MEGABYTE,
  /** K2: one release asset. */
  asset: 2_048 * MEGABYTE,
} as const;

/** The largest file that a channel accepts, and the channels for larger files. @see protocol 8 */
export const MAX_FILE_SIZE: Readonly<
  Partial<Record<ChannelKey, { readonly bytes: number; readonly instead: readonly ChannelKey[] }>>
> = { K1: { bytes: SIZE.repository, instead: ['K2', 'K3'] }, K2: { bytes: SIZE.asset, instead: ['K3'] } };

/** The artifact of a site that this action deploys. Bytes, and milliseconds. */
export const ARTIFACT = {
  /** A piece of it that is sent, and repeated, by itself; and how many at the same time. */
  block: 4 * MEGABYTE,
  atOnce: 2,
  /** GitHub Pages has read it long before. */
  life: DAY,
  /** Pause before another deployment's end is looked for again. */
  pause: 10 * SECOND,
} as const;

/** How long to wait for a Pages build. @see protocol 8 */
export const BUILD_WAIT = {
  polls: 48,
  interval: 5 * SECOND,
  /** After this many polls without a build of the delivered commit, a build is requested once. */
  pollsBeforeRequest: 6,
  /** The whole wait has room for so many pauses that the host may ask for. */
  longestPauses: 4,
  /** How many of the newest runs of that workflow are read: others may start it on the branch too. */
  runs: 20,
} as const;

/** The time for build and verification together, unless `timeout` says otherwise. @see protocol 8 */
export const VERIFY_DEADLINE = 240 * SECOND;

/** The smallest and the largest value of the `timeout` input. */
export const MIN_TIMEOUT = SECOND / 10;
export const MAX_TIMEOUT = 1_800 * SECOND;

export const MIN_POLL_INTERVAL = 50;

/** The time limit of one probe: a base, and more for a large file on a slow connection. */
export const PROBE_TIME = { least: 60 * SECOND, perMegabyte: 4 * SECOND } as const;

/** Rounds of probes after which a cache's old copy is accepted, and a further address that is optional is given up. */
export const MAX_ROUNDS = 3;

/** Right answers in a row that prove an address, each from another cache node; after a wrong one twice as many. */
export const AGREEING_ANSWERS = {
  usual: 4,
  /** Where the host may limit downloads: a file-bin has one store behind it. */
  counted: 1,
  /** Assets of an audit. */
  audited: 2,
  most: 32,
} as const;

/** From the first to the second probe of a link from outside, which may open only once or for a moment. */
export const SECOND_PROBE_DELAY = 5 * SECOND;

/** Bytes of a large file that each further probe compares; the first one compares all. */
export const PARTIAL_PROBE = 262_144;

/** Bytes of a page that are kept where its host may add to it: then all of it is compared. */
export const MAX_JUDGED_PAGE = 2 * MEGABYTE;

export const MAX_REDIRECTS = 10;

export const EXCHANGE = {
  connect: 15 * SECOND,
  /** Until the headers of the response arrive. */
  headers: 60 * SECOND,
  /** Between two chunks of the response body. */
  stall: 30 * SECOND,
  /** A whole API call with its response, even if that arrives in very small pieces; and more for each megabyte sent. */
  api: 120 * SECOND,
  perMegabyte: 16 * SECOND,
  /** The archive of a branch, which is sent on while it is read. */
  archive: 240 * SECOND,
  /** The longest JSON response that is read. */
  apiBody: 8 * MEGABYTE,
} as const;

/** The file-bin answers once it has stored the file elsewhere: the longest time, and that between two looks. */
export const BIN_ANSWER = { longest: 900 * SECOND, interval: 10 * SECOND } as const;

/** Bytes that are read of one answer: more than any file that can be delivered has. */
export const MAX_FETCHED_BODY = SIZE.asset + MEGABYTE;

export const RETRY = {
  attempts: 5,
  firstPause: SECOND,
  longestPause: 60 * SECOND,
  /** No attempt starts later than this after the first failure. */
  totalTime: 600 * SECOND,
  /** The most that is added to a pause that the host asks for. */
  spread: SECOND,
  /** A conflict with another writer is over sooner and may happen more often. */
  conflict: { attempts: 40, firstPause: 250, longestPause: 16 * SECOND },
  /** For a rate limit without an end: wait one minute at least (half of the first pause), then longer. */
  limited: { attempts: 5, firstPause: 120 * SECOND, longestPause: 600 * SECOND },
} as const;

/** Time for cleanup after a delivery was stopped; a runner kills the process after 7.5 s. */
export const CLEANUP_TIME = 5 * SECOND;

/** From the start of one write to the start of the next one of the same client. */
export const WRITE_INTERVAL = SECOND;

/** How many assets of each release a list of releases names at least. */
export const LISTED_ASSETS = 30;

/** Releases of a repository that are searched: page size, small because each lists its assets, and in total. */
export const RELEASES = { page: 30, total: 300 } as const;

/** Tags that are tried for one delivery, where earlier releases are immutable. */
export const TAG_ATTEMPTS = 100;

/** Between two looks at another job's upload under the same name. */
export const OTHERS_UPLOAD = 10 * SECOND;

/** A draft in which nothing has changed for longer is filled by no job any more: GitHub ends its own after this time. */
export const QUIET_DRAFT = 6 * HOUR;

/** How many writes GitHub allows a token in an hour, less some for other jobs. */
export const WRITES_PER_HOUR = 480;

/** A comment's largest body, bytes of what it remembers, and how many comments a withdrawal changes. */
export const COMMENTS = { body: 65_536, rewrites: 50, memory: 16_384 } as const;

/** The largest page of a list, which is all that is read of a branch's rules, pull requests and deployments. */
export const LIST_PAGE = 100;

/** Items of any other list: GitHub allows no pull request more comments, and no release as many assets. */
export const LIST_TOTAL = 2_500;

/** The largest job summary that the runner accepts. */
export const SUMMARY = MEGABYTE;

export const BIN_NAME = { shortest: 8, longest: 60 } as const;

/** Bytes of the longest file name that a bin keeps; it tells no other text that is longer. */
export const BIN_FILE_NAME = 120;

/** Several files in one step. */
export const BATCH = {
  /** Files and folders that the search for a pattern meets. */
  looked: 500_000,
  files: 500,
  /** Read requests at the same time. */
  reads: 6,
  /** Addresses that are verified at the same time. */
  probes: 12,
  /** Folders that are verified at the same time: each asks for many files at once. */
  folders: 4,
  /** For more paths than this, the whole tree is read instead of each path. */
  paths: 3,
  /** Paths whose history one GraphQL query asks for, and versions of each where they are few. */
  history: 50,
  versions: 10,
} as const;

/** Pages of the branch's commits that are searched for deliveries. */
export const HISTORY_PAGES = 12;

/** A folder that is delivered as one site. */
export const SITE = {
  files: 10_000,
  /** Files and folders that are looked at, hidden and empty ones included. */
  entries: 50_000,
  /** Bytes of the whole Pages site, and from where on a warning is given. */
  size: 1_024 * MEGABYTE,
  largeSize: 800 * MEGABYTE,
  /** Files that are checked, and addresses that are fetched back, at the same time. */
  checks: 4,
  probes: 16,
  /** Changed files whose addresses are asked without `?v=` as well, as a browser asks them. */
  plainProbes: 100,
  /** Files of a link's site, each of which must answer as often as its page; of more, each once. */
  fewLinked: 100,
  /** Milliseconds after the deadline until which files are still fetched back: a site is asked at least once. */
  overtime: 15 * SECOND,
  /** Changed files that are sent by the object API where git can't be used: a request each. */
  apiWrites: 20,
  /** Folders beside the delivered one whose last commit is asked for: for `keep`. */
  siblings: 500,
  /** Sites that one withdrawal removes, and of how many that somebody changed it reads what was delivered. */
  removals: 500,
  olderTrees: 20,
  /** Files of others within the folder that a commit message names. */
  kept: 500,
  /** Files whose own history is read, to see whether they were delivered one by one. */
  singleFiles: 500,
  /** Paths that a message or a note names. */
  named: 10,
  /** Digests in the report as JSON. */
  listed: 500,
  /** Addresses in a receipt: as many as GitHub signs at once. */
  subjects: 1_024,
} as const;

/** What is delivered is proven again. */
export const AUDIT = {
  /** Older commits whose files are read: those of folders that somebody changed, or that were removed. */
  olderTrees: 12,
  /** Deliveries that are proven at the same time. */
  together: 12,
  /** Addresses of a removed folder that must answer 404. */
  gone: 10,
} as const;

/** Pages that a browser opens. */
export const SCREEN = {
  /** Of many pages in one step, so many are opened. */
  pages: 10,
  /** Bytes of the largest text and the largest picture that are opened: a browser needs too long for more. */
  largestText: MEGABYTE,
  largestImage: 8 * MEGABYTE,
  /** Milliseconds that may be lost in one step to a browser that does not start, crashes or hangs. */
  lost: 30 * SECOND,
  /** The share of pixels from which on two pictures clearly differ. */
  clearDifference: 0.02,
  /** Characters of the longest marker that is looked for on the screen, and bytes of the largest page with one. */
  marker: 1_000,
  markedPage: 4 * MEGABYTE,
  /** Bytes of a picture: 1280 × 800 pixels of four bytes, hardly compressed, always have fewer. */
  picture: 5 * MEGABYTE,
  /** Characters of one text of a page, such as an exception, in a note. */
  text: 200,
  /** Characters of the text that a page shows, by which it is compared with what it shows elsewhere. */
  seen: 100_000,
} as const;

/** The longest texts from the user or from a host: `marker` and `refusal` in bytes, the others in characters. */
export const TEXT = {
  path: 1_024,
  message: 200,
  marker: 65_536,
  hostMessage: 300,
  /** A host's answer in plain text; a longer one is not a reason. */
  refusal: 4_096,
  shortestMarker: 3,
} as const;

/** Content that is given instead of a file: its bytes, those of its name, when to say that nothing arrives, all its time. */
export const CONTENT = {
  bytes: SIZE.repository,
  name: 255,
  silence: 3 * SECOND,
  time: 600 * SECOND,
} as const;

export const PROGRESS_INTERVAL = {
  action: 10 * SECOND,
  cli: 3 * SECOND,
  mcp: 5 * SECOND,
  terminal: SECOND / 2,
} as const;

/** The device flow. @see protocol 2.2, 4.1, 8 */
export const DEVICE_FLOW = {
  scope: 'repo',
  grantType: 'urn:ietf:params:oauth:grant-type:device_code',
  /** Added to the interval after each `slow_down`. */
  slowDown: 5 * SECOND,
  /** Seconds: where the host sends none, as observed; and no host may make a job wait for longer. */
  interval: { fallback: 5, min: 1, max: 60 },
  lifetime: { fallback: 899, min: 0, max: 1_800 },
} as const;

export const MCP = {
  /** The longest arguments, in characters: `content`, and any other. */
  content: 5 * MEGABYTE,
  argument: 65_536,
  /** The longest message that is read: of `content`, JSON may escape every byte. A longer one ends the server. */
  message: 48 * MEGABYTE,
  /** Calls at the same time. */
  calls: 8,
  /** Calls that wait for a person's authorization. */
  waiting: 8,
  /** Milliseconds that one call waits for it: clients give up after 60 s unless they are told otherwise. */
  authorization: 40 * SECOND,
  /** The last answers that a client can read again. */
  answers: 20,
} as const;
