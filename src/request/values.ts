import { isCredential } from '../credentials.ts';
import { DeliveryError } from '../errors.ts';
import { BIN_NAME, SECOND, TEXT, VERIFY_DEADLINE } from '../protocol/limits.ts';
import { CHANNELS, type ChannelKey } from '../protocol/words.ts';
import { repositoryPath } from '../rules/naming.ts';
import type { SelfContained } from '../rules/page/page-file.ts';
import type { Text } from '../words.ts';
import type { InputName, RawInputs } from './inputs.ts';

/** One parser for each kind of input: text in, a checked value out, or one sentence that says what to change. */

/** `auto`, or the main channel and its duplicates. */
export type ChannelSelection = 'auto' | readonly [ChannelKey, ...ChannelKey[]];

/** @throws {DeliveryError} `BAD_INPUT`, always. */
export const refuseInput = (message: Text, hint: Text): never => {
  throw new DeliveryError('BAD_INPUT', message, { step: 'check', hint });
};

/** A boolean as YAML 1.2 writes it. */
export function parseBoolean(raw: RawInputs, name: InputName): boolean {
  const text = raw[name].trim();
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  return refuseInput(
    (w) => `${w.subject(name)} is neither true nor false`,
    (w) => `set ${w.input(name, 'true')} or ${w.input(name, 'false')}`,
  );
}

export const parseOptional = <T>(text: string, parse: (text: string) => T): T | undefined =>
  text === '' ? undefined : parse(text);

export function parseChannels(text: string): ChannelSelection {
  if (text.trim().toLowerCase() === 'auto') return 'auto';
  const [main, ...duplicates] = text.split(/[+,]/).map(parseChannel);
  if (main === undefined || new Set([main, ...duplicates]).size <= duplicates.length) {
    return refuseInput(
      (w) => `${w.subject('channel')} names a channel twice: ${oneLine(text)}`,
      (w) => `name each channel once, such as ${w.input('channel', 'K1+K3')}`,
    );
  }
  return [main, ...duplicates];
}

function parseChannel(word: string): ChannelKey {
  const name = word.trim().toLowerCase();
  const known = Object.entries(CHANNELS).find(
    ([key, channel]) => name === key.toLowerCase() || name === channel.name,
  );
  if (known !== undefined) return known[0] as ChannelKey;
  const all = Object.entries(CHANNELS).map(([key, { name }]) => `${key} (${name})`);
  return refuseInput(
    (w) => `${w.subject('channel')} names an unknown channel: ${oneLine(word) || 'nothing'}`,
    `use auto, ${all.join(', ')}, or a list such as K1+K3`,
  );
}

/** What to do: publish a file, or remove what was published. */
export type Operation = 'deliver' | 'withdraw';

export function parseOperation(text: string): Operation {
  const operations = ['deliver', 'withdraw'] as const;
  const known = operations.find((operation) => operation === text.trim().toLowerCase());
  return (
    known ??
    refuseInput((w) => `${w.subject('operation')} is neither deliver nor withdraw`, 'name one of them')
  );
}

export function parseMarker(marker: string): string {
  if (Buffer.byteLength(marker) > TEXT.marker) {
    refuseInput(
      (w) => `${w.subject('marker')} is longer than ${TEXT.marker} bytes`,
      'choose a short text that is only in this file',
    );
  }
  if ([...marker.replace(/[\s\p{Cc}\p{Cf}]/gu, '')].length < TEXT.shortestMarker) {
    refuseInput(
      (w) =>
        `${w.subject('marker')} has fewer than ${TEXT.shortestMarker} characters, spaces not counted: almost any page has it`,
      (w) => `set ${w.input('marker')} to a longer text that is only in this file`,
    );
  }
  return marker;
}

/** A token that can be kept secret. A value such as `null` cannot: the redactor would damage every text. */
export function parseToken(text: string): string {
  if (isCredential(text)) return text;
  const problem = /[^!-~]/.test(text)
    ? 'contains a space, a line break or another character that no token has'
    : 'is too short or too common to be a token';
  return refuseInput(
    (w) => `${w.subject('token')} ${problem}`,
    (w) => `set ${w.input('token')} to the whole token${w.ownToken}, or to nothing`,
  );
}

export function parseClientId(text: string): string {
  if (/^[A-Za-z0-9._-]{1,100}$/.test(text)) return text;
  return refuseInput(
    (w) => `${w.subject('client-id')} is not a client id`,
    (w) => `set ${w.input('client-id')} to the id of an OAuth app, such as Iv1.0123456789abcdef`,
  );
}

/** `auto` is `enforce` for a single page (protocol 1) and `warn` for a folder. */
export function parseSelfContained(text: string): SelfContained | 'auto' {
  return parseMode(text, 'self-contained', ['auto', 'enforce', 'warn', 'off']);
}

/** Whether a page is opened in a browser, and what makes it not ready. @see design 7 */
export type ScreenMode = 'auto' | 'enforce' | 'off';

export function parseScreen(text: string): ScreenMode {
  return parseMode(text, 'screen', ['auto', 'enforce', 'off']);
}

function parseMode<Mode extends string>(text: string, input: InputName, modes: readonly Mode[]): Mode {
  const known = modes.find((mode) => mode === text.trim().toLowerCase());
  return (
    known ?? refuseInput((w) => `${w.subject(input)} is not one of ${modes.join(', ')}`, 'choose one of them')
  );
}

