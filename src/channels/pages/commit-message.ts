import { dirname } from 'node:path';
import type { CommitSummary } from '../../github/api/history.ts';
import { hashTree, type TreeFile } from '../../github/api/tree-id.ts';
import { type Deliverer, nameDeliverer } from '../../github/workflow-run.ts';
import {
  FROM_TRAILER,
  KEPT_TRAILER,
  OBJECT_TRAILER,
  PAGE_TRAILER,
  REMOVED_FROM_TRAILER,
  REMOVED_TRAILER,
  TRAILER,
} from '../../protocol/words.ts';
import { baseName, isFolderPath } from '../../rules/naming.ts';

/** A single file, or all files of a folder, as one commit delivered them. */
export interface DeliveredObject {
  /** Path of the file, or of the folder with `/` at its end; empty for the branch's root. */
  readonly itemPath: string;
  /** Git's id of the file, or of a tree with exactly the delivered files. */
  readonly object: string;
  /** The path behind the published URL, if it isn't the file itself or the folder's `index.html`. */
  readonly page?: string | undefined;
  /** A page's pictures and its source, in the page's folder. */
  readonly beside: readonly TreeFile[];
  /** Other files that the folder had, relative to it; a whole folder ends in `/`. */
  readonly kept: readonly TreeFile[];
}

export interface DeliveryMessage {
  readonly verb: 'ADD' | 'UPDATE' | 'REMOVE';
  readonly essence: string;
  readonly deliverer?: Deliverer | undefined;
  readonly delivered?: DeliveredObject | undefined;
  /** Removed files and whole deliveries, so that an audit knows that this tool removed them. */
  readonly removed?: readonly string[];
  readonly removedFrom?: readonly string[];
}

/** Formats `ADD/UPDATE/REMOVE <name>: <essence>`, then one trailer for each change. @see protocol 1 */
export const formatCommitMessage = (itemPath: string, message: DeliveryMessage): string =>
  formatNamed(shortName(itemPath), message);

function formatNamed(
  name: string,
  { verb, essence, deliverer, delivered, removed = [], removedFrom = [] }: DeliveryMessage,
) {
  const { itemPath = '', object = '', page, beside = [], kept = [] } = delivered ?? {};
  const objects = delivered === undefined ? [] : [{ path: itemPath || ROOT, sha: object }, ...beside];
  return [
    `${verb} ${name}: ${essence}`,
    '',
    TRAILER,
    ...(deliverer === undefined ? [] : [`${FROM_TRAILER}: ${deliverer.run ?? NO_RUN} ${deliverer.name}`]),
    ...objects.map(({ path, sha }) => `${OBJECT_TRAILER}: ${sha} ${path}`),
    ...(page === undefined ? [] : [`${PAGE_TRAILER}: ${page}`]),
    ...kept.map(({ path, sha }) => `${KEPT_TRAILER}: ${sha} ${escapeName(path)}`),
    ...removed.map((path) => `${REMOVED_TRAILER}: ${path || ROOT}`),
    ...removedFrom.map((path) => `${REMOVED_FROM_TRAILER}: ${path || ROOT}`),
  ].join('\n');
}

const NO_RUN = '-';

const ROOT = './';

const shortName = (itemPath: string): string =>
  itemPath === '' ? '.' : baseName(itemPath.replace(/\/$/, ''));

/** Line breaks and spaces at the end of a name would break the message's format. */
const escapeName = (path: string): string => path.replace(/[\s\p{Cc}%]/gu, encodeURIComponent);

/**
 * Parses a commit message; `null` unless `formatCommitMessage` makes exactly this text. A squashed, quoted or
 * amended message proves nothing. A message can be copied, so compare it with the branch.
 */
