import { DeliveryError, hasFailed } from '../errors.ts';
import type { RepositoryContext, RepositoryQuery } from '../github/api/repository.ts';
import { MAX_FILE_SIZE, MEGABYTE, SIZE } from '../protocol/limits.ts';
import { CHANNEL_LABELS, type ChannelKey } from '../protocol/words.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { type BrowserDisplay, getBrowserDisplay } from '../rules/media-type.ts';
import type { ChannelChoice, Delivery } from './delivery.ts';
import type { OpenRepository } from './delivery-context.ts';

/** The channel that follows from a link, a bin or a tag; `undefined` if none is named. */
const namedChannel = ({ url, binIsNew, tagIsDefault }: DeliveryRequest): ChannelKey | undefined =>
  url !== undefined ? 'K4' : !binIsNew ? 'K3' : !tagIsDefault ? 'K2' : undefined;

/** Whether the request names the channel, or `auto` may choose it. */
export const isWanted = (key: ChannelKey, request: DeliveryRequest): boolean =>
  request.channels === 'auto'
    ? [undefined, key].includes(namedChannel(request))
    : request.channels.includes(key);

/** What to load of the repository for the chosen or possible channels. */
export function queryFor(deliveries: readonly Delivery[], request: DeliveryRequest): RepositoryQuery {
  const needs = (key: ChannelKey): boolean =>
    deliveries.some(({ choice }) =>
      choice === null ? isWanted(key, request) : choice.channels.includes(key),
    );
  const pagesSettings = needs('K1');
  // Only a file of a public repository may go to the file-bin unasked.
  const mayUseBin = request.channels === 'auto' && needs('K3');
  // Reports warn if the page of a private repository is public.
  return { pagesSettings, repository: pagesSettings || needs('K2') || mayUseBin };
}

const UNREADABLE = "assets of a private repository can't be read anonymously";

/** Whether the user refused to grant a token. */
const isDeclined = (github: RepositoryContext['github']): github is DeliveryError =>
  hasFailed(github) && github.code === 'NOT_AUTHORIZED';

/** Rows of condition, channel and reason. The first match wins. @see protocol 1 (channel choice), 4.6 */
export function listChoices(
  { url, binIsNew, tagIsDefault, token, namesDestination }: DeliveryRequest,
  { github, privateRepository }: RepositoryContext,
  size: number,
  display: BrowserDisplay,
): readonly (readonly [boolean, ChannelKey, string])[] {
  const isPublic = privateRepository !== true;
  const isUnknown = hasFailed(github);
  const isLarge = size > SIZE.repository;
  const isDownload = display === 'none';
  return [
    [url !== undefined, 'K4', 'a link was given'],
    [!binIsNew, 'K3', 'a bin was named'],
    [!tagIsDefault, 'K2', 'a tag was named'],
    // K1 explains how to set a token: a file for a repository never goes to the public bin unasked.
    [
      isUnknown && !isDeclined(github) && namesDestination === true,
      'K1',
      'a repository, a branch or a folder was named',
    ],
    [isUnknown && token !== undefined, 'K3', "the token's repository is unknown"],
    [isUnknown, 'K3', 'there is no token'],
    [size > SIZE.asset, 'K3', 'the file is larger than 2 GB'],
    [isLarge && isPublic, 'K2', 'the file is larger than 95 MB'],
    [isLarge, 'K3', `the file is larger than 95 MB, and ${UNREADABLE}`],
    [isDownload && isPublic, 'K2', 'a browser downloads this type of file'],
    [isDownload, 'K1', `a browser downloads this type of file, and ${UNREADABLE}`],
    // K1 itself refuses a repository without a Pages site.
    [true, 'K1', 'a browser shows it'],
  ];
}

/** Withdrawals only: a path with a folder can't be a release asset. */
export const namesPathInFolder = ({ file, path, address }: DeliveryRequest): boolean =>
  address === undefined && file.length === 0 && path?.includes('/') === true;

/** As `chooseChannels`, but a name that the site has from this tool is withdrawn from the site. */
export async function chooseRemoval(
  delivery: Delivery,
  request: DeliveryRequest,
  { access, channels }: OpenRepository,
): Promise<ChannelChoice> {
  const choice = chooseChannels(delivery, request, { access });
  const isSought = request.file.length === 0 && request.tagIsDefault && choice.channels[0] === 'K2';
  if (request.channels !== 'auto' || !isSought) return choice;
  if (namesPathInFolder(request)) return { ...choice, channels: ['K1'], reason: 'the path has a folder' };
  if (!(await channels.K1.holds?.(delivery))) return choice;
  return { ...choice, channels: ['K1'], reason: 'the site has it' };
}

