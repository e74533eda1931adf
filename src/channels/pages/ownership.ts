import { DeliveryError } from '../../errors.ts';
import { CONFINED_TRAILER, OBJECT_TRAILER, TRAILER } from '../../protocol/words.ts';
import { baseName } from '../../rules/naming.ts';
import { isPictureOf } from './pictures.ts';
import { parseMessageBelow, parseSiteMessage } from './site/site-message.ts';

/** A file of a commit. */
export interface DeliveredObject {
  readonly path: string;
  /** Git's id of the file's bytes. */
  readonly blobSha: string;
}

/** What a commit does to one path. */
export interface DeliveryCommit {
  readonly path: string;
  /** Git's id of the file's bytes; `null` where the path is removed. */
  readonly blobSha: string | null;
  /** The pictures of a page that the same commit delivers. */
  readonly pictures?: readonly DeliveredObject[];
  /** Whether a file exists at the path. */
  readonly replaces: boolean;
  /** What the user said about the delivery, in one line. */
  readonly essence: string;
  /** What the delivery was confined to. */
  readonly confinedTo?: string | undefined;
}

/**
 * The message of a commit: `ADD/UPDATE <name>: <essence>`, then trailers that name what it delivered.
 *
 * @see protocol 1 (repository etiquette), design 4
 */
export function formatCommitMessage(commit: DeliveryCommit): string {
  const { path, blobSha, replaces, essence, confinedTo, pictures = [] } = commit;
  const verb = blobSha === null ? 'REMOVE' : replaces ? 'UPDATE' : 'ADD';
  const subject = `${verb} ${baseName(path)}: ${essence}`;
  const objects = blobSha === null ? [] : [{ path, blobSha }, ...pictures];
  const confined = confinedTo === undefined ? [] : [`${CONFINED_TRAILER}: ${confinedTo}`];
  return [subject, '', TRAILER, ...confined, ...objects.map(formatObject)].join('\n');
}

const formatObject = ({ path, blobSha }: DeliveredObject): string => `${OBJECT_TRAILER}: ${blobSha} ${path}`;

/**
 * Whether this tool delivered what a path holds, and nobody changed it since. The message must have exactly the
 * form of `formatCommitMessage`, and name this path and these bytes: a squashed, quoted or amended message
 * proves nothing.
 *
 * @param message of the last commit that touched the path
 * @param object the path, and what it holds now
 * @param confinedTo of a confined delivery, which owns only what the same one delivered
 * @see design 4, protocol 7 (prohibition 4)
 */
export function isOwnedFile(message: string, object: DeliveredObject, confinedTo?: string): boolean {
  const { owner, lines } = takeConfinement(message.trimEnd().split('\n'));
  if (confinedTo !== undefined && owner !== confinedTo) return false;
  const [subject = '', empty, trailer, first = '', ...further] = lines;
  const [, verb = '', essence = ''] = /^(ADD|UPDATE) (.*)$/.exec(subject) ?? [];
  const [, main = ''] = OBJECT_LINE.exec(first) ?? [];
  const prefix = `${baseName(main)}: `;
  return (
    verb !== '' &&
    main !== '' &&
    essence.startsWith(prefix) &&
    essence.length > prefix.length &&
    empty === '' &&
    trailer === TRAILER &&
    further.every((line) => isPictureOf(OBJECT_LINE.exec(line)?.[1] ?? '', main)) &&
    [first, ...further].includes(formatObject(object))
  );
}

/**
 * Whether this tool delivered a picture together with its page, and nobody changed it since. A file that was
 * delivered to the same path by itself is the user's own.
 *
 * @param message of the last commit that touched the picture's path
 * @param object the path, and what it holds now
 * @see design 4
 */
export function isOwnedPicture(
  message: string,
  object: DeliveredObject,
  page: string,
  confinedTo?: string,
): boolean {
  const { lines } = takeConfinement(message.split('\n'));
  const isOfPage = object.path !== page && OBJECT_LINE.exec(lines[3] ?? '')?.[1] === page;
  return isOfPage && isOwnedFile(message, object, confinedTo);
}

/** The lines of a message without the one that names its confinement. */
function takeConfinement(lines: readonly string[]): {
  readonly owner: string | undefined;
  readonly lines: readonly string[];
} {
  const owner = CONFINED_LINE.exec(lines[3] ?? '')?.[1];
  return { owner, lines: owner === undefined ? lines : lines.toSpliced(3, 1) };
}

const CONFINED_LINE = new RegExp(`^${CONFINED_TRAILER}: (.+)$`);
const OBJECT_LINE = new RegExp(`^${OBJECT_TRAILER}: \\S+ (.+)$`);

/** @see protocol 7 (prohibition 4) */
export function pictureNotOwnedError(path: string): DeliveryError {
  return new DeliveryError(
    'NOT_OURS',
    `${path}, where the picture goes, already exists in the repository, and it is no picture that this action took of the page`,
    { hint: 'set `picture: false`, or `overwrite: true` if you may replace that file' },
  );
}

/** @see protocol 7 (prohibition 4) */
export function notConfinedError(path: string): DeliveryError {
  return new DeliveryError(
    'NOT_OURS',
    `${path} already exists in the repository, and what it holds now was not delivered by the same confined job`,
    { hint: 'set `name:` to another name' },
  );
}

/**
 * @param message of the last commit that touched the path
 * @see protocol 7 (prohibition 4)
 */
export function notOwnedError(path: string, isRemoval: boolean, message = ''): DeliveryError {
  const site = parseSiteMessage(message, '') ?? parseMessageBelow(message, '');
  const isPartOfSite = site !== null && path.startsWith(site.folder);
  const folder = site?.folder || './';
  return new DeliveryError(
    'NOT_OURS',
    isPartOfSite
      ? `${path} already exists in the repository, and it came with the folder ${folder} that was delivered as a whole`
      : `${path} already exists in the repository, and this action did not deliver what it holds now`,
    {
      hint: isPartOfSite
        ? `deliver the folder again with what you want, set \`path: ${folder}\` to withdraw all of it, or \`overwrite: true\` if you may ${isRemoval ? 'remove' : 'replace'} that file alone`
        : `set \`path:\` to another place, or \`overwrite: true\` if you may ${isRemoval ? 'remove' : 'replace'} that file`,
    },
  );
}