export function parseMessage(message: string): DeliveryMessage | null {
  const text = message.trimEnd();
  const [subject = '', ...lines] = text.split('\n');
  const [, verb, title = ''] = /^(ADD|UPDATE|REMOVE) (.+)$/.exec(subject) ?? [];
  if (verb === undefined || !lines.includes(TRAILER)) return null;
  const valuesOf = (trailer: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${trailer}: `) ? [line.slice(trailer.length + 2)] : []));
  const [main, ...beside] = valuesOf(OBJECT_TRAILER).map(parseObject);
  const kept = valuesOf(KEPT_TRAILER)
    .map(parseObject)
    .map(({ path, sha }) => ({ path: unescapeName(path), sha }));
  const [page] = valuesOf(PAGE_TRAILER);
  const [by] = valuesOf(FROM_TRAILER).map(parseObject);
  const toItemPath = (path: string): string => (path === ROOT ? '' : path);
  const itemPath = main && toItemPath(main.path);
  const name = itemPath === undefined ? title.slice(0, title.indexOf(': ')) : shortName(itemPath);
  const parsed: DeliveryMessage = {
    verb: verb as DeliveryMessage['verb'],
    essence: title.slice(name.length + 2),
    deliverer: by && { name: by.path, ...(by.sha !== NO_RUN && { run: by.sha }) },
    ...(main && itemPath !== undefined && { delivered: { itemPath, object: main.sha, page, beside, kept } }),
    removed: valuesOf(REMOVED_TRAILER).map(toItemPath),
    removedFrom: valuesOf(REMOVED_FROM_TRAILER).map(toItemPath),
  };
  const isWhole = parsed.essence !== '' && (verb === 'REMOVE' ? itemPath === undefined : isDelivery(parsed));
  return isWhole && formatNamed(name, parsed) === text ? parsed : null;
}

/** Only a folder may keep other files; a page may have files of its own beside it. */
function isDelivery({ delivered, removed = [], removedFrom = [] }: DeliveryMessage): boolean {
  if (delivered === undefined || removedFrom.length > 0) return false;
  const { itemPath, beside, kept } = delivered;
  if (isFolderPath(itemPath)) return beside.length === 0;
  const isBeside = ({ path }: TreeFile): boolean => dirname(path) === dirname(itemPath);
  return removed.length + kept.length === 0 && beside.every(isBeside);
}

function parseObject(value: string): TreeFile {
  const end = value.indexOf(' ');
  return { sha: value.slice(0, end), path: value.slice(end + 1) };
}

/** A name with a bare `%` was not escaped by this tool. */
function unescapeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

export const pageOfDelivered = ({ itemPath, page }: Pick<DeliveredObject, 'itemPath' | 'page'>): string =>
  page ?? (isFolderPath(itemPath) ? `${itemPath}index.html` : itemPath);

/** Describes a delivery. @param files for a single file: the file, then those beside it */
export function describeDelivered(
  itemPath: string,
  files: readonly TreeFile[],
  others: readonly TreeFile[] = [],
): DeliveredObject {
  const [main, ...beside] = files;
  if (!isFolderPath(itemPath)) return { itemPath, object: main?.sha ?? '', beside, kept: [] };
  const within = files.map(({ path, sha }) => ({ path: path.slice(itemPath.length), sha }));
  return { itemPath, object: hashTree(within), beside: [], kept: others };
}

/** The file of a single delivery, then those beside it; empty for a folder. */
export const listAlone = ({ itemPath, object, beside }: DeliveredObject): readonly TreeFile[] =>
  isFolderPath(itemPath) ? [] : [{ path: itemPath, sha: object }, ...beside];

/** Says whose delivery was replaced, unless the same run made it: somebody may use its URL. */
export function describeReplaced(
  replaced: CommitSummary | undefined,
  ownRun: Deliverer | undefined,
): string[] {
  if (replaced === undefined) return [];
  const before = parseMessage(replaced.message)?.deliverer;
  if (before?.run && ownRun && nameDeliverer(before) === nameDeliverer(ownRun)) return [];
  const whose = before?.run ? nameDeliverer(before) : `commit ${replaced.sha.slice(0, 7)}`;
  return [`replaced the delivery of ${whose}`];
}
