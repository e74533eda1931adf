import type { Confinement } from '../channels/pages/destination.ts';
import { isCredential } from '../credentials.ts';
import {
  BATCH,
  BUILD_WAIT,
  DAY,
  MIN_POLL_INTERVAL,
  MIN_TIMEOUT,
  SECOND,
  VERIFY_DEADLINE,
} from '../protocol/limits.ts';
import { parseExternalAddress, refuseMachineAddress } from '../rules/external-address.ts';
import type { SelfContained } from '../rules/page/page-file.ts';
import { parseConfinement } from './confinement.ts';
import { type GivenContent, parseContent } from './content.ts';
import {
  refuseLeaks,
  refuseMarkerInUrl,
  refuseMissingInputs,
  refuseTwoChannels,
  refuseTwoInstances,
  refuseUnseenPicture,
  refuseUselessClientId,
} from './input-rules.ts';
import { listScopedInputs } from './input-scope.ts';
import type { InputName, RawInputs } from './inputs.ts';
import {
  type ChannelSelection,
  type Operation,
  oneLine,
  parseBinName,
  parseBoolean,
  parseChannels,
  parseClientId,
  parseEntry,
  parseFingerprints,
  parseGitName,
  parseHttpsUrl,
  parseKeep,
  parseMarker,
  parseOperation,
  parseOptional,
  parsePath,
  parseRepository,
  parseScreen,
  parseSeconds,
  parseSelfContained,
  parseToken,
  parseWorkflowFile,
  refuseInput,
  type ScreenMode,
} from './values.ts';

/** What to do, strict: every input checked, every default filled in. Nothing is parsed again later. */
export interface DeliveryRequest {
  readonly operation: Operation;
  /** The lines of `file` as written, or the name of the content; empty for a link that is verified by its marker alone. */
  readonly fileLines: readonly string[];
  /** What is delivered instead of a file. */
  readonly content: GivenContent | undefined;
  /** Absolute; the lines are relative to it. */
  readonly folder: string;
  /** `auto`, or the main channel and its duplicates. */
  readonly channels: ChannelSelection;
  readonly marker: string | undefined;
  readonly token: string | undefined;
  /** OAuth app for the device flow. */
  readonly clientId: string | undefined;
  readonly repository: { readonly owner: string; readonly repo: string } | undefined;
  readonly branch: string | undefined;
  /** K1: the workflow to start after the commit, a file name. */
  readonly siteWorkflow: string | undefined;
  /** K1: a checked path, ending in `/` for a folder. */
  readonly path: string | undefined;
  /** Where the delivery must stay; `undefined` where its path is the user's own choice. */
  readonly confinement: Confinement | undefined;
  /** The page of a folder whose address is handed over: its path within the folder. */
  readonly entry: string;
  /** Whether owned files that are no longer part of a folder are removed. */
  readonly prune: boolean;
  /** How many owned folders beside each other to keep; `undefined` keeps all. */
  readonly keep: number | undefined;
  /** Whether the file that switches Jekyll off is committed where there is none. */
  readonly nojekyll: boolean;
  /** Whether a missing branch is created, and Pages switched on for it. */
  readonly setup: boolean;
  readonly essence: string;
  /** The workflow and job that delivers; empty outside of one. */
  readonly job: string;
  readonly tag: string;
  /** Whether no tag was named, so that it is the one of today. */
  readonly tagIsDefault: boolean;
  /** The default tag of the day before. */
  readonly earlierTag: string;
  readonly bin: string;
  /** Whether the bin's name was created for this request. */
  readonly binIsNew: boolean;
  readonly url: URL | undefined;
  /** The inputs that were given, of those that only some deliveries use. */
  readonly scopedInputs: readonly InputName[];
  readonly overwrite: boolean;
  readonly dryRun: boolean;
  readonly selfContained: SelfContained | 'auto';
  readonly screen: ScreenMode;
  /** Whether a link (K4) is opened in a browser as well. */
  readonly opensLinks: boolean;
  /** Whether the browser runs in its own sandbox. */
  readonly browserSandbox: boolean;
  /** Whether a picture of the page is delivered with it. */
  readonly picture: boolean;
  /** Fingerprints of findings that are known to be harmless. */
  readonly allowedSecrets: readonly string[];
  /** Strings that must not be in the file, whatever is allowed. */
  readonly ownSecrets: readonly string[];
  /** Folders that the file must be in; empty: any folder. */
  readonly allowedRoots: readonly string[];
  readonly allowPublicBin: boolean;
  /** Whether to keep a comment on the pull request. */
  readonly comment: boolean;
  /** Whether a delivery that is not ready fails the step. */
  readonly failOnNotReady: boolean;
  /** Milliseconds for build and verification together. */
  readonly timeout: number;
  /** Milliseconds between polls. */
  readonly interval: number;
  readonly apiUrl: URL;
  readonly serverUrl: URL;
  readonly pagesBase: URL | undefined;
  readonly rawBase: URL | undefined;
  readonly binHostUrl: URL;
  /** Whether the file comes from a private repository; `null` if not known. */
  readonly sourceIsPrivate: boolean | null;
  /** Whether the file surely comes from the repository that is published in, so that both are private or public. */
  readonly isFromTarget: boolean;
  /** Whether an absolute path may name a file outside the allowed roots, or a symbolic link. */
  readonly allowsFullPaths: boolean;
}