/** Chooses alike for delivery and withdrawal. @throws {DeliveryError} `NOT_EXTERNAL`; `BAD_INPUT`; `TOO_LARGE` */
export function chooseChannels(
  { operation, name, site, subject }: Delivery,
  request: DeliveryRequest,
  { access }: Pick<OpenRepository, 'access'>,
): ChannelChoice {
  const isPrivate = access.privateRepository === true;
  if (request.channels !== 'auto') {
    const reason = request.channels[0] === 'K4' ? 'a link was given' : 'it was asked for';
    return { channels: request.channels, reason, isPrivate };
  }
  const size = site?.entry.size ?? 0;
  const display = site?.isFolder || name.endsWith('/') ? 'page' : getBrowserDisplay(name);
  const choices = listChoices(request, access, size, display);
  const [, channel = 'K1', why = ''] = choices.find(([fits]) => fits) ?? [];
  const { github } = access;
  const reason = isDeclined(github) ? `${why} (${github.message})` : why;
  if (operation === 'withdraw') {
    if (channel === 'K3' && request.binIsNew) throw unnamedBinError(request, access, reason);
    return { channels: [channel], reason, isPrivate };
  }
  if (site?.isFolder && !takesFolders(channel)) {
    const isNamed = !request.binIsNew || !request.tagIsDefault;
    throw folderChannelError(subject, channel, reason, isNamed || !hasFailed(github));
  }
  if (channel === 'K3' && !request.allowPublicBin) refusePublicBin(request, access, reason);
  refuseTooLarge([channel], size, subject);
  return { channels: [channel], reason, isPrivate };
}

/** Refuses a file that is too large for its channel. `auto` is checked after the choice. @see protocol 8 */
export function refuseTooLarge(
  selection: DeliveryRequest['channels'],
  size: number,
  given: string,
  isPart = false,
): void {
  for (const key of selection === 'auto' ? [] : selection) {
    const limit = MAX_FILE_SIZE[key];
    if (limit === undefined || size <= limit.bytes) continue;
    const most = `${limit.bytes / MEGABYTE} MB`;
    const message = `the file ${given} has ${size} bytes, but ${CHANNEL_LABELS[key]} takes at most ${most}`;
    const instead = isPart ? 'leave it out of the folder, or ' : '';
    throw new DeliveryError('TOO_LARGE', message, { hint: (w) => instead + w.use(limit.instead) });
  }
}

/** A file goes to the public bin only if its repository is known to be public, or `allow-public-bin` is set. */
function refusePublicBin(
  { sourceIsPrivate, isFromTarget, token, repository, checkOnly = false }: DeliveryRequest,
  { github, privateRepository }: RepositoryContext,
  reason: string,
): void {
  const isPrivate = sourceIsPrivate === true || privateRepository === true;
  // A check asks no host, so its report leaves this unknown.
  const mayBePublic = privateRepository === false || (checkOnly && !hasFailed(github));
  const isPublic = sourceIsPrivate === false || (isFromTarget && mayBePublic);
  if (isPublic && !isPrivate) return;
  const known = isPrivate ? 'is private' : 'may be private';
  const missing = Object.entries({ token, repository }).flatMap(([name, value]) => (value ? [] : [name]));
  throw new DeliveryError(
    'NOT_EXTERNAL',
    `${reason}, so the public file-bin was chosen, but the file's repository ${known}`,
    {
      step: 'authorize',
      hint: (w) =>
        hasFailed(github)
          ? `set ${missing.map((name) => w.input(name)).join(' and ')} for GitHub Pages${w.orSet('allow-public-bin', 'true', ' if the file may be public')}`
          : `set ${w.input('allow-public-bin', 'true')} if the file may be public`,
    },
  );
}

function unnamedBinError(
  { token }: DeliveryRequest,
  { github }: RepositoryContext,
  reason: string,
): DeliveryError {
  const message = `${reason}, so only a named bin of the file-bin can be emptied`;
  return new DeliveryError(hasFailed(github) ? github.code : 'BAD_INPUT', message, {
    step: 'check',
    hint: (w) =>
      `name the file, and set ${w.input('bin')} to the first folder of its URL, or ${token === undefined ? `${w.input('token')} for K1` : w.input('channel')}`,
    leftBehind: [],
  });
}

/** K1 publishes folders, and K4 verifies published folders. */
export const takesFolders = (channel: ChannelKey): boolean => channel === 'K1' || channel === 'K4';

/** A channel that takes no folders was chosen. @param reason why it was chosen */
export function folderChannelError(
  given: string,
  channel: ChannelKey,
  reason = '',
  hasToken = true,
): DeliveryError {
  const why = reason === '' ? '' : `${reason}, and `;
  const isPlain = /^[\w./][\w./-]*$/.test(given);
  const pack = `\`tar -czf site.tar.gz${isPlain ? ` ${given}\`` : '` with the folder in quotes'}`;
  return new DeliveryError(
    'BAD_INPUT',
    `${why}a ${CHANNEL_LABELS[channel]} takes single files, not the folder ${given}`,
    {
      hint: (w) =>
        `for a site with a page ${hasToken ? w.use('K1') : `set ${w.input('token')}${w.ownToken || ` and ${w.input('repository')}`}`}; otherwise pack it (${pack}) and deliver the archive`,
    },
  );
}
