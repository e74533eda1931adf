import { DeliveryError } from '../errors.ts';
import { BIN_NAME, SECOND, TEXT, VERIFY_DEADLINE } from '../protocol/limits.ts';
import { CHANNELS, type ChannelKey } from '../protocol/words.ts';
import { repositoryPath } from '../rules/naming.ts';
import type { SelfContained } from '../rules/page/self-contained.ts';
import type { InputName, RawInputs } from './inputs.ts';

/** Each kind of value that an input can have: text in, a checked value out, or one sentence that says what to change. */

/** `auto`, or the main channel and its duplicates. */
export type ChannelSelection = 'auto' | readonly [ChannelKey, ...ChannelKey[]];

export const refuseInput = (message: string, hint?: string): never => {
  throw new DeliveryError('BAD_INPUT', message, { step: 'check', hint });
};

/** A yes or no as YAML 1.2 writes it. */
export function parseBoolean(raw: Pick<RawInputs, InputName>, name: InputName): boolean {
  const said = raw[name].trim();
  if (/^(true|True|TRUE)$/.test(said)) return true;
  if (/^(false|False|FALSE)$/.test(said)) return false;
  return refuseInput(
    `input \`${name}\` is neither true nor false`,
    `set \`${name}: true\` or \`${name}: false\``,
  );
}

export const parseOptional = <T>(text: string, read: (text: string) => T): T | undefined =>
  text === '' ? undefined : read(text);

export function parseChannels(said: string): ChannelSelection {
  if (said.trim().toLowerCase() === 'auto') return 'auto';
  const [main, ...duplicates] = said.split(/[+,]/).map(parseChannel);
  if (main === undefined || new Set([main, ...duplicates]).size <= duplicates.length) {
    return refuseInput(
      `input \`channel\` names a channel twice: ${oneLine(said)}`,
      'name each channel once, such as `channel: K1+K3`',
    );
  }
  return [main, ...duplicates];
}

function parseChannel(word: string): ChannelKey {
  const said = word.trim().toLowerCase();
  const known = Object.entries(CHANNELS).find(
    ([key, { name }]) => said === key.toLowerCase() || said === name,
  );
  if (known !== undefined) return known[0] as ChannelKey;
  const all = Object.entries(CHANNELS).map(([key, { name }]) => `${key} (${name})`);
  return refuseInput(
    `input \`channel\` names an unknown channel: ${oneLine(word) || 'nothing'}`,
    `use auto, ${all.join(', ')}, or a list such as K1+K3`,
  );
}

/** What is to be done: a file published, or taken away again. */
export type Operation = 'deliver' | 'withdraw';

export function parseOperation(said: string): Operation {
  const operations = ['deliver', 'withdraw'] as const;
  const known = operations.find((operation) => operation === said.trim().toLowerCase());
  return (
    known ?? refuseInput('input `operation` is neither deliver nor withdraw', 'set `operation: deliver`')
  );
}

export function parseMarker(marker: string): string {
  if (Buffer.byteLength(marker) > TEXT.marker) {
    refuseInput(
      `input \`marker\` is longer than ${TEXT.marker} bytes`,
      'choose a short text that stands only in this file',
    );
  }
  return marker;
}

export function parseClientId(said: string): string {
  if (/^[A-Za-z0-9._-]{1,100}$/.test(said)) return said;
  return refuseInput(
    'input `client-id` is no client id',
    'set `client-id:` to that of an OAuth app, such as Iv1.0123456789abcdef',
  );
}

export function parseSelfContained(said: string): SelfContained {
  const modes = ['enforce', 'warn', 'off'] as const;
  const known = modes.find((mode) => mode === said.trim().toLowerCase());
  return (
    known ??
    refuseInput(`input \`self-contained\` is none of ${modes.join(', ')}`, 'set `self-contained: enforce`')
  );
}

export function parseRepository(said: string): { owner: string; repo: string } {
  const [, owner, repo] = /^([A-Za-z0-9][\w-]*)\/([\w.-]+)$/.exec(said.trim()) ?? [];
  if (owner === undefined || repo === undefined || repo === '.' || repo === '..') {
    return refuseInput(
      `input \`repository\` is not of the form <owner>/<repo>: ${oneLine(said)}`,
      'set `repository: owner/name`',
    );
  }
  return { owner, repo };
}

export function parsePath(said: string): string {
  return said.endsWith('/')
    ? `${repositoryPath(said.slice(0, -1), 'input `path`')}/`
    : repositoryPath(said, 'input `path`');
}

/** A branch or tag name, by git's own rules. @see https://git-scm.com/docs/git-check-ref-format */
export function parseGitName(said: string, input: InputName): string {
  const broken = /[\s\p{Cc}~^:?*[\\]|\.\.|@\{|\/\/|^[/-]|[/.]$|\.lock(\/|$)|(^|\/)\.|^@$/u.test(said);
  return broken
    ? refuseInput(
        `input \`${input}\` is no name that git takes: ${oneLine(said)}`,
        `set \`${input}:\` to letters, digits, -, _ and /`,
      )
    : said;
}

export function parseBinName(said: string): string {
  const { shortest, longest } = BIN_NAME;
  if (/^[A-Za-z0-9_-]+$/.test(said) && said.length >= shortest && said.length <= longest) return said;
  return refuseInput(
    'input `bin` is no name that the host takes',
    `set \`bin:\` to ${shortest} to ${longest} letters, digits, _ or -, or leave it out`,
  );
}

/**
 * A span of time, written in seconds.
 *
 * @param least milliseconds
 * @param usual what to set when in doubt, in milliseconds
 * @returns milliseconds, at most the protocol's ceiling
 */
export function parseSeconds(raw: RawInputs, input: InputName, least: number, usual: number): number {
  const said = raw[input].trim();
  const ms = /^\d+(\.\d+)?$/.test(said) ? Number(said) * SECOND : Number.NaN;
  if (ms >= least && ms <= VERIFY_DEADLINE) return ms;
  const range = `between ${least / SECOND} and the protocol's ceiling of ${VERIFY_DEADLINE / SECOND}`;
  return refuseInput(
    `input \`${input}\` is ${oneLine(said) || 'empty'}, not a number of seconds ${range}`,
    `set \`${input}: ${usual / SECOND}\``,
  );
}

export function parseHttpsUrl(said: string, input: InputName): URL {
  const url = URL.parse(said.trim());
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return url;
  return refuseInput(
    `input \`${input}\` is no https address without credentials`,
    `set \`${input}: https://…\``,
  );
}

/** Text that fits in one line of a message. */
export function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, TEXT.message);
}

/** Fingerprints of findings, separated by spaces, commas or lines. */
export function parseFingerprints(said: string): string[] {
  return said.split(/[\s,]+/).filter((fingerprint) => fingerprint !== '');
}
