import { DeliveryError } from '../../errors.ts';
import { parentFolders } from '../../github/api/branch.ts';
import type { LastCommit } from '../../github/api/history.ts';
import { hashTree, type TreeFile } from '../../github/api/tree-id.ts';
import { SITE } from '../../protocol/limits.ts';
import {
  CONFINED_TRAILER,
  KEPT_TRAILER,
  OBJECT_TRAILER,
  REMOVED_TRAILER,
  TRAILER,
  TREE_TRAILER,
} from '../../protocol/words.ts';
import { baseName } from '../../rules/naming.ts';
import { type BranchTree, filesBelow } from './branch-reader.ts';
import { isPictureOf } from './pictures.ts';

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
  readonly confinedTo?: string | undefined;
  /** The file that it delivered, then the pictures that a page got with it: git's ids of their bytes. */
  readonly objects?: readonly TreeFile[];
  readonly site?: DeliveredSite;
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

/**
 * What a folder keeps besides the delivered files, in short: a whole folder of others is one line.
 *
 * @param delivered paths within the folder that are delivered: everything else is kept
 * @throws {DeliveryError} `NOT_OURS` where it is too much to be named.
 */
export function listKept(
  tree: BranchTree,
  folder: string,
  delivered: ReadonlySet<string>,
): readonly TreeFile[] {
  const mixed = new Set([...delivered].flatMap(parentFolders));
  const kept = new Map<string, string>();
  for (const [path, { sha }] of filesBelow(tree, folder)) {
    if (delivered.has(path)) continue;
    const top = parentFolders(path).findLast((one) => !mixed.has(one));
    if (top === undefined) kept.set(path, sha);
    else kept.set(`${top}/`, tree.entries.get(folder + top)?.sha ?? sha);
  }
  if (kept.size > SITE.kept) {
    throw new DeliveryError(
      'NOT_OURS',
      `the folder ${folder || './'} has ${kept.size} files and folders that this tool did not deliver`,
      { hint: (w) => `set ${w.input('path')} to a folder of its own` },
    );
  }
  return [...kept].map(([path, sha]) => ({ path, sha }));
}

/** Tells whether a path, or a folder of it, is among some files as a message names them. */
export function createKeptLookup(kept: readonly TreeFile[]): (path: string) => boolean {
  const names = new Set(kept.map(({ path }) => path));
  return (path) =>
    names.size > 0 && (names.has(path) || parentFolders(path).some((folder) => names.has(`${folder}/`)));
}

/**
 * The files of a delivery, where a tree holds exactly what its commit says that it delivered; `null` elsewhere. Where
 * the branch does so now, the commit's own tree tells no more.
 */
export function listDelivered(
  entries: BranchTree['entries'],
  { folder, kept, treeSha }: DeliveredSite,
): readonly TreeFile[] | null {
  const isKept = createKeptLookup(
    kept.filter(({ path, sha }) => entries.get(folder + path.replace(/\/$/, ''))?.sha === sha),
  );
  const files = [...filesBelow({ entries }, folder)].map(([path, { sha }]) => ({ path, sha }));
  const delivered = files.filter(({ path }) => !isKept(path));
  return hashTree(delivered) === treeSha ? delivered : null;
}
