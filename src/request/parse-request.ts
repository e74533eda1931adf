import { serverUrlOf } from '../github/hosts.ts';
import {
  BATCH,
  BUILD_WAIT,
  MIN_POLL_INTERVAL,
  MIN_TIMEOUT,
  SECOND,
  VERIFY_DEADLINE,
} from '../protocol/limits.ts';
import { parseExternalAddress } from '../rules/external-address.ts';
import type { SelfContained } from '../rules/page/self-contained.ts';
import type { RawInputs } from './inputs.ts';
import { refuseMissingInputs } from './missing-inputs.ts';
import {
  type ChannelSelection,
  type Operation,
  oneLine,
  parseBinName,
  parseBoolean,
  parseChannels,
  parseClientId,
  parseFingerprints,
  parseGitName,
  parseHttpsUrl,
  parseMarker,
  parseOperation,
  parseOptional,
  parsePath,
  parseRepository,
  parseSeconds,
  parseSelfContained,
  refuseInput,
} from './values.ts';

/** What was asked for, strict: every value checked, every default filled in. */
export interface DeliveryRequest {
  readonly operation: Operation;
  /** What names the files, as the user wrote it, line by line; empty for a link that is verified by its marker alone. */
  readonly fileLines: readonly string[];
  /** Absolute; the lines are read against it. */
  readonly folder: string;
  /** `auto`, or the main channel and its duplicates. */
  readonly channels: ChannelSelection;
  readonly marker: string | undefined;
  readonly token: string | undefined;
  /** OAuth app for the device flow. */
  readonly clientId: string | undefined;
  readonly repository: { readonly owner: string; readonly repo: string } | undefined;
  readonly branch: string | undefined;
  /** K1: a checked path, ending in `/` for a folder. */
  readonly path: string | undefined;
  readonly essence: string;
  readonly tag: string;
  readonly bin: string;
  /** Whether the bin's name was made up just now. */
  readonly binIsNew: boolean;
  readonly url: URL | undefined;
  readonly overwrite: boolean;
  readonly dryRun: boolean;
  readonly selfContained: SelfContained;
  /** Fingerprints of findings that are known to be harmless. */
  readonly allowedSecrets: readonly string[];
  /** Strings that must not stand in the file, whatever is allowed. */
  readonly ownSecrets: readonly string[];
  /** Folders that the file must lie in; empty where any will do. */
  readonly allowedRoots: readonly string[];
  readonly allowPublicBin: boolean;
  /** Milliseconds for build and verification together. */
  readonly timeout: number;
  /** Milliseconds between polls. */
  readonly interval: number;
  readonly apiUrl: URL;
  readonly serverUrl: URL;
  readonly pagesBase: URL | undefined;
  readonly rawBase: URL | undefined;
  readonly binHostUrl: URL;
  /** Whether the file comes from a private repository; `null` where nothing tells. */
  readonly sourceIsPrivate: boolean | null;
}

/** What a face knows of the place it runs in. */
export interface RunContext {
  /** Folder against which `file` is resolved. */
  readonly folder: string;
  /** Where the file came from, in a few words: the default essence. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A number in [0, 1), unguessable. */
  readonly random: () => number;
  readonly sourceIsPrivate: boolean | null;
  /** Further credentials of the job, beside the token. */
  readonly secrets: readonly string[];
  /** Folders that the file must lie in; empty where any will do. */
  readonly allowedRoots: readonly string[];
}

/**
 * Raw inputs as a strict request. Nothing is asked of any host here.
 *
 * @throws {DeliveryError} `BAD_INPUT` (or `NOT_EXTERNAL` for `url`): one sentence, and what to change.
 */
