import { resolve } from 'node:path';
import { DeliveryError } from '../errors.ts';
import { BIN_NAME, BUILD_WAIT, SECOND, SHORTEST_POLL, TEXT, VERIFY_DEADLINE } from '../protocol/limits.ts';
import { CHANNELS, type ChannelKey } from '../protocol/words.ts';
import { externalAddress } from '../rules/external-address.ts';
import type { SelfContained } from '../rules/page/self-contained.ts';
import { baseName, nameFromFile, repositoryPath } from '../rules/naming.ts';
import type { InputName, RawInputs } from './inputs.ts';

/** What was asked for, strict: every value checked, every default filled in. */
export interface DeliveryRequest {
  /** Absolute path, and the path as the user wrote it; `null` for a link that is verified by its marker alone. */
  readonly file: { readonly path: string; readonly given: string } | null;
  /** `auto`, or the main channel and its duplicates. */
  readonly channels: 'auto' | readonly [ChannelKey, ...ChannelKey[]];
  readonly marker: string | undefined;
  readonly token: string | undefined;
  /** OAuth app for the device flow. */
  readonly clientId: string | undefined;
  readonly repository: { readonly owner: string; readonly repo: string } | undefined;
  readonly branch: string | undefined;
  /** K1: a checked path, ending in `/` for a folder. */
  readonly path: string | undefined;
  /** The name to give in every channel. */
  readonly name: string;
  readonly essence: string;
  readonly tag: string;
  readonly bin: string;
  readonly url: URL | undefined;
  readonly overwrite: boolean;
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

const refuse = (message: string, hint?: string): never => {
  throw new DeliveryError('BAD_INPUT', message, { step: 'check', hint });
};

/**
 * Raw inputs as a strict request. Nothing is asked of any host here.
 *
 * @throws {DeliveryError} `BAD_INPUT` (or `NOT_EXTERNAL` for `url`): one sentence, and what to change.
 */
export function parseRequest(raw: RawInputs, around: Surroundings): DeliveryRequest {
  refuseLeaks(raw);
  const timeout = seconds(raw, 'timeout', SECOND / 10, VERIFY_DEADLINE);
  const path = optional(raw.path, (given) => pathOrFolder(given));
  const file = fileOf(raw, around.folder);
  const channels = channelsOf(raw.channel);
  const url = optional(raw.url, (link) => externalAddress(link, 'input `url`'));
  refuseIncomplete({ file, channels, url, marker: raw.marker });
  return {
    file,
    channels,
    marker: optional(raw.marker, markerOf),
    token: optional(raw.token, (token) => token),
    clientId: optional(raw['client-id'], clientIdOf),
    repository: optional(raw.repository, repositoryOf),
    branch: optional(raw.branch, (branch) => gitName(branch, 'branch')),
    path,
    name: path === undefined || path.endsWith('/') ? fileName(file) : baseName(path),
    essence: oneLine(raw.message) || around.origin,
    tag: optional(raw.tag, (tag) => gitName(tag, 'tag')) ?? `files-${dayOf(around.now)}`,
    bin: optional(raw.bin, binOf) ?? newBin(around),
    url,
    overwrite: yesOrNo(raw, 'overwrite'),
    selfContained: selfContainedOf(raw['self-contained']),
    allowedSecrets: raw['allow-secret'].split(/[\s,]+/).filter((fingerprint) => fingerprint !== ''),
    ownSecrets: [raw.token, ...around.secrets].filter((secret) => secret !== ''),
    walls: around.walls,
    allowPublicBin: yesOrNo(raw, 'allow-public-bin'),
    timeout,
    interval: seconds(raw, 'poll-interval', SHORTEST_POLL, timeout),
    apiUrl: httpsUrl(raw['api-url'], 'api-url'),
    serverUrl: httpsUrl(raw['auth-url'], 'auth-url'),
    pagesBase: optional(raw['pages-base'], (link) => httpsUrl(link, 'pages-base')),
    rawBase: optional(raw['raw-base'], (link) => httpsUrl(link, 'raw-base')),
    binHost: httpsUrl(raw['bin-host-url'], 'bin-host-url'),
    fromPrivate: around.fromPrivate,
  };
}

/** A yes or no as YAML 1.2 writes it. */
export function yesOrNo(raw: Pick<RawInputs, InputName>, name: InputName): boolean {
  const said = raw[name].trim();
  if (/^(true|True|TRUE)$/.test(said)) return true;
  if (/^(false|False|FALSE)$/.test(said)) return false;
  return refuse(`input \`${name}\` is neither true nor false`, `set \`${name}: true\` or \`${name}: false\``);
}

const optional = <T>(text: string, read: (text: string) => T): T | undefined =>
  text === '' ? undefined : read(text);

/** The token stands in no place from which it could be published. @see protocol 7 (prohibition 3) */
function refuseLeaks(raw: RawInputs): void {
  const { token, ...others } = raw;
  if (token === '') return;
  const leaking = Object.entries(others).find(([, value]) => value.includes(token));
  if (leaking !== undefined)
    refuse(`input \`${leaking[0]}\` holds the token`, `remove the token from \`${leaking[0]}\``);
}

function fileOf({ file }: RawInputs, folder: string): DeliveryRequest['file'] {
  const given = file.trim();
  if (given === '') return null;
  if (given.includes('\n')) refuse('input `file` names several files', 'name one file a step');
  if (given.includes('\0')) refuse('input `file` holds a control character', 'remove it');
  return { path: resolve(folder, given), given };
}

function fileName(file: DeliveryRequest['file']): string {
  return file === null ? '' : nameFromFile(baseName(file.given.replaceAll('\\', '/')));
}

function channelsOf(said: string): DeliveryRequest['channels'] {
  if (said.trim().toLowerCase() === 'auto') return 'auto';
  const [main, ...duplicates] = said.split(/[+,]/).map(channelOf);
  if (main === undefined || new Set([main, ...duplicates]).size <= duplicates.length) {
    return refuse(
      `input \`channel\` names a channel twice: ${said}`,
      'name each channel once, such as `channel: K1+K3`',
    );
  }
  return [main, ...duplicates];
}

function channelOf(word: string): ChannelKey {
  const said = word.trim().toLowerCase();
  const known = Object.entries(CHANNELS).find(
    ([key, { name }]) => said === key.toLowerCase() || said === name,
  );
  if (known !== undefined) return known[0] as ChannelKey;
  const all = Object.entries(CHANNELS).map(([key, { name }]) => `${key} (${name})`);
  return refuse(
    `input \`channel\` names an unknown channel: ${oneLine(word) || 'nothing'}`,
    `use auto, ${all.join(', ')}, or a list such as K1+K3`,
  );
}

function refuseIncomplete(
  asked: Pick<DeliveryRequest, 'file' | 'channels' | 'url'> & { readonly marker: string },
): void {
  const { file, channels, url, marker } = asked;
  if (file === null && url === undefined)
    refuse('there is nothing to deliver', 'set `file:` to the file, or `url:` to a link');
  if (channels !== 'auto' && channels.includes('K4') && url === undefined) {
    refuse(
      'channel K4 needs the link to check',
      'set `url:` to the link that the environment gave, or use channel: K1, K2 or K3',
    );
  }
  if (file !== null) return;
  if (channels !== 'auto' && channels.some((key) => key !== 'K4')) {
    refuse('input `file` is missing', 'set `file:` to the file, or use channel: K4 for a link alone');
  }
  if (marker === '')
    refuse(
      "a link alone can't be proven",
      'set `marker:` to a text that it shows, or `file:` to what it holds',
    );
}

function markerOf(marker: string): string {
  if (Buffer.byteLength(marker) > TEXT.marker) {
    refuse(
      `input \`marker\` is longer than ${TEXT.marker} bytes`,
      'choose a short text that stands only in this file',
    );
  }
  return marker;
}

function clientIdOf(said: string): string {
  if (/^[A-Za-z0-9._-]{1,100}$/.test(said)) return said;
  return refuse(
    'input `client-id` is no client id',
    'set `client-id:` to that of an OAuth app, such as Iv1.0123456789abcdef',
  );
}

function selfContainedOf(said: string): SelfContained {
  const modes = ['enforce', 'warn', 'off'] as const;
  const known = modes.find((mode) => mode === said.trim().toLowerCase());
  return (
    known ??
    refuse(`input \`self-contained\` is none of ${modes.join(', ')}`, 'set `self-contained: enforce`')
  );
}

function repositoryOf(said: string): { owner: string; repo: string } {
  const [, owner, repo] = /^([A-Za-z0-9][\w-]*)\/([\w.-]+)$/.exec(said.trim()) ?? [];
  if (owner === undefined || repo === undefined || repo === '.' || repo === '..') {
    return refuse(
      `input \`repository\` is not of the form <owner>/<repo>: ${oneLine(said)}`,
      'set `repository: owner/name`',
    );
  }
  return { owner, repo };
}

function pathOrFolder(said: string): string {
  return said.endsWith('/')
    ? `${repositoryPath(said.slice(0, -1), 'input `path`')}/`
    : repositoryPath(said, 'input `path`');
}

/** A branch or tag name, by git's own rules. @see https://git-scm.com/docs/git-check-ref-format */
function gitName(said: string, input: InputName): string {
  const broken = /[\s\p{Cc}~^:?*[\\]|\.\.|@\{|\/\/|^[/-]|[/.]$|\.lock(\/|$)|(^|\/)\.|^@$/u.test(said);
  return broken
    ? refuse(
        `input \`${input}\` is no name that git takes: ${oneLine(said)}`,
        `set \`${input}:\` to letters, digits, -, _ and /`,
      )
    : said;
}

function binOf(said: string): string {
  const { shortest, longest } = BIN_NAME;
  if (/^[A-Za-z0-9_-]+$/.test(said) && said.length >= shortest && said.length <= longest) return said;
  return refuse(
    'input `bin` is no name that the host takes',
    `set \`bin:\` to ${shortest} to ${longest} letters, digits, _ or -, or leave it out`,
  );
}

/** @see protocol 4.4; anybody who guesses a bin's name can delete it, so it ends in chance */
function newBin({ now, random }: Surroundings): string {
  const ending = Array.from({ length: 16 }, () => Math.floor(random() * 36).toString(36)).join('');
  return `sv${Math.floor(now / SECOND)}-${ending}`;
}

function seconds(raw: RawInputs, input: InputName, least: number, most: number): number {
  const said = raw[input].trim();
  const ms = /^\d+(\.\d+)?$/.test(said) ? Number(said) * SECOND : Number.NaN;
  if (ms >= least && ms <= most) return ms;
  const ceiling =
    input === 'timeout'
      ? `the protocol's ceiling of ${BUILD_WAIT.total / SECOND}`
      : `the timeout of ${most / SECOND}`;
  return refuse(
    `input \`${input}\` is ${oneLine(said) || 'empty'}, not a number of seconds between ${least / SECOND} and ${ceiling}`,
    `set \`${input}: ${input === 'timeout' ? VERIFY_DEADLINE / SECOND : Math.min(BUILD_WAIT.interval, most) / SECOND}\``,
  );
}

function httpsUrl(said: string, input: InputName): URL {
  const url = URL.parse(said.trim());
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return url;
  return refuse(`input \`${input}\` is no https address without credentials`, `set \`${input}: https://…\``);
}

const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10).replaceAll('-', '');

/** Text that fits in one line of a message. */
function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, TEXT.message);
}
