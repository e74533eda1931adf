import { serverUrlOf } from '../github/hosts.ts';
import { CONTENT } from '../protocol/limits.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { isPartOfAddress } from '../rules/external-address.ts';
import type { Words } from '../words.ts';
import { oneLine, refuseInput } from './input-kinds.ts';
import { INPUTS, type InputValues, parseInputs, type RawInputs } from './inputs.ts';

type RuleText = string | ((words: Words, given: InputValues, raw: RawInputs) => string);

/** A rule that no single input can break: when it is broken, what is wrong, and what to change. */
type InputRule = readonly [
  isBroken: (given: InputValues, raw: RawInputs) => boolean,
  problem: RuleText,
  hint: RuleText,
];

/** The inputs that name the channel of `auto`. */
const listNaming = (given: InputValues): readonly string[] =>
  (['tag', 'bin', 'url'] as const).filter((name) => given[name] !== undefined);

const namesNothing = ({ file, content }: InputValues): boolean => file.length === 0 && content === undefined;

/** Whether a token would be of use: without one, a person is asked for it. */
const usesGitHub = (given: InputValues): boolean =>
  given.channel === 'auto'
    ? !namesNothing(given) || given.operation !== 'deliver'
    : given.channel.some((key) => key === 'K1' || key === 'K2');

const ANY_RULES: readonly InputRule[] = [
  // A token must not reach a host that it does not belong to.
  [
    ({ apiUrl, authUrl }) => serverUrlOf(apiUrl).host !== authUrl.host,
    (w, { apiUrl, authUrl }) =>
      `${w.subject('api-url')} and ${w.subject('auth-url')} name two instances: ${apiUrl.host} belongs to ${serverUrlOf(apiUrl).host}, not to ${authUrl.host}`,
    (w, { apiUrl, authUrl }) =>
      `set ${w.input('auth-url', serverUrlOf(apiUrl).origin)}, or ${w.input('api-url')} to the API of ${authUrl.host}`,
  ],
  [
    ({ issue, operation }) => issue && operation !== 'audit',
    'an issue is kept by an audit alone',
    (w) => `set ${w.input('operation', 'audit')}, or leave ${w.input('issue')} out`,
  ],
  [
    ({ picture, screen }) => picture && screen === 'off',
    'a picture of the page needs a browser',
    (w) => `set ${w.input('screen', 'auto')}, or leave ${w.input('picture')} out`,
  ],
  [
    ({ content, name }, raw) => content === undefined && (raw.content !== '' || name !== undefined),
    (w) => `${w.subject('content')} is empty, so ${w.input('name')} names nothing`,
    (w) => `give a text in ${w.input('content')}, or leave ${w.input('name')} out: a file has its own name`,
  ],
  [
    ({ content, file }) => content !== undefined && file.length > 0,
    'a file and a content are both given',
    'leave one of them out',
  ],
  [
    ({ content, name }) => content !== undefined && name === undefined,
    (w) => `${w.subject('content')} has no file name`,
    (w) => `give it one with ${w.input('name')}, such as page.html`,
  ],
  [
    (given) => given.channel === 'auto' && listNaming(given).length > 1,
    (w, given) => `${listNaming(given).map(w.subject).join(' and ')} name different channels`,
    (w) =>
      `leave out all but one of them, or set ${w.input('channel')} to the one to use, or to a list of them`,
  ],
  [
    (given) => given.clientId !== undefined && !given.token && !given.repository && usesGitHub(given),
    (w) => `${w.subject('client-id')} is given, but no repository that a token would be asked for`,
    (w) => `set ${w.input('repository', 'owner/name')}, or leave ${w.input('client-id')} out`,
  ],
];