/** What the action or the command line knows about the place it runs in. */
export interface RunContext {
  /** Absolute folder that `file` is relative to. */
  readonly folder: string;
  /** Where the file came from, in a few words: the default essence of the commit message. */
  readonly origin: string;
  /** The workflow and job that delivers; empty outside of one. */
  readonly job: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A number in [0, 1) that can't be guessed. */
  readonly random: () => number;
  readonly sourceIsPrivate: boolean | null;
  /** The repositories that the file may come from, as `owner/name`; `null` is an unknown one. */
  readonly sources: readonly (string | null)[];
  /** Further credentials of the job, beside the token. */
  readonly secrets: readonly string[];
  /** Folders that the file must be in; empty: any folder. */
  readonly allowedRoots: readonly string[];
  /** Whether an absolute path may name a file outside the allowed roots, or a symbolic link. */
  readonly allowsFullPaths: boolean;
  /** Whether a link (K4) is opened in a browser as well. */
  readonly opensLinks: boolean;
  /** Bytes to deliver in place of the input `content`, such as standard input. */
  readonly contentStream?: AsyncIterable<Uint8Array> | undefined;
  /** The inputs that this call was given; absent where a runner fills in the defaults of the others. */
  readonly given?: readonly InputName[] | undefined;
}

/**
 * Raw inputs as a strict request. No host is asked.
 *
 * @throws {DeliveryError} `BAD_INPUT` (or `NOT_EXTERNAL` for `url`): one sentence, and what to change.
 */
export function parseRequest(raw: RawInputs, context: RunContext): DeliveryRequest {
  const token = parseOptional(raw.token, parseToken);
  refuseLeaks(raw, context.secrets);
  const { folder, allowedRoots, sourceIsPrivate, sources, allowsFullPaths } = context;
  const switches = { ...parseSwitches(raw), screen: parseScreen(raw.screen) };
  refuseUnseenPicture(switches);
  const confinement = parseConfinement(raw, context.job);
  return {
    ...parseTimes(raw),
    ...parseTask(raw, context),
    ...parseDestination(raw, context, token),
    // Another channel has no folder to stay in.
    ...(confinement === undefined ? {} : { channels: ['K1'] as const }),
    confinement,
    ...parseHosts(raw),
    ...switches,
    selfContained: parseSelfContained(raw['self-contained']),
    opensLinks: context.opensLinks,
    allowedSecrets: parseFingerprints(raw['allow-secret']),
    ownSecrets: [...new Set([token ?? '', ...context.secrets])].filter(isCredential),
    folder,
    allowedRoots,
    sourceIsPrivate,
    isFromTarget: sources.length > 0 && sources.every((source) => isSameName(source, raw.repository)),
    allowsFullPaths,
  };
}

const isSameName = (one: string | null, other: string): boolean =>
  one !== null && one.toLowerCase() === other.trim().toLowerCase();

/** What to deliver or to withdraw, and through which channels. */
function parseTask(raw: RawInputs, { contentStream, given }: RunContext) {
  const content = parseContent(raw, contentStream);
  const operation = parseOperation(raw.operation);
  const task = {
    content,
    fileLines: content === undefined ? parseFileLines(raw, operation) : [content.name],
    channels: parseChannels(raw.channel),
    url: parseOptional(raw.url, (link) => parseExternalAddress(link, (w) => w.subject('url'))),
    operation,
    scopedInputs: listScopedInputs(raw, given),
  };
  refuseTwoChannels(task, raw);
  refuseMissingInputs(task, raw);
  refuseUselessClientId(task, raw);
  const marker = parseOptional(raw.marker, parseMarker);
  if (task.url !== undefined && task.fileLines.length === 0) refuseMarkerInUrl(task.url, marker);
  return { ...task, marker };
}

