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
import { baseName } from '../../rules/naming.ts';
import { isPictureOf } from './pictures.ts';
import { isFolderPath } from './target.ts';

/** What a commit delivered as one: a file, or all files of a folder. */
export interface DeliveredObject {
  /** The path of the file; that of a folder ends in `/`, or is empty for the branch's root. */
  readonly itemPath: string;
  /** Git's id of the file's bytes; of a folder, that of the tree that has exactly the delivered files. */
  readonly object: string;
  /** The path whose address was handed over, unless it is the file's own, or `index.html` of the folder. */
  readonly page?: string | undefined;
  readonly pictures: readonly TreeFile[];
  /** What else a folder had, with paths within it; that of a whole folder ends in `/`. */
  readonly kept: readonly TreeFile[];
}

/** What a commit of this tool says of itself. */
export interface DeliveryMessage {
  readonly verb: 'ADD' | 'UPDATE' | 'REMOVE';
  /** What the user said about the delivery, in one line. */
  readonly essence: string;
  /** Absent if a person delivered it. */
  readonly from?: Deliverer | undefined;
  readonly delivered?: DeliveredObject | undefined;
  /** What was removed, so that an audit knows that nobody else did it: each file, or folder that was delivered as one. */
  readonly removed?: readonly string[];
  /** The delivered folders of which only a part was removed. */
  readonly removedFrom?: readonly string[];
}

/** A commit message: `ADD/UPDATE/REMOVE <name>: <essence>`, then trailers that name what it did. @see protocol 1 */
export const formatCommitMessage = (itemPath: string, message: DeliveryMessage): string =>
  formatNamed(shortName(itemPath), message);

function formatNamed(
  name: string,
  { verb, essence, from, delivered, removed = [], removedFrom = [] }: DeliveryMessage,
) {
  const { itemPath = '', object = '', page, pictures = [], kept = [] } = delivered ?? {};
  const objects = delivered === undefined ? [] : [{ path: itemPath || ROOT, sha: object }, ...pictures];
  return [
    `${verb} ${name}: ${essence}`,
    '',
    TRAILER,
    ...(from === undefined ? [] : [`${FROM_TRAILER}: ${from.run ?? NO_RUN} ${from.name}`]),
    ...objects.map(({ path, sha }) => `${OBJECT_TRAILER}: ${sha} ${path}`),
    ...(page === undefined ? [] : [`${PAGE_TRAILER}: ${page}`]),
    ...kept.map(({ path, sha }) => `${KEPT_TRAILER}: ${sha} ${escapeName(path)}`),
    ...removed.map((path) => `${REMOVED_TRAILER}: ${path || ROOT}`),
    ...removedFrom.map((path) => `${REMOVED_FROM_TRAILER}: ${path || ROOT}`),
  ].join('\n');
}

const NO_RUN = '-';

const ROOT = './';

/** How a person would name a file or a folder, in short. */
const shortName = (itemPath: string): string =>
  itemPath === '' ? '.' : baseName(itemPath.replace(/\/$/, ''));

/** Names of others may have line breaks, and spaces at their end: these would change the form of the message. */
const escapeName = (path: string): string => path.replace(/[\s\p{Cc}%]/gu, encodeURIComponent);

/**
 * What a commit says of itself; `null` unless the message is letter by letter what `formatCommitMessage` makes of that:
 * a squashed, quoted or amended one proves nothing. The branch must be compared with it, because a message can be copied.
 */
export function parseMessage(message: string): DeliveryMessage | null {
  const text = message.trimEnd();
  const [subject = '', ...lines] = text.split('\n');
  const [, verb, title = ''] = /^(ADD|UPDATE|REMOVE) (.+)$/.exec(subject) ?? [];
  if (verb === undefined || !lines.includes(TRAILER)) return null;
  const valuesOf = (trailer: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${trailer}: `) ? [line.slice(trailer.length + 2)] : []));
  const [main, ...pictures] = valuesOf(OBJECT_TRAILER).map(parseObject);
  const kept = valuesOf(KEPT_TRAILER)
    .map(parseObject)
    .map(({ path, sha }) => ({ path: unescapeName(path), sha }));
  const [page] = valuesOf(PAGE_TRAILER);
  const [from] = valuesOf(FROM_TRAILER).map(parseObject);
  const toItemPath = (path: string): string => (path === ROOT ? '' : path);
  const itemPath = main && toItemPath(main.path);
  const name = itemPath === undefined ? title.slice(0, title.indexOf(': ')) : shortName(itemPath);
  const parsed: DeliveryMessage = {
    verb: verb as DeliveryMessage['verb'],
    essence: title.slice(name.length + 2),
    from: from && { name: from.path, ...(from.sha !== NO_RUN && { run: from.sha }) },
    ...(main &&
      itemPath !== undefined && { delivered: { itemPath, object: main.sha, page, pictures, kept } }),
    removed: valuesOf(REMOVED_TRAILER).map(toItemPath),
    removedFrom: valuesOf(REMOVED_FROM_TRAILER).map(toItemPath),
  };
  const isWhole = parsed.essence !== '' && (verb === 'REMOVE' ? itemPath === undefined : isDelivery(parsed));
  return isWhole && formatNamed(name, parsed) === text ? parsed : null;
}

/** A folder, or a file and nothing beside it but the pictures of a page. */
function isDelivery({ delivered, removed = [], removedFrom = [] }: DeliveryMessage): boolean {
  if (delivered === undefined || removedFrom.length > 0) return false;
  const { itemPath, pictures, kept } = delivered;
  if (isFolderPath(itemPath)) return pictures.length === 0;
  return removed.length + kept.length === 0 && pictures.every(({ path }) => isPictureOf(path, itemPath));
}

function parseObject(value: string): TreeFile {
  const end = value.indexOf(' ');
  return { sha: value.slice(0, end), path: value.slice(end + 1) };
}

/** A name that nobody escaped stays as it is: then the message has another form. */
function unescapeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The path whose address the delivery handed over. */
export const pageOfDelivered = ({ itemPath, page }: Pick<DeliveredObject, 'itemPath' | 'page'>): string =>
  page ?? (isFolderPath(itemPath) ? `${itemPath}index.html` : itemPath);

/** What a commit delivers to a place. @param files of a file it is the first, and its pictures follow */
export function describeDelivered(
  itemPath: string,
  files: readonly TreeFile[],
  others: readonly TreeFile[] = [],
): DeliveredObject {
  const [main, ...pictures] = files;
  if (!isFolderPath(itemPath)) return { itemPath, object: main?.sha ?? '', pictures, kept: [] };
  const within = files.map(({ path, sha }) => ({ path: path.slice(itemPath.length), sha }));
  return { itemPath, object: hashTree(within), pictures: [], kept: others };
}

/** The files of a delivery that is no folder: the file itself first, then the pictures of a page; none of a folder. */
export const listAlone = ({ itemPath, object, pictures }: DeliveredObject): readonly TreeFile[] =>
  isFolderPath(itemPath) ? [] : [{ path: itemPath, sha: object }, ...pictures];

/** Says whose delivery was replaced, unless the same run made it: somebody may have handed over its address. */
export function describeReplaced(replaced: CommitSummary | undefined, own: Deliverer | undefined): string[] {
  if (replaced === undefined) return [];
  const before = parseMessage(replaced.message)?.from;
  if (before?.run && own && nameDeliverer(before) === nameDeliverer(own)) return [];
  const whose = before?.run ? nameDeliverer(before) : `commit ${replaced.sha.slice(0, 7)}`;
  return [`replaced the delivery of ${whose}`];
}
