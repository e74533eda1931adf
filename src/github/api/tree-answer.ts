import { createHash } from 'node:crypto';
import { DeliveryError } from '../../errors.ts';
import { RETRY_HINT } from '../hints.ts';

/** Git's id of a tree without entries. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** A list of everything in a tree, as GitHub returns it. */
interface TreeAnswer {
  readonly sha: string;
  readonly tree: readonly ListedObject[];
}

interface ListedObject {
  readonly path: string;
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
}

/** What lies directly in a tree. */
export interface DirectEntry {
  readonly name: string;
  readonly mode: string;
  readonly isFolder: boolean;
  readonly sha: string;
}

/**
 * Git's id of the tree that has exactly these entries.
 *
 * @see https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
 */
export function hashEntries(entries: readonly DirectEntry[]): string {
  const sorted = entries.toSorted((one, other) => compareUtf8(sortKey(one), sortKey(other)));
  // All of them in one buffer: a buffer for each would be ten times of that.
  const content = Buffer.allocUnsafe(sorted.reduce((sum, entry) => sum + maxLength(entry), 0));
  let end = 0;
  for (const { mode, name, sha } of sorted) {
    end += content.write(`${mode} ${name}\0`, end);
    end += content.write(sha, end, 'hex');
  }
  return createHash('sha1').update(`tree ${end}\0`).update(content.subarray(0, end)).digest('hex');
}

const maxLength = ({ mode, name, sha }: DirectEntry): number =>
  Buffer.byteLength(mode) + Buffer.byteLength(name) + ' \0'.length + Math.ceil(sha.length / 2);

/** Git sorts a folder as if its name ended in a slash. */
const sortKey = ({ name, isFolder }: DirectEntry): string => (isFolder ? `${name}/` : name);

/** Compares two names by their bytes in UTF-8, without making them. */
function compareUtf8(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  for (let at = 0; at < end; at += 1) {
    const [left, right] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (left !== right) return rankInUtf8(left) - rankInUtf8(right);
  }
  return one.length - other.length;
}

/** In UTF-8 the characters of two units, each from D800 to DFFF, come after all others. */
function rankInUtf8(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/**
 * Refuses a list that is not the tree that was asked for. A file that it lacks would count as absent, and could be
 * replaced. Git names a tree by its content, so the ids of all folders are computed from what is in them.
 *
 * @param asked git's id of the tree
 * @throws {DeliveryError} `HOST_ERROR`
 * @see design 4, protocol 7 (prohibition 4)
 */
export function refuseOtherTree({ sha, tree }: TreeAnswer, asked: string): void {
  const entries = Array.isArray(tree) && tree.every(isListed) ? tree : [];
  const folders = entries.filter(({ type }) => type === 'tree');
  const ids = new Map([['', asked], ...folders.map(({ path, sha: id }) => [`${path}/`, id] as const)]);
  const content = Map.groupBy(entries, ({ path }) => path.slice(0, path.lastIndexOf('/') + 1));
  const isInFolders = [...content.keys()].every((folder) => ids.has(folder));
  const [wrong] = [...ids].find(([folder, id]) => !hasId(content.get(folder) ?? [], id)) ?? [];
  if (sha === asked && isInFolders && wrong === undefined) return;
  throw new DeliveryError(
    'HOST_ERROR',
    `GitHub's list of the branch's files does not fit git's id of the folder ${wrong || './'}: it is not complete, or a program wrote this folder in a form of its own`,
    { hint: `${RETRY_HINT}; ${OLD_TREE_HINT}`, retryable: true },
  );
}

/**
 * A list does not show in which order, and with which modes, a program wrote a folder. A new index makes git write all
 * folders anew, from exactly the files that it has, also those that it would ignore.
 */
const OLD_TREE_HINT =
  'if that does not help, let git write the folders anew: `git ls-files -sz | GIT_INDEX_FILE=.git/anew git update-index -z --index-info && GIT_INDEX_FILE=.git/anew git commit --allow-empty`';

const LISTED_FIELDS = ['path', 'mode', 'type', 'sha'] as const;

const isListed = (entry: ListedObject | null): boolean =>
  LISTED_FIELDS.every((field) => typeof entry?.[field] === 'string');

/** GitHub returns a name that is no UTF-8 with this character, so the tree's id can't be computed from it. */
const UNKNOWN_CHARACTER = '\ufffd';

/** How modes are written in trees: by git, and long ago by others. A list shows only the first of them. */
const MODES: readonly Readonly<Record<string, string>>[] = [
  { '040000': '40000' },
  {},
  { '040000': '40000', '100644': '100664' },
];

/** Whether a folder with this content has the id. */
function hasId(content: readonly ListedObject[], sha: string): boolean {
  if (content.some(({ path }) => path.includes(UNKNOWN_CHARACTER))) return true;
  return MODES.some((written) => hashFolder(content, written) === sha);
}

const hashFolder = (content: readonly ListedObject[], written: (typeof MODES)[number]): string =>
  hashEntries(
    content.map(({ path, mode, type, sha }) => ({
      name: path.slice(path.lastIndexOf('/') + 1),
      mode: written[mode] ?? mode,
      isFolder: type === 'tree',
      sha,
    })),
  );
