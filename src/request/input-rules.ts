import { serverUrlOf } from '../github/hosts.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { isPartOfAddress } from '../rules/external-address.ts';
import type { Words } from '../words.ts';
import { oneLine, refuseInput } from './input-kinds.ts';
import type { DeliveryRequest } from './parse-request.ts';

type RuleText = string | ((words: Words, request: DeliveryRequest) => string);

/** A rule that no single input can break: when it is broken, what is wrong, and what to change. */
type InputRule = readonly [
  isBroken: (request: DeliveryRequest) => boolean,
  problem: RuleText,
  hint: RuleText,
];

/** The inputs that name the channel of `auto`. */
const listNaming = ({ tagIsDefault, binIsNew, url }: DeliveryRequest): readonly string[] => [
  ...(tagIsDefault ? [] : ['tag']),
  ...(binIsNew ? [] : ['bin']),
  ...(url === undefined ? [] : ['url']),
];

const namesNothing = ({ fileLines }: DeliveryRequest): boolean => fileLines.length === 0;

const uses = ({ channels }: DeliveryRequest, keys: readonly ChannelKey[]): boolean =>
  channels !== 'auto' && channels.some((key) => keys.includes(key));

const ANY_RULES: readonly InputRule[] = [
  [
    ({ file }) => file.some((line) => /^sandbox:/i.test(line)),
    (w) => `${w.subject('file')} is a link of an agent's sandbox, which leads to no file here`,
    (w) => `name the file by its path in ${w.folder}`,
  ],
  // A token must not reach a host that it does not belong to.
  [
    ({ apiUrl, serverUrl }) => serverUrlOf(apiUrl).host !== serverUrl.host,
    (w, { apiUrl, serverUrl }) =>
      `${w.subject('api-url')} and ${w.subject('auth-url')} name two instances: ${apiUrl.host} belongs to ${serverUrlOf(apiUrl).host}, not to ${serverUrl.host}`,
    (w, { apiUrl, serverUrl }) =>
      `set ${w.input('auth-url', serverUrlOf(apiUrl).origin)}, or ${w.input('api-url')} to the API of ${serverUrl.host}`,
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
    ({ content, file, name }) => content === undefined && name !== undefined && file.length > 0,
    (w) => `${w.input('name')} is only for ${w.input('content')}, and a file is given`,
    (w, { name }) => `leave it out; to give the file another name, set ${w.input('path', name)}`,
  ],
  [
    ({ content, name }) => content === undefined && name !== undefined,
    (w) => `${w.subject('content')} is empty`,
    (w) => `look at what should have written ${w.input('content')}`,
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
    (request) => request.channels === 'auto' && listNaming(request).length > 1,
    (w, request) => `${listNaming(request).map(w.subject).join(' and ')} name different channels`,
    (w) =>
      `leave out all but one of them, or set ${w.input('channel')} to the one to use, or to a list of them`,
  ],
  [
    (request) =>
      request.clientId !== undefined &&
      !request.token &&
      !request.repository &&
      (request.channels === 'auto' ? !request.url : uses(request, ['K1', 'K2'])),
    (w) => `${w.subject('client-id')} is given, but no repository that a token would be asked for`,
    (w) => `set ${w.input('repository', 'owner/name')}, or leave ${w.input('client-id')} out`,
  ],
];