const namesAddress = ({ file }: InputValues): boolean =>
  file.some((line) => /^\s*[a-z][a-z\d+.-]*:\/\//i.test(line));

const ADDRESS: RuleText = (w) => `${w.subject('file')} is an address and names no file`;

const DELIVERY_RULES: readonly InputRule[] = [
  [namesAddress, ADDRESS, (w) => `give a file as ${w.input('file')}, or ${w.link}`],
  [
    ({ channel, url }) => channel !== 'auto' && channel.includes('K4') && url === undefined,
    'channel K4 needs the link to check',
    (w) => `${w.link}${w.orUse('K1, K2 or K3')}`,
  ],
  [
    (given) => namesNothing(given) && given.url === undefined,
    'there is nothing to deliver',
    (w) => `give a file as ${w.input('file')}, or a text as ${w.input('content')}, or ${w.link}`,
  ],
  [
    (given) => namesNothing(given) && given.channel !== 'auto' && given.channel.some((key) => key !== 'K4'),
    (w) => `${w.subject('file')} is missing`,
    (w) => `name it; for a link alone, ${w.use('K4')}`,
  ],
  [
    (given) => namesNothing(given) && given.marker === undefined,
    "a link alone can't be proven",
    (w) => `set ${w.input('marker')} to a text that it shows, or give its content as ${w.input('file')}`,
  ],
  // So would any page that only repeats its address, such as one to sign in.
  [
    (given) => namesNothing(given) && !!given.url && isPartOfAddress(given.marker ?? '', [given.url]),
    (w) =>
      `${w.subject('marker')} is a part of the link, so a page that only repeats its address would have it too`,
    (w) => `set ${w.input('marker')} to a text that only the content has`,
  ],
];

const withdrawsFrom = ({ channel, tag, bin }: InputValues): readonly ChannelKey[] => {
  if (channel !== 'auto') return channel;
  return [bin !== undefined ? 'K3' : tag !== undefined ? 'K2' : 'K1'];
};

/** Also of a file that turns out to be a folder. */
export const NO_FOLDERS = {
  problem: 'K2 and K3 have no folders to withdraw',
  hint: (w: Words) => `give the names as ${w.input('file')}, or set ${w.input('path')} to one of them`,
};

const WITHDRAWAL_RULES: readonly InputRule[] = [
  [
    namesAddress,
    ADDRESS,
    (w) =>
      `set ${w.input('path')} to the place within the repository, or give the name that was delivered as ${w.input('file')}`,
  ],
  [
    (given) => namesNothing(given) && given.path === undefined,
    'there is nothing to withdraw',
    (w) => `name a file, or set ${w.input('path')}`,
  ],
  [
    (given) => withdrawsFrom(given).includes('K4'),
    "the environment's own link (K4) can't be withdrawn",
    (w) => w.use('K1, K2 or K3'),
  ],
  [
    (given) =>
      namesNothing(given) &&
      given.path?.endsWith('/') === true &&
      withdrawsFrom(given).some((key) => key !== 'K1'),
    NO_FOLDERS.problem,
    NO_FOLDERS.hint,
  ],
  [
    ({ path, overwrite }) => overwrite && path === './',
    (w) => `${w.subject('overwrite')} would remove everything on the branch, files of others as well`,
    (w) => `leave ${w.input('overwrite')} out, or set ${w.input('path')} to a folder`,
  ],
  [
    (given) => withdrawsFrom(given).includes('K3') && given.bin === undefined,
    'the bin to withdraw from is not named',
    (w) => `set ${w.input('bin')} to the name that the delivery reported`,
  ],
];

/** What an audit takes: it finds by itself what there is. */
const AUDIT_RULES: readonly InputRule[] = [
  [
    (given) => !namesNothing(given),
    'an audit proves what was delivered, and takes no file',
    (w) => `set ${w.input('path')} to the place within the repository, or leave it out for everything`,
  ],
  [
    ({ channel }) => channel !== 'auto' && channel.some((key) => key === 'K3' || key === 'K4'),
    'nothing tells what was delivered to K3 and K4',
    (w) => w.use('K1 or K2'),
  ],
];

/** A name that every file system takes, also one that keeps names of devices for itself. */
const PAGE_NAME =
  /^(?!(?:con|prn|aux|nul|com\d|lpt\d)\.)[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*(\.[\p{L}\p{M}\p{N}_-]+)*\.html$/iu;

/**
 * The author of a page's name and content could otherwise move it with them: out of the folder by a path, over the
 * site by `CNAME` or `_config.yml`, to any address by Jekyll's front matter, and over pages of others by a service
 * worker's script. @see protocol 7 (prohibition 4)
 */
const CONFINED_RULES: readonly InputRule[] = [
  ...(['file', 'path', 'url', 'overwrite', 'operation'] as const).map(
    (name): InputRule => [
      (_, raw) => raw[name].trim().toLowerCase() !== INPUTS[name].default,
      (w) => `${w.subject('confine')} and ${w.subject(name)} are both given`,
      (w) =>
        `leave ${w.input(name)} or ${w.input('confine')} out: a confined delivery takes ${w.input('name')} and ${w.input('content')} alone`,
    ],
  ),
  [
    ({ channel }) => channel !== 'auto' && channel.join() !== 'K1',
    (w) => `${w.subject('confine')} is for K1 alone`,
    (w) => `${w.use('K1')}, or leave ${w.input('confine')} out`,
  ],
  [
    (_, { name }) =>
      !PAGE_NAME.test(name) || !name.endsWith('.html') || Buffer.byteLength(name) > CONTENT.name,
    (w, _, raw) => `${w.subject('name')} is not the name of a page: ${oneLine(raw.name)}`,
    (w) =>
      `set ${w.input('name')} to letters, digits, -, _ and ., with the ending .html, such as answer.html`,
  ],
  // Jekyll would take an address, a layout and commands from there. @see https://jekyllrb.com/docs/front-matter/
  [
    (_, raw) => /^\s*\uFEFF?\s*---/.test(raw.content),
    (w) => `${w.subject('content')} begins with front matter, with which a page chooses its own address`,
    (w) => `begin ${w.input('content')} with \`<!doctype html>\``,
  ],
];

/** @throws {DeliveryError} `BAD_INPUT` with the first rule that is broken. */
export function refuseBrokenRules(given: InputValues, raw: RawInputs): void {
  const rules = { deliver: DELIVERY_RULES, withdraw: WITHDRAWAL_RULES, audit: AUDIT_RULES }[given.operation];
  refuseFirst([...(given.confine === undefined ? [] : CONFINED_RULES), ...ANY_RULES, ...rules], given, raw);
}

/** Refuses inputs that are to hold for several calls, whatever these deliver. @throws {DeliveryError} `BAD_INPUT` */
export const refuseBrokenSettings = (raw: RawInputs): void => refuseFirst(ANY_RULES, parseInputs(raw), raw);

function refuseFirst(rules: readonly InputRule[], given: InputValues, raw: RawInputs): void {
  const [, problem, hint] = rules.find(([isBroken]) => isBroken(given, raw)) ?? [];
  if (problem === undefined || hint === undefined) return;
  const fill = (text: RuleText) => (w: Words) => (typeof text === 'string' ? text : text(w, given, raw));
  refuseInput(fill(problem), fill(hint));
}
