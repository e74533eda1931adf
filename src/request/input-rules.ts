import { serverUrlOf } from '../github/hosts.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { isPartOfAddress } from '../rules/external-address.ts';
import type { Words } from '../words.ts';
import { oneLine, refuseInput } from './input-kinds.ts';
import type { DeliveryRequest } from './parse-request.ts';
import { isExclusion } from './patterns.ts';

type RuleText = string | ((words: Words, request: DeliveryRequest) => string);

type InputRule = readonly [
  isBroken: (request: DeliveryRequest) => boolean,
  problem: RuleText,
  hint: RuleText,
];

/** The inputs that decide which channel `auto` takes. */
const listNaming = ({ tagIsDefault, binIsNew, url }: DeliveryRequest): readonly string[] => [
  ...(tagIsDefault ? [] : ['tag']),
  ...(binIsNew ? [] : ['bin']),
  ...(url === undefined ? [] : ['url']),
];

const namesNothing = ({ file }: DeliveryRequest): boolean => file.length === 0;

const uses = ({ channels }: DeliveryRequest, keys: readonly ChannelKey[]): boolean =>
  channels !== 'auto' && channels.some((key) => keys.includes(key));

const ANY_RULES: readonly InputRule[] = [
  [
    ({ file }) => file.some((line) => /^sandbox:/i.test(line)),
    (w) => `${w.subject('file')} is a sandbox link, which works only inside an agent's own environment`,
    (w) => `give the file by its path in ${w.folder}`,
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
    'only an audit opens an issue',
    (w) => `set ${w.input('operation', 'audit')}, or remove ${w.input('issue')}`,
  ],
  [
    (request) => isSweep(request) && request.operation !== 'withdraw',
    (w) => `${w.subject('older-than')} and ${w.subject('closed')} are only for a withdrawal`,
    (w) => `set ${w.input('operation', 'withdraw')}, or remove them`,
  ],
  [
    ({ picture, screen }) => picture && screen === 'off',
    'a picture of the page needs a browser',
    (w) => `set ${w.input('screen', 'auto')}, or remove ${w.input('picture')}`,
  ],
  [
    ({ content, file, name }) => content === undefined && name !== undefined && file.length > 0,
    (w) => `${w.input('name')} is only for ${w.input('content')}, but a file is given`,
    (w, { name }) => `to rename the file, set ${w.input('path', name)} instead`,
  ],
  [
    ({ content, name }) => content === undefined && name !== undefined,
    (w) => `${w.subject('content')} is empty`,
    (w) => `check what should have written ${w.input('content')}`,
  ],
  [
    ({ content, file }) => content !== undefined && file.length > 1,
    'a file and a text are both given',
    'remove one of them',
  ],
  [
    ({ content, name }) => content !== undefined && name === undefined,
    (w) => `the file name for ${w.subject('content')} is missing`,
    (w) => `set ${w.input('name', 'page.html')}`,
  ],
  [
    (request) => request.channels === 'auto' && listNaming(request).length > 1,
    (w, request) => `${listNaming(request).map(w.subject).join(' and ')} name different channels`,
    (w) => `remove all but one of them, or set ${w.input('channel')} to the channels to use, such as K2+K3`,
  ],
  [
    (request) =>
      request.clientId !== undefined &&
      !request.token &&
      !request.repository &&
      (request.channels === 'auto' ? !request.url : uses(request, ['K1', 'K2'])),
    (w) => `${w.subject('client-id')} is given, but no repository for which to request a token`,
    (w) => `set ${w.input('repository', 'owner/name')}, or remove ${w.input('client-id')}`,
  ],
];

export const isSweep = ({ olderThan, closed }: Pick<DeliveryRequest, 'olderThan' | 'closed'>): boolean =>
  olderThan !== undefined || closed;

