import { DeliveryError } from '../../errors.ts';
import type { LastCommit } from '../../github/api/history.ts';
import type { TreeFile } from '../../github/api/tree-id.ts';
import {
  CONFINED_TRAILER,
  KEPT_TRAILER,
  OBJECT_TRAILER,
  REMOVED_TRAILER,
  TRAILER,
  TREE_TRAILER,
} from '../../protocol/words.ts';
import { baseName } from '../../rules/naming.ts';
import { isPictureOf } from './pictures.ts';

/*
 * Who owns a path of the branch is decided by the last commit that touched it: its message says what was delivered.
 * `isOwned` here judges one file; `site-history.ts` finds the files of a folder, `compare-site.ts` which of them may be
 * replaced, `plan-site.ts` what `prune` and `keep` remove, and `find-sites.ts` what a withdrawal removes.
 */

/** A folder that a commit delivered as a whole. */
export interface DeliveredSite {
  /** The folder in the branch: empty for its root, or ending in `/`. */
  readonly folder: string;
  /** Git's id of the tree that has exactly the delivered files. */
  readonly treeSha: string;
  /** What else the folder had, with paths within it; that of a whole folder ends in `/`. */
  readonly kept: readonly TreeFile[];
}

/** What a commit of this tool says of itself. */
export interface DeliveryMessage {
  readonly verb: 'ADD' | 'UPDATE' | 'REMOVE';
  /** What the user said about the delivery, in one line. */
  readonly essence: string;
  /** What the delivery was confined to. */
  readonly confinedTo?: string | undefined;
  /** The file that it delivered, then the pictures that a page got with it: git's ids of their bytes. */
  readonly objects?: readonly TreeFile[];
  readonly site?: DeliveredSite;
  /** The folders of the sites that it removed. */
  readonly removed?: readonly string[];
}

/**
 * The message of a commit: `ADD/UPDATE/REMOVE <name>: <essence>`, then trailers that name what it did.
 *
 * @param place path of the file; of a folder it ends in `/`, or is empty for the branch's root
 * @see protocol 1 (repository etiquette), design 4
 */
export function formatCommitMessage(
  place: string,
  { verb, essence, confinedTo, objects = [], site, removed = [] }: DeliveryMessage,
): string {
  return [
    `${verb} ${shortName(place)}: ${essence}`,
    '',
    TRAILER,
    ...(confinedTo === undefined ? [] : [`${CONFINED_TRAILER}: ${confinedTo}`]),
    ...objects.map(({ path, sha }) => `${OBJECT_TRAILER}: ${sha} ${path}`),
    ...(site === undefined ? [] : [`${TREE_TRAILER}: ${site.treeSha} ${nameFolder(site.folder)}`]),
    ...(site?.kept ?? []).map(({ path, sha }) => `${KEPT_TRAILER}: ${sha} ${escapeName(path)}`),
    ...removed.map((folder) => `${REMOVED_TRAILER}: ${nameFolder(folder)}`),
  ].join('\n');
}

const nameFolder = (folder: string): string => (folder === '' ? './' : folder);

const unnameFolder = (name: string): string => (name === './' ? '' : name);

/** How a person would name a file or a folder, in short. */
const shortName = (place: string): string => (place === '' ? '.' : baseName(place.replace(/\/$/, '')));

/** Names of others may have line breaks, and spaces at their end: these would change the form of the message. */
const escapeName = (path: string): string => path.replace(/[\s\p{Cc}%]/gu, encodeURIComponent);

/** A name that nobody escaped stays as it is: then it names nothing. */
function unescapeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * What a commit says of itself; `null` unless the message has exactly the form of `formatCommitMessage`: a squashed, quoted
 * or amended one proves nothing. The branch must be compared with it, because a message can be copied.
 *
 * @see design 4
 */
export function parseMessage(message: string): DeliveryMessage | null {
  const [subject = '', empty, trailer, ...rest] = message.trimEnd().split('\n');
  const [, verb, title = ''] = /^(ADD|UPDATE|REMOVE) (.+)$/.exec(subject) ?? [];
  if (verb === undefined || empty !== '' || trailer !== TRAILER) return null;
  const confinedTo = CONFINED_LINE.exec(rest[0] ?? '')?.[1];
  const lines = confinedTo === undefined ? rest : rest.slice(1);
  if (verb === 'REMOVE') {
    const [, essence] = /: (.+)$/.exec(title) ?? [];
    const removed = matchAll(lines, REMOVED_LINE)?.map(([, name = '']) => unnameFolder(name));
    return essence === undefined || removed === undefined ? null : { verb, essence, confinedTo, removed };
  }
  const objects = parseObjects(lines);
  const site = parseSite(lines);
  const place = site?.folder ?? objects?.[0]?.path;
  const prefix = place === undefined ? title : `${shortName(place)}: `;
  if (!title.startsWith(prefix) || title === prefix) return null;
  const said = { verb: verb as 'ADD' | 'UPDATE', essence: title.slice(prefix.length), confinedTo };
  return site === null ? { ...said, objects: objects ?? [] } : { ...said, site };
}

