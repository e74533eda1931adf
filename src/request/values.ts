import { isCredential } from '../credentials.ts';
import { BATCH, BIN_NAME, CONTENT, DAY, TEXT } from '../protocol/limits.ts';
import { CHANNELS, type ChannelKey } from '../protocol/words.ts';
import { parseExternalAddress, refuseMachineAddress } from '../rules/external-address.ts';
import { nameFromFile, repositoryPath } from '../rules/naming.ts';
import type { Text } from '../words.ts';
import { oneLine, type ParseInput, refuseInput } from './input-kinds.ts';

/** A text of one form, and its value. @param problem if it ends with a colon, the text follows */
const checked =
  <Value = string>(
    holds: (text: string) => boolean,
    problem: string,
    change: Text,
    toValue: ParseInput<Value> = (text) => text as Value,
  ): ParseInput<Value> =>
  (text, name) => {
    const shown = problem.endsWith(':') ? ` ${oneLine(text)}` : '';
    return holds(text)
      ? toValue(text, name)
      : refuseInput(
          (w) => `${w.subject(name)} ${problem}${shown}`,
          (w) => `set ${w.input(name)} to ${w.say(change)}`,
        );
  };

function parseChannels(text: string): 'auto' | readonly [ChannelKey, ...ChannelKey[]] {
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
  const all = Object.entries(CHANNELS) as [ChannelKey, { readonly name: string }][];
  const known = all.find(([key, channel]) => name === key.toLowerCase() || name === channel.name);
  if (known !== undefined) return known[0];
  return refuseInput(
    (w) => `${w.subject('channel')} names an unknown channel: ${oneLine(word) || 'nothing'}`,
    `use auto, ${all.map(([key, { name }]) => `${key} (${name})`).join(', ')}, or a list such as K1+K3`,
  );
}

function parseLines(text: string): readonly string[] {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  if (text.includes('\0')) refuseInput((w) => `${w.subject('file')} has a control character`, 'remove it');
  if (lines.length > BATCH.files) {
    refuseInput(
      (w) => `${w.subject('file')} has ${lines.length} lines`,
      `give at most ${BATCH.files} lines, and deliver the rest in a second step`,
    );
  }
  return lines;
}

function parsePath(text: string, name: string): string {
  if (/^\.\/?$/.test(text)) return './';
  const path = repositoryPath(text.replace(/\/$/, ''), (w) => w.subject(name));
  return text.endsWith('/') ? `${path}/` : path;
}

function parseHost(text: string, name: string): URL {
  const url = URL.parse(text.trim());
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return url;
  return refuseInput(
    (w) => `${w.subject(name)} is not an https URL, or has credentials in it`,
    (w) => `set ${w.input(name, 'https://…')}`,
  );
}

/** A host whose URLs are handed over: it may be in a private network, but not on this machine. */
function parsePublicHost(text: string, name: string): URL {
  const url = parseHost(text, name);
  refuseMachineAddress(url, (w) => w.subject(name));
  return url;
}

function parseRepository(text: string, name: string): { readonly owner: string; readonly repo: string } {
  const [, owner, repo] = /^([A-Za-z0-9][\w-]*)\/(?!\.{1,2}$|.*\.git$)([\w.-]+)$/i.exec(text) ?? [];
  if (owner !== undefined && repo !== undefined) return { owner, repo };
  const [, named] =
    /^(?:(?:https:\/\/|git@)[^/:]+[/:])?([\w-]+\/(?!\.{1,2}$)[\w.-]+?)(?:\.git)?\/?$/.exec(text) ?? [];
  return refuseInput(
    (w) => `${w.subject(name)} is not of the form <owner>/<repo>: ${oneLine(text)}`,
    (w) => `set ${w.input(name, named ?? 'owner/name')}`,
  );
}