/** Where the file goes within its channel, and with which credentials. */
function parseDestination(raw: RawInputs, context: RunContext, token: string | undefined) {
  return {
    token,
    clientId: parseOptional(raw['client-id'], parseClientId),
    repository: parseOptional(raw.repository, parseRepository),
    branch: parseOptional(raw.branch, (branch) => parseGitName(branch, 'branch')),
    siteWorkflow: parseOptional(raw['site-workflow'], parseWorkflowFile),
    path: parseOptional(raw.path, parsePath),
    entry: parseEntry(raw.entry),
    keep: parseOptional(raw.keep, parseKeep),
    essence: oneLine(raw.message) || oneLine(context.origin),
    job: context.job,
    tag: parseOptional(raw.tag, (tag) => parseGitName(tag, 'tag')) ?? formatDayTag(context.now),
    tagIsDefault: raw.tag === '',
    earlierTag: formatDayTag(context.now - DAY),
    bin: parseOptional(raw.bin, parseBinName) ?? createBinName(context),
    binIsNew: raw.bin === '',
  };
}

/** Every input that is true or false. */
function parseSwitches(raw: RawInputs) {
  return {
    overwrite: parseBoolean(raw, 'overwrite'),
    prune: parseBoolean(raw, 'prune'),
    nojekyll: parseBoolean(raw, 'nojekyll'),
    setup: parseBoolean(raw, 'setup'),
    dryRun: parseBoolean(raw, 'dry-run'),
    allowPublicBin: parseBoolean(raw, 'allow-public-bin'),
    browserSandbox: parseBoolean(raw, 'browser-sandbox'),
    picture: parseBoolean(raw, 'picture'),
    comment: parseBoolean(raw, 'comment'),
    failOnNotReady: parseBoolean(raw, 'fail-on-not-ready'),
  };
}

function parseTimes(raw: RawInputs) {
  const timeout = parseSeconds(raw, 'timeout', MIN_TIMEOUT, VERIFY_DEADLINE);
  const interval = parseSeconds(raw, 'poll-interval', MIN_POLL_INTERVAL, BUILD_WAIT.interval);
  // A timeout shorter than the default interval is allowed: then there is one poll at its end.
  return { timeout, interval: Math.min(interval, timeout) };
}

function parseHosts(raw: RawInputs) {
  const apiUrl = parseHttpsUrl(raw['api-url'], 'api-url');
  const serverUrl = parseHttpsUrl(raw['auth-url'], 'auth-url');
  refuseTwoInstances(apiUrl, serverUrl);
  return {
    apiUrl,
    serverUrl,
    pagesBase: parseOptional(raw['pages-base'], (link) => parseHandedOut(link, 'pages-base')),
    rawBase: parseOptional(raw['raw-base'], (link) => parseHandedOut(link, 'raw-base')),
    binHostUrl: parseHandedOut(raw['bin-host-url'], 'bin-host-url'),
  };
}

/** A host whose addresses are handed over: it may be in a network, but never on this machine. */
function parseHandedOut(text: string, input: 'pages-base' | 'raw-base' | 'bin-host-url'): URL {
  const url = parseHttpsUrl(text, input);
  refuseMachineAddress(url, (w) => w.subject(input));
  return url;
}

/** Refuses addresses in place of files. Some would also be patterns. */
export function refuseAddresses(lines: readonly string[], operation: Operation): void {
  if (!lines.some((line) => /^\s*[a-z][a-z\d+.-]*:\/\//i.test(line))) return;
  refuseInput(
    (w) => `${w.subject('file')} is an address and names no file`,
    operation === 'withdraw'
      ? (w) =>
          `set ${w.input('path')} to the place within the repository, or ${w.input('file')} to the name that was delivered`
      : (w) => `set ${w.input('file')} to a file, or ${w.link}`,
  );
}

function parseFileLines({ file }: RawInputs, operation: Operation): readonly string[] {
  const lines = file.split('\n').flatMap((line) => line.trim() || []);
  if (lines.some((line) => line.includes('\0'))) {
    refuseInput((w) => `${w.subject('file')} holds a control character`, 'remove it');
  }
  refuseAddresses(lines, operation);
  if (lines.length > BATCH.files) {
    refuseInput(
      (w) => `${w.subject('file')} has ${lines.length} lines`,
      `name at most ${BATCH.files} files at once`,
    );
  }
  return lines;
}

/** A name with a random ending: anyone who can guess a bin's name can delete it. @see protocol 4.4 */
function createBinName({ now, random }: RunContext): string {
  const ending = Array.from({ length: 16 }, () => Math.floor(random() * 36).toString(36)).join('');
  return `sv${Math.floor(now / SECOND)}-${ending}`;
}

/** The default tag of a day. @see protocol 4.3 */
const formatDayTag = (now: number): string =>
  `files-${new Date(now).toISOString().slice(0, 10).replaceAll('-', '')}`;