export function parseRequest(raw: RawInputs, around: RunContext): DeliveryRequest {
  refuseLeaks(raw, around.secrets);
  const timeout = parseSeconds(raw, 'timeout', MIN_TIMEOUT, VERIFY_DEADLINE);
  const fileLines = parseFileLines(raw);
  const channels = parseChannels(raw.channel);
  const url = parseOptional(raw.url, (link) => parseExternalAddress(link, 'input `url`'));
  const operation = parseOperation(raw.operation);
  refuseMissingInputs(operation, { lines: fileLines, channels, url, raw });
  const apiUrl = parseHttpsUrl(raw['api-url'], 'api-url');
  const serverUrl = parseHttpsUrl(raw['auth-url'], 'auth-url');
  refuseTwoInstances(apiUrl, serverUrl);
  return {
    operation,
    fileLines,
    folder: around.folder,
    channels,
    marker: parseOptional(raw.marker, parseMarker),
    token: parseOptional(raw.token, (token) => token),
    clientId: parseOptional(raw['client-id'], parseClientId),
    repository: parseOptional(raw.repository, parseRepository),
    branch: parseOptional(raw.branch, (branch) => parseGitName(branch, 'branch')),
    path: parseOptional(raw.path, parsePath),
    essence: oneLine(raw.message) || around.origin,
    tag: parseOptional(raw.tag, (tag) => parseGitName(tag, 'tag')) ?? `files-${formatDay(around.now)}`,
    bin: parseOptional(raw.bin, parseBinName) ?? newBinName(around),
    binIsNew: raw.bin === '',
    url,
    overwrite: parseBoolean(raw, 'overwrite'),
    dryRun: parseBoolean(raw, 'dry-run'),
    selfContained: parseSelfContained(raw['self-contained']),
    allowedSecrets: parseFingerprints(raw['allow-secret']),
    ownSecrets: [raw.token, ...around.secrets].filter((secret) => secret !== ''),
    allowedRoots: around.allowedRoots,
    allowPublicBin: parseBoolean(raw, 'allow-public-bin'),
    timeout,
    // A short timeout alone is no mistake: then there is one look at its end.
    interval: Math.min(parseSeconds(raw, 'poll-interval', MIN_POLL_INTERVAL, BUILD_WAIT.interval), timeout),
    apiUrl,
    serverUrl,
    pagesBase: parseOptional(raw['pages-base'], (link) => parseHttpsUrl(link, 'pages-base')),
    rawBase: parseOptional(raw['raw-base'], (link) => parseHttpsUrl(link, 'raw-base')),
    binHostUrl: parseHttpsUrl(raw['bin-host-url'], 'bin-host-url'),
    sourceIsPrivate: around.sourceIsPrivate,
  };
}

/** The token stands in no place from which it could be published. @see protocol 7 (prohibition 3) */
function refuseLeaks({ token, ...others }: RawInputs, further: readonly string[]): void {
  for (const secret of [token, ...further].filter((one) => one !== '')) {
    const leaking = Object.entries(others).find(([, value]) => value.includes(secret));
    const what = secret === token ? 'the token' : 'a credential of this very job';
    if (leaking !== undefined) {
      refuseInput(`input \`${leaking[0]}\` holds ${what}`, `remove ${what} from \`${leaking[0]}\``);
    }
  }
}

/** A token of the one is never taken to the other: by git, which asks the server, or by the device flow. */
function refuseTwoInstances(apiUrl: URL, serverUrl: URL): void {
  const { host, origin } = serverUrlOf(apiUrl);
  if (host === serverUrl.host) return;
  refuseInput(
    `inputs \`api-url\` and \`auth-url\` name two instances: ${apiUrl.host} belongs to ${host}, not to ${serverUrl.host}`,
    `set \`auth-url: ${origin}\`, or \`api-url:\` to the API of ${serverUrl.host}`,
  );
}

function parseFileLines({ file }: RawInputs): readonly string[] {
  const lines = file.split('\n').map((line) => line.trim());
  const meant = lines.filter((line) => line !== '');
  if (meant.some((line) => line.includes('\0'))) {
    refuseInput('input `file` holds a control character', 'remove it');
  }
  if (meant.length > BATCH.files) {
    refuseInput(`input \`file\` has ${meant.length} lines`, `name at most ${BATCH.files} files a step`);
  }
  return meant;
}

/** @see protocol 4.4; anybody who guesses a bin's name can delete it, so it ends in chance */
function newBinName({ now, random }: RunContext): string {
  const ending = Array.from({ length: 16 }, () => Math.floor(random() * 36).toString(36)).join('');
  return `sv${Math.floor(now / SECOND)}-${ending}`;
}

const formatDay = (now: number): string => new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