/** Not a plain name. @see https://git-scm.com/docs/git-check-ref-format and https://git-scm.com/docs/gitrevisions */
const NOT_PLAIN = [
  /[\s\p{Cc}~^:?*[\\]|\.\.|@\{|\/\/|^[/-]|[/.]$|\.lock(\/|$)|(^|\/)\.|^@$/u,
  /^refs\/|^(?:[A-Z]+_)?HEAD$|^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i,
];

const BROKEN_PATH = /[\p{Cc}\p{Cf}\\]|(^|\/)\.{0,2}(\/|$)/u;

export const PARSERS = {
  lines: parseLines,
  channels: parseChannels,
  path: parsePath,
  host: parseHost,
  publicHost: parsePublicHost,
  content: (text: string): string | undefined => (text.trim() === '' ? undefined : text),
  line: oneLine,
  link: (text: string, name: string): URL => parseExternalAddress(text, (w) => w.subject(name)),
  fingerprints: (text: string): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== ''),
  fileName: checked(
    (text) =>
      /^(?!\.{1,2}$|\.git(hub)?$)[^/\\\p{Cc}\p{Cf}]+$/iu.test(text) &&
      Buffer.byteLength(text) <= CONTENT.name,
    'is not a file name:',
    'a name without a folder, such as page.html',
    nameFromFile,
  ),
  marker: checked(
    (text) => Buffer.byteLength(text) <= TEXT.marker,
    `is longer than ${TEXT.marker} bytes`,
    'a short text that only this file has',
    checked(
      (text) => [...text.replace(/[\s\p{Cc}\p{Cf}]/gu, '')].length >= TEXT.shortestMarker,
      `has fewer than ${TEXT.shortestMarker} characters without spaces, so almost any page has it`,
      'a longer text that only this file has',
    ),
  ),
  /** The redactor must be able to hide it: hiding a value such as `null` would damage every text. */
  token: checked(
    // Such as `${GITHUB_TOKEN}` in the settings of a client that replaces another form, or none.
    (text) => !/^(?:\$\w+|\$\{.*\}|%\w+%)$/s.test(text),
    'is the name of a variable, not its value',
    (w) => `the token itself${w.ownToken}`,
    checked(
      isCredential,
      'is too short or too common to be a token, or has a space or a line break',
      (w) => `the whole token${w.ownToken}, or leave it empty`,
    ),
  ),
  clientId: checked(
    (text) => /^[A-Za-z0-9._-]{1,100}$/.test(text),
    'is not a client ID',
    'the client ID of an OAuth app, such as Iv1.0123456789abcdef',
  ),
  repository: parseRepository,
  folder: checked(
    (text) => /^(?!\.?\/$).+\/$/.test(text),
    'is not a folder ending in /:',
    'a folder such as agent/',
    parsePath,
  ),
  siteFolder: checked(
    (text) => /(?:^\.|\/)$/.test(text),
    'is not a folder of the site, ending in /:',
    './ for the whole site, or a folder such as docs/',
    parsePath,
  ),
  count: checked(
    (text) => /^[1-9]\d{0,3}$/.test(text),
    'is not a number of folders from 1 to 9999:',
    'a number such as 20, or leave it out to keep all',
    Number,
  ),
  /** In milliseconds. */
  age: checked(
    (text) => /^[1-9]\d{0,3} days?$/.test(text),
    'is not a number of days such as 14 days:',
    'a number of days, such as 14 days',
    (text) => Number.parseInt(text, 10) * DAY,
  ),
  page: checked(
    (text) => !BROKEN_PATH.test(text.replace(/^\.\//, '')),
    'is not the path of a page in the folder:',
    'a path such as index.html',
    (text) => text.replace(/^\.\//, ''),
  ),
  workflow: checked(
    (text) => /^(?:\.github\/workflows\/)?\w[\w. -]{0,200}\.ya?ml$/.test(text),
    'is not the file name of a workflow:',
    'the name of a file in .github/workflows, such as pages.yml',
    (text) => text.replace(/^.*\//, ''),
  ),
  gitName: checked(
    (text) => !NOT_PLAIN.some((pattern) => pattern.test(text)),
    'is not a valid git name:',
    'a plain name without refs/, such as gh-pages or v1.2',
  ),
  /** Names are not case-sensitive. @see https://docs.github.com/actions/reference/workflows-and-actions/deployments-and-environments */
  environment: checked(
    (text) => /^(?!github-pages$)[^\p{Cc}\p{Cf}'"`,;\\]{1,255}$/iu.test(text),
    'is not a valid environment name (github-pages belongs to GitHub Pages):',
    'letters, digits, spaces, -, _ and /, such as preview',
  ),
  bin: checked(
    (text) => new RegExp(`^[\\w-]{${BIN_NAME.shortest},${BIN_NAME.longest}}$`).test(text),
    'is not a bin name that the host accepts',
    `${BIN_NAME.shortest} to ${BIN_NAME.longest} letters, digits, _ or -, or leave it out`,
  ),
};