const namesAddress = ({ file }: DeliveryRequest): boolean =>
  file.some((line) => /^\s*[a-z][a-z\d+.-]*:\/\//i.test(line));

const ADDRESS: RuleText = (w) => `${w.subject('file')} is an address and names no file`;

const DELIVERY_RULES: readonly InputRule[] = [
  [
    ({ path = '', refusesHidden }) => refusesHidden === true && /(?:^|\/)\.[^/]/.test(path),
    (w) => `${w.subject('path')} has a hidden name`,
    'only a person can deliver there',
  ],
  [namesAddress, ADDRESS, (w) => `give a file as ${w.input('file')}, or ${w.link}`],
  [
    (request) => uses(request, ['K4']) && request.url === undefined,
    'channel K4 needs the link to check',
    (w) => `${w.link}${w.orUse(['K1', 'K2', 'K3'])}`,
  ],
  [
    (request) => namesNothing(request) && request.url === undefined,
    'it is not said what to deliver',
    (w) => `give a file as ${w.input('file')}, or a text as ${w.input('content')}, or ${w.link}`,
  ],
  [
    (request) => namesNothing(request) && uses(request, ['K1', 'K2', 'K3']),
    (w) => `${w.subject('file')} is missing`,
    (w) => `name it; for a link alone, ${w.use('K4')}`,
  ],
  [
    (request) => namesNothing(request) && request.marker === undefined,
    "a link alone can't be proven",
    (w) => `set ${w.input('marker')} to a text that it shows, or give its content as ${w.input('file')}`,
  ],
  // So would any page that only repeats its address, such as one to sign in.
  [
    (request) =>
      namesNothing(request) && !!request.url && isPartOfAddress(request.marker ?? '', [request.url]),
    (w) =>
      `${w.subject('marker')} is a part of the link, so a page that only repeats its address would have it too`,
    (w) => `set ${w.input('marker')} to a text that only the content has`,
  ],
];

const WITHDRAWAL_RULES: readonly InputRule[] = [
  [namesAddress, ADDRESS, (w) => `set ${w.input('url')} to it`],
  [
    (request) => namesNothing(request) && request.path === undefined && request.address === undefined,
    'nothing to withdraw is named',
    (w) => `name a file, or set ${w.input('path')}`,
  ],
  [(request) => uses(request, ['K4']), "a link (K4) can't be withdrawn", (w) => w.use(['K1', 'K2', 'K3'])],
  [
    ({ path, overwrite }) => overwrite && path === './',
    (w) => `${w.subject('overwrite')} would remove everything on the branch, files of others as well`,
    (w) => `leave ${w.input('overwrite')} out, or set ${w.input('path')} to a folder`,
  ],
  [
    (request) => request.binIsNew && uses(request, ['K3']),
    'the bin to withdraw from is not named',
    (w) => `set ${w.input('bin')} to the name that the delivery reported`,
  ],
];

const AUDIT_RULES: readonly InputRule[] = [
  [
    (request) => !namesNothing(request),
    'an audit proves what was delivered, and takes no file',
    (w) => `set ${w.input('path')} to the place within the repository, or leave it out for everything`,
  ],
  [
    (request) => uses(request, ['K3', 'K4']),
    'nothing tells what was delivered to K3 and K4',
    (w) => w.use(['K1', 'K2']),
  ],
];

/** A name that every file system takes, also one that keeps names of devices for itself. */
const PAGE_NAME =
  /^(?!(?:con|prn|aux|nul|com\d|lpt\d)\.)[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*(\.[\p{L}\p{M}\p{N}_-]+)*\.html$/iu;

/**
 * The author of a page's name and content could otherwise move it by a path, `CNAME`, `_config.yml` or front matter, or
 * change pages of others by a service worker. @see protocol 7 (prohibition 4)
 */
const CONFINED_RULES: readonly InputRule[] = [
  ...(['file', 'path', 'url', 'overwrite', 'operation'] as const).map(
    (name): InputRule => [
      (request) => !['', 'false', 'deliver'].includes(`${request[name] ?? ''}`),
      (w) => `${w.subject('confine')} and ${w.subject(name)} are both given`,
      (w) =>
        `leave ${w.input(name)} or ${w.input('confine')} out: a confined delivery takes ${w.input('name')} and ${w.input('content')} alone`,
    ],
  ),
  [
    ({ channels }) => channels !== 'auto' && channels.join() !== 'K1',
    (w) => `${w.subject('confine')} is for K1 alone`,
    (w) => `${w.use('K1')}, or leave ${w.input('confine')} out`,
  ],
  [
    ({ name = '' }) => !PAGE_NAME.test(name) || !name.endsWith('.html'),
    (w, { name }) =>
      `${w.subject('name')} is ${name === undefined ? 'missing' : `not the name of a page: ${oneLine(name)}`}`,
    (w) =>
      `set ${w.input('name')} to letters, digits, -, _ and ., with the ending .html, such as answer.html`,
  ],
  // Jekyll would take an address, a layout and commands from there. @see https://jekyllrb.com/docs/front-matter/
  [
    ({ content }) => /^\s*\uFEFF?\s*---/.test(`${content}`),
    (w) => `${w.subject('content')} begins with front matter, with which a page chooses its own address`,
    (w) => `begin ${w.input('content')} with \`<!doctype html>\``,
  ],
];

/** @throws {DeliveryError} `BAD_INPUT` with the first rule that is broken. */
export function refuseBrokenRules(request: DeliveryRequest): void {
  const { operation, confine } = request;
  const own = { deliver: DELIVERY_RULES, withdraw: WITHDRAWAL_RULES, audit: AUDIT_RULES }[operation];
  const rules = [...(confine === undefined ? [] : CONFINED_RULES), ...ANY_RULES, ...own];
  const [, problem, hint] = rules.find(([isBroken]) => isBroken(request)) ?? [];
  if (problem === undefined || hint === undefined) return;
  const fill = (text: RuleText) => (w: Words) => (typeof text === 'string' ? text : text(w, request));
  refuseInput(fill(problem), fill(hint));
}
