import { KEPT_TRAILER, REMOVED_TRAILER, TRAILER, TREE_TRAILER } from '../../../protocol/words.ts';
import { baseName } from '../../../rules/naming.ts';
import type { TreeFile } from './tree.ts';

/** What a commit delivered to one folder. */
export interface SiteCommit {
  /** The folder in the branch: empty for its root, or ending in `/`. */
  readonly folder: string;
  /** Git's id of the tree that has exactly the delivered files. */
  readonly treeSha: string;
  /** What else the folder had, with paths within it; that of a whole folder ends in `/`. */
  readonly kept: readonly TreeFile[];
}

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

const nameFolder = (folder: string): string => (folder === '' ? './' : folder);

/** How a person would name the folder, in short. */
export const shortFolder = (folder: string): string => (folder === '' ? '.' : baseName(folder.slice(0, -1)));

/**
 * The message of a commit that delivers a site: `ADD/UPDATE <folder>: <essence>`, then trailers that name what it
 * delivered.
 *
 * @see protocol 1 (repository etiquette), design 4
 */
export function formatSiteMessage(commit: SiteCommit, verb: 'ADD' | 'UPDATE', essence: string): string {
  const { folder, treeSha, kept } = commit;
  return [
    `${verb} ${shortFolder(folder)}: ${essence}`,
    '',
    TRAILER,
    `${TREE_TRAILER}: ${treeSha} ${nameFolder(folder)}`,
    ...kept.map(({ sha, path }) => `${KEPT_TRAILER}: ${sha} ${escapeName(path)}`),
  ].join('\n');
}

/**
 * The message of a commit that removes what is ours in a folder.
 *
 * @param removed the sites that it removes: the folder itself, and those below it
 */
export const formatSiteRemoval = (folder: string, removed: readonly string[], essence: string): string =>
  [
    `REMOVE ${shortFolder(folder)}: ${essence}`,
    '',
    TRAILER,
    ...removed.map((one) => `${REMOVED_TRAILER}: ${nameFolder(one)}`),
  ].join('\n');

/** The folders of which a commit says that it removed what was ours in them; none unless it has exactly that form. */
export function parseSiteRemoval(message: string): readonly string[] {
  const [subject = '', empty, trailer, ...lines] = message.trimEnd().split('\n');
  if (!/^REMOVE .+: /.test(subject) || empty !== '' || trailer !== TRAILER) return [];
  const names = lines.map((line) => REMOVED_LINE.exec(line)?.[1]);
  return names.includes(undefined) ? [] : names.map((name) => (name === './' ? '' : (name ?? '')));
}

const REMOVED_LINE = new RegExp(`^${REMOVED_TRAILER}: (.+)$`);

/**
 * What a commit says that it delivered to a folder; `null` unless the message has exactly the form of
 * `formatSiteMessage`. The trees must be compared with it: a message can be copied.
 */
export function parseSiteMessage(message: string, folder: string): SiteCommit | null {
  const [subject = '', empty, trailer, tree = '', ...rest] = message.trimEnd().split('\n');
  const [, name = ''] = /^(?:ADD|UPDATE) (.+)$/.exec(subject) ?? [];
  const prefix = `${shortFolder(folder)}: `;
  if (!name.startsWith(prefix) || name.length === prefix.length) return null;
  const [, treeSha, place] = /^Delivered-tree: ([0-9a-f]{40}) (.+)$/.exec(tree) ?? [];
  if (empty !== '' || trailer !== TRAILER || place !== nameFolder(folder) || treeSha === undefined)
    return null;
  const kept = rest.map((line) => /^Kept-object: ([0-9a-f]{40}) (.+)$/.exec(line));
  if (kept.includes(null)) return null;
  return {
    folder,
    treeSha,
    kept: kept.map((parts) => ({ sha: parts?.[1] ?? '', path: unescapeName(parts?.[2] ?? '') })),
  };
}

/** The same for a delivery to a folder, or to any folder below it. */
export function parseMessageBelow(message: string, folder: string): SiteCommit | null {
  const [, place = ''] = /^Delivered-tree: [0-9a-f]{40} (.+)$/m.exec(message) ?? [];
  if (place === nameFolder(folder)) return parseSiteMessage(message, folder);
  return place.startsWith(folder) ? parseSiteMessage(message, place) : null;
}
