import { serverOf } from '../github/hosts.ts';
import {
  BATCH,
  BUILD_WAIT,
  SECOND,
  SHORTEST_POLL,
  SHORTEST_WAIT,
  VERIFY_DEADLINE,
} from '../protocol/limits.ts';
import { externalAddress } from '../rules/external-address.ts';
import type { SelfContained } from '../rules/page/self-contained.ts';
import { refuseIncomplete } from './incomplete.ts';
import type { RawInputs } from './inputs.ts';
import {
  binOf,
  channelsOf,
  clientIdOf,
  fingerprintsOf,
  gitName,
  httpsUrl,
  markerOf,
  oneLine,
  type Operation,
  operationOf,
  optional,
  pathOrFolder,
  refuse,
  repositoryOf,
  seconds,
  selfContainedOf,
  type Wishes,
  yesOrNo,
} from './values.ts';

/** What was asked for, strict: every value checked, every default filled in. */
export interface DeliveryRequest {
  readonly operation: Operation;
  /** What names the files, as the user wrote it, line by line; empty for a link that is verified by its marker alone. */
  readonly lines: readonly string[];
  /** Absolute; the lines are read against it. */
  readonly folder: string;
  /** `auto`, or the main channel and its duplicates. */
  readonly channels: Wishes;
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
  readonly walls: readonly string[];
  readonly allowPublicBin: boolean;
  /** Milliseconds for build and verification together. */
  readonly timeout: number;
  /** Milliseconds between polls. */
  readonly interval: number;
  readonly apiUrl: URL;
  readonly serverUrl: URL;
  readonly pagesBase: URL | undefined;
  readonly rawBase: URL | undefined;
  readonly binHost: URL;
  /** Whether the file comes from a private repository; `null` where nothing tells. */
  readonly fromPrivate: boolean | null;
}

/** What a face knows of the place it runs in. */
export interface Surroundings {
  /** Folder against which `file` is resolved. */
  readonly folder: string;
  /** Where the file came from, in a few words: the default essence. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A number in [0, 1), unguessable. */
  readonly random: () => number;
  readonly fromPrivate: boolean | null;
  /** Further credentials of the job, beside the token. */
  readonly secrets: readonly string[];
  /** Folders that the file must lie in; empty where any will do. */
  readonly walls: readonly string[];
}

/**
 * Raw inputs as a strict request. Nothing is asked of any host here.
 *
 * @throws {DeliveryError} `BAD_INPUT` (or `NOT_EXTERNAL` for `url`): one sentence, and what to change.
 */
export function parseRequest(raw: RawInputs, around: Surroundings): DeliveryRequest {
  refuseLeaks(raw, around.secrets);
  const timeout = seconds(raw, 'timeout', SHORTEST_WAIT, VERIFY_DEADLINE);
  const lines = linesOf(raw);
  const channels = channelsOf(raw.channel);
  const url = optional(raw.url, (link) => externalAddress(link, 'input `url`'));
  const operation = operationOf(raw.operation);
  refuseIncomplete(operation, { lines, channels, url, raw });
  const apiUrl = httpsUrl(raw['api-url'], 'api-url');
  const serverUrl = httpsUrl(raw['auth-url'], 'auth-url');
  refuseTwoInstances(apiUrl, serverUrl);
  return {
    operation,
    lines,
    folder: around.folder,
    channels,
    marker: optional(raw.marker, markerOf),
    token: optional(raw.token, (token) => token),
    clientId: optional(raw['client-id'], clientIdOf),
    repository: optional(raw.repository, repositoryOf),
    branch: optional(raw.branch, (branch) => gitName(branch, 'branch')),
    path: optional(raw.path, pathOrFolder),
    essence: oneLine(raw.message) || around.origin,
    tag: optional(raw.tag, (tag) => gitName(tag, 'tag')) ?? `files-${dayOf(around.now)}`,
    bin: optional(raw.bin, binOf) ?? newBin(around),
    binIsNew: raw.bin === '',
    url,
    overwrite: yesOrNo(raw, 'overwrite'),
    dryRun: yesOrNo(raw, 'dry-run'),
    selfContained: selfContainedOf(raw['self-contained']),
    allowedSecrets: fingerprintsOf(raw['allow-secret']),
    ownSecrets: [raw.token, ...around.secrets].filter((secret) => secret !== ''),
    walls: around.walls,
    allowPublicBin: yesOrNo(raw, 'allow-public-bin'),
    timeout,
    // A short timeout alone is no mistake: then there is one look at its end.
    interval: Math.min(seconds(raw, 'poll-interval', SHORTEST_POLL, BUILD_WAIT.interval), timeout),
    apiUrl,
    serverUrl,
    pagesBase: optional(raw['pages-base'], (link) => httpsUrl(link, 'pages-base')),
    rawBase: optional(raw['raw-base'], (link) => httpsUrl(link, 'raw-base')),
    binHost: httpsUrl(raw['bin-host-url'], 'bin-host-url'),
    fromPrivate: around.fromPrivate,
  };
}

/** The token stands in no place from which it could be published. @see protocol 7 (prohibition 3) */
function refuseLeaks({ token, ...others }: RawInputs, further: readonly string[]): void {
  for (const secret of [token, ...further].filter((one) => one !== '')) {
    const leaking = Object.entries(others).find(([, value]) => value.includes(secret));
    const what = secret === token ? 'the token' : 'a credential of this very job';
    if (leaking !== undefined)
      refuse(`input \`${leaking[0]}\` holds ${what}`, `remove ${what} from \`${leaking[0]}\``);
  }
}

/** A token of the one is never taken to the other: by git, which asks the server, or by the device flow. */
function refuseTwoInstances(apiUrl: URL, serverUrl: URL): void {
  const { host, origin } = serverOf(apiUrl);
  if (host === serverUrl.host) return;
  refuse(
    `inputs \`api-url\` and \`auth-url\` name two instances: ${apiUrl.host} belongs to ${host}, not to ${serverUrl.host}`,
    `set \`auth-url: ${origin}\`, or \`api-url:\` to the API of ${serverUrl.host}`,
  );
}

function linesOf({ file }: RawInputs): readonly string[] {
  const lines = file.split('\n').map((line) => line.trim());
  const meant = lines.filter((line) => line !== '');
  if (meant.some((line) => line.includes('\0')))
    refuse('input `file` holds a control character', 'remove it');
  if (meant.length > BATCH.files) {
    refuse(`input \`file\` has ${meant.length} lines`, `name at most ${BATCH.files} files a step`);
  }
  return meant;
}

/** @see protocol 4.4; anybody who guesses a bin's name can delete it, so it ends in chance */
function newBin({ now, random }: Surroundings): string {
  const ending = Array.from({ length: 16 }, () => Math.floor(random() * 36).toString(36)).join('');
  return `sv${Math.floor(now / SECOND)}-${ending}`;
}

const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