export function parseRepository(text: string): { owner: string; repo: string } {
  const [, owner, repo] = /^([A-Za-z0-9][\w-]*)\/([\w.-]+)$/.exec(text.trim()) ?? [];
  if (owner === undefined || repo === undefined || repo === '.' || repo === '..') {
    return refuseInput(
      (w) => `${w.subject('repository')} is not of the form <owner>/<repo>: ${oneLine(text)}`,
      (w) => `set ${w.input('repository', 'owner/name')}`,
    );
  }
  return { owner, repo };
}

export function parsePath(text: string): string {
  if (/^\.\/?$/.test(text)) return './';
  return text.endsWith('/')
    ? `${repositoryPath(text.slice(0, -1), (w) => w.subject('path'))}/`
    : repositoryPath(text, (w) => w.subject('path'));
}

/** How many folders to keep. */
export function parseKeep(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text.trim())) return Number(text);
  return refuseInput(
    (w) => `${w.subject('keep')} is not a number of folders from 1 to 9999: ${oneLine(text)}`,
    (w) => `set ${w.input('keep', '20')}, or leave it out to keep all`,
  );
}

/** The path of a page within a folder. */
export function parseEntry(text: string): string {
  const path = text.trim().replace(/^\.\//, '');
  const isBroken = path === '' || path.startsWith('/') || /[\p{Cc}\p{Cf}\\]|(^|\/)\.{0,2}(\/|$)/u.test(path);
  if (!isBroken) return path;
  return refuseInput(
    (w) => `${w.subject('entry')} is not the path of a page within the folder: ${oneLine(text)}`,
    (w) => `set ${w.input('entry', 'index.html')}`,
  );
}

/** The file name of a workflow, below .github/workflows. */
export function parseWorkflowFile(text: string): string {
  const file = text.trim().replace(/^\.github\/workflows\//, '');
  if (/^[A-Za-z0-9_][\w. -]{0,200}\.ya?ml$/.test(file)) return file;
  return refuseInput(
    (w) => `${w.subject('site-workflow')} is not the file name of a workflow: ${oneLine(text)}`,
    (w) => `set ${w.input('site-workflow')} to the name of a file in .github/workflows, such as pages.yml`,
  );
}

/** A branch or tag name, by git's own rules. @see https://git-scm.com/docs/git-check-ref-format */
export function parseGitName(text: string, input: InputName): string {
  const broken = /[\s\p{Cc}~^:?*[\\]|\.\.|@\{|\/\/|^[/-]|[/.]$|\.lock(\/|$)|(^|\/)\.|^@$/u.test(text);
  if (broken) {
    return refuseInput(
      (w) => `${w.subject(input)} is not a valid git name: ${oneLine(text)}`,
      (w) => `set ${w.input(input)} to letters, digits, -, _ and /`,
    );
  }
  if (!READ_OTHERWISE.test(text) && !(input === 'tag' && READ_AS_BRANCH.test(text))) return text;
  return refuseInput(
    (w) => `${w.subject(input)} is a name that git reads as something else: ${oneLine(text)}`,
    (w) => `set ${w.input(input)} to a plain name, without refs/ and the like before it`,
  );
}

/** Full names, the names of git's own references, and ids of objects. @see https://git-scm.com/docs/gitrevisions */
const READ_OTHERWISE = /^refs\/|^(?:[A-Z]+_)?HEAD$|^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i;

/** A tag of this name would be hidden by a branch, or hide one. */
const READ_AS_BRANCH = /^(?:heads|tags|remotes)\//;

export function parseBinName(text: string): string {
  const { shortest, longest } = BIN_NAME;
  if (/^[A-Za-z0-9_-]+$/.test(text) && text.length >= shortest && text.length <= longest) return text;
  return refuseInput(
    (w) => `${w.subject('bin')} is not a name that the host accepts`,
    (w) => `set ${w.input('bin')} to ${shortest} to ${longest} letters, digits, _ or -, or leave it out`,
  );
}

/**
 * A duration, written in seconds.
 *
 * @param least milliseconds
 * @param usual what the hint suggests, in milliseconds
 * @returns milliseconds, at most the protocol's limit
 */
export function parseSeconds(raw: RawInputs, input: InputName, least: number, usual: number): number {
  const text = raw[input].trim();
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * SECOND : Number.NaN;
  if (ms >= least && ms <= VERIFY_DEADLINE) return ms;
  const range = `between ${least / SECOND} and the protocol's ceiling of ${VERIFY_DEADLINE / SECOND}`;
  return refuseInput(
    (w) => `${w.subject(input)} is ${oneLine(text) || 'empty'}, not a number of seconds ${range}`,
    (w) => `set ${w.input(input, `${usual / SECOND}`)}`,
  );
}

export function parseHttpsUrl(text: string, input: InputName): URL {
  const url = URL.parse(text.trim());
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return url;
  return refuseInput(
    (w) => `${w.subject(input)} is not an https address without credentials`,
    (w) => `set ${w.input(input, 'https://…')}`,
  );
}

/** Text as one short line of a message. */
export function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, TEXT.message);
}

/** Fingerprints of findings, separated by spaces, commas or lines. */
export function parseFingerprints(text: string): string[] {
  return text.split(/[\s,]+/).filter((fingerprint) => fingerprint !== '');
}