const CONFINED_LINE = new RegExp(`^${CONFINED_TRAILER}: (.+)$`);
const OBJECT_LINE = new RegExp(`^${OBJECT_TRAILER}: (\\S+) (.+)$`);
const TREE_LINE = new RegExp(`^${TREE_TRAILER}: ([0-9a-f]{40}) (.+/)$`);
const KEPT_LINE = new RegExp(`^${KEPT_TRAILER}: ([0-9a-f]{40}) (.+)$`);
const REMOVED_LINE = new RegExp(`^${REMOVED_TRAILER}: (.+)$`);

/** A file, and nothing beside it but the pictures of a page. */
function parseObjects(lines: readonly string[]): readonly TreeFile[] | null {
  const objects = matchAll(lines, OBJECT_LINE)?.map(([, sha = '', path = '']) => ({ path, sha }));
  const [main, ...pictures] = objects ?? [];
  const isWhole = main !== undefined && pictures.every(({ path }) => isPictureOf(path, main.path));
  return isWhole ? (objects ?? null) : null;
}

function parseSite([tree = '', ...others]: readonly string[]): DeliveredSite | null {
  const [, treeSha, name] = TREE_LINE.exec(tree) ?? [];
  const kept = matchAll(others, KEPT_LINE);
  if (treeSha === undefined || name === undefined || kept === null) return null;
  const files = kept.map(([, sha = '', path = '']) => ({ path: unescapeName(path), sha }));
  return { folder: unnameFolder(name), treeSha, kept: files };
}

/** The parts of each line; `null` unless all of them have this form. */
function matchAll(lines: readonly string[], form: RegExp): readonly RegExpExecArray[] | null {
  const found = lines.map((line) => form.exec(line));
  return found.every((one) => one !== null) ? found : null;
}

/**
 * Whether this tool delivered what a path holds, and nobody changed it since.
 *
 * @param message of the last commit that touched the path
 * @param object the path, and git's id of what it holds now
 * @param by what delivered it. `confinedTo`: a confined delivery owns only what the same one delivered. `page`: a
 * picture counts only if it came with its page; what was delivered to the same path by itself is the user's own
 * @see design 4, protocol 7 (prohibition 4)
 */
export function isOwned(
  message: string,
  { path, sha }: TreeFile,
  by: { readonly confinedTo?: string | undefined; readonly page?: string } = {},
): boolean {
  const { objects = [], confinedTo } = parseMessage(message) ?? {};
  return (
    objects.some((one) => one.path === path && one.sha === sha) &&
    (by.confinedTo === undefined || by.confinedTo === confinedTo) &&
    (by.page === undefined || (path !== by.page && objects[0]?.path === by.page))
  );
}

/**
 * Says whose delivery was replaced: somebody may have handed over its address.
 *
 * @param replaced the newest commit of this tool for the same place; nothing is said of one of the same run
 * @param essence of the commit that replaces it
 * @see design 4
 */
export function describeReplaced(
  replaced: Pick<LastCommit, 'sha' | 'message'> | undefined,
  essence: string,
): string[] {
  if (replaced === undefined) return [];
  const before = parseMessage(replaced.message)?.essence ?? '';
  const [, run] = /^from (run \d+ of .+)$/.exec(before) ?? [];
  if (run !== undefined && essence === before) return [];
  return [`replaced the delivery of ${run ?? `commit ${replaced.sha.slice(0, 7)}`}`];
}

/** @see protocol 7 (prohibition 4) */
export function pictureNotOwnedError(path: string): DeliveryError {
  return new DeliveryError(
    'NOT_OURS',
    `${path}, where the picture goes, already exists in the repository, and it is no picture that this tool took of the page`,
    { hint: (w) => `set ${w.input('picture', 'false')}, or ${w.input('overwrite', 'true')} to replace it` },
  );
}

/** @see protocol 7 (prohibition 4) */
export function notConfinedError(path: string): DeliveryError {
  return new DeliveryError(
    'NOT_OURS',
    `${path} already exists in the repository, and what it holds now was not delivered by the same confined job`,
    { hint: (w) => `set ${w.input('name')} to another name` },
  );
}

/** @param message of the last commit that touched the path @see protocol 7 (prohibition 4) */
export function notOwnedError(path: string, isRemoval: boolean, message = ''): DeliveryError {
  const { site } = parseMessage(message) ?? {};
  const isPartOfSite = site !== undefined && path.startsWith(site.folder);
  const folder = site?.folder || './';
  return new DeliveryError(
    'NOT_OURS',
    isPartOfSite
      ? `${path} already exists in the repository, and it came with the folder ${folder} that was delivered as a whole`
      : `${path} already exists in the repository, and this tool did not deliver what it holds now`,
    {
      hint: isPartOfSite
        ? (w) =>
            `deliver the folder again with what you want, set ${w.input('path', folder)} to withdraw all of it, or ${w.input('overwrite', 'true')} if you may ${isRemoval ? 'remove' : 'replace'} that file alone`
        : (w) =>
            `set ${w.input('path')} to another place, or ${w.input('overwrite', 'true')} if you may ${isRemoval ? 'remove' : 'replace'} that file`,
    },
  );
}