const namesAddress = ({ file }: DeliveryRequest): boolean =>
  file.some((line) => /^\s*[a-z][a-z\d+.-]*:\/\//i.test(line));

const ADDRESS: RuleText = (w) => `${w.subject('file')} is a URL, not a path`;

const DELIVERY_RULES: readonly InputRule[] = [
  // An answer has one URL, so nothing may be public beside it.
  [
    ({ file, isAgent }) => isAgent === true && file.length > 1,
    (w) => `${w.subject('file')} has several lines, but a call takes one file or folder`,
    'name one file, or the folder that has them',
  ],
  [
    ({ path = '', refusesHidden }) => refusesHidden === true && /(?:^|\/)\.[^/]/.test(path),
    (w) => `${w.subject('path')} has a name that begins with a dot`,
    "choose another path: an agent can't deliver to a hidden path",
  ],
  [namesAddress, ADDRESS, (w) => `set ${w.input('file')} to a path, or ${w.link}`],
  [
    (request) => uses(request, ['K4']) && request.url === undefined,
    'channel K4 needs a link',
    (w) => `${w.link}${w.orUse(['K1', 'K2', 'K3'])}`,
  ],
  [
    (request) => namesNothing(request) && request.url === undefined,
    'nothing to deliver',
    (w) => `set ${w.input('file')} to a path, or ${w.link}`,
  ],
  [
    (request) => namesNothing(request) && uses(request, ['K1', 'K2', 'K3']),
    (w) => `${w.subject('file')} is missing`,
    (w) => `set ${w.input('file')} to a path; for a link without a file, ${w.use('K4')}`,
  ],
  [
    (request) => namesNothing(request) && request.marker === undefined && request.delivered === undefined,
    "a link can't be verified without its content",
    (w) => `set ${w.input('marker')} to a text that the link shows, or ${w.input('file')} to its content`,
  ],
  // A page that only repeats its URL would pass, such as a sign-in page.
  [
    (request) =>
      namesNothing(request) &&
      !!request.url &&
      !!request.marker &&
      isPartOfAddress(request.marker, [request.url]),
    (w) =>
      `${w.subject('marker')} is a part of the link, so any page that repeats its own URL would contain it`,
    (w) => `set ${w.input('marker')} to a text that only the content has`,
  ],
];

const WITHDRAWAL_RULES: readonly InputRule[] = [
  [
    (request) => isSweep(request) && !(namesNothing(request) && request.path?.endsWith('/')),
    'a sweep removes folders directly below one folder, so it takes only a path that ends in a slash',
    (w, request) =>
      namesNothing(request) && request.path
        ? `end the path in a slash: ${w.input('path', `${request.path}/`)}`
        : `set ${w.input('path', 'previews/')} alone, without ${w.input('file')} and ${w.input('url')}`,
  ],
  [namesAddress, ADDRESS, (w) => `set ${w.input('url')} to it`],
  [
    (request) => namesNothing(request) && request.path === undefined && request.address === undefined,
    'nothing to withdraw',
    (w) => `name a file, or set ${w.input('path')}`,
  ],
  [
    ({ address, file }) => address !== undefined && file.some(isExclusion),
    (w) => `a \`!\` line has no effect with ${w.subject('url')}`,
    (w) =>
      `withdraw the folder with the lines of its delivery and ${w.input('path')}, without ${w.input('url')}`,
  ],
  [(request) => uses(request, ['K4']), "a link (K4) can't be withdrawn", (w) => w.use(['K1', 'K2', 'K3'])],
  [
    ({ path, overwrite }) => overwrite && path === './',
    (w) =>
      `${w.subject('overwrite')} would remove everything on the branch, including files that this tool didn't deliver`,
    (w) => `remove ${w.input('overwrite')}, or set ${w.input('path')} to a folder`,
  ],
  [
    (request) => request.binIsNew && uses(request, ['K3']),
    'the bin to withdraw from is not given',
    (w) => `set ${w.input('bin')} to the name that the delivery reported`,
  ],
];

const AUDIT_RULES: readonly InputRule[] = [
  [
    (request) => !namesNothing(request),
    'an audit takes no file, because it finds the deliveries itself',
    (w) => `remove ${w.input('file')}; to audit only one path, set ${w.input('path')}`,
  ],
  [
    (request) => uses(request, ['K3', 'K4']),
    "an audit can't find deliveries to K3 and K4",
    (w) => w.use(['K1', 'K2']),
  ],
];

/** A name that every file system accepts, also Windows with its device names. */
const PAGE_NAME =
  /^(?!(?:con|prn|aux|nul|com\d|lpt\d)\.)[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*(\.[\p{L}\p{M}\p{N}_-]+)*\.html$/iu;

/**
 * Otherwise the author of a page's name and content could move it (a path, `CNAME`, `_config.yml`, front matter), or
 * change somebody else's pages (a service worker). @see protocol 7 (prohibition 4)
 */
const CONFINED_RULES: readonly InputRule[] = [
  ...(['path', 'url', 'overwrite', 'operation'] as const).map(
    (name): InputRule => [
      (request) => !['', 'false', 'deliver'].includes(`${request[name] ?? ''}`),
      (w) => `${w.subject('confine')} and ${w.subject(name)} can't be combined`,
      (w) =>
        `remove ${w.input(name)} or ${w.input('confine')}: a confined delivery takes only ${w.input('name')} and ${w.input('content')}`,
    ],
  ),
  [
    ({ channels }) => channels !== 'auto' && channels.join() !== 'K1',
    (w) => `${w.subject('confine')} works only for K1`,
    (w) => `${w.use('K1')}, or remove ${w.input('confine')}`,
  ],
  [
    ({ name = '' }) => !PAGE_NAME.test(name) || !name.endsWith('.html'),
    (w, { name }) =>
      `${w.subject('name')} is ${name === undefined ? 'missing' : `not the name of a page: ${oneLine(name)}`}`,
    (w) =>
      `set ${w.input('name')} to a name such as answer.html (letters, digits, -, _ and ., ending in .html)`,
  ],
  // Jekyll would read a URL, a layout and commands from it. @see https://jekyllrb.com/docs/front-matter/
  [
    ({ content }) => /^\s*\uFEFF?\s*---/.test(`${content}`),
    (w) => `${w.subject('content')} begins with front matter, which can move the page to another URL`,
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
