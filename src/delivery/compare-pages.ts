import { Readable } from 'node:stream';
import { mapConcurrently } from '../async.ts';
import type { ComparedFolder } from '../channels/channel.ts';
import { hasFailed, resultOf } from '../errors.ts';
import { fetchBack } from '../http/fetch-back.ts';
import { lineIf, namedLine, nameFew, neutralizeText } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { COMPARE, SITE, TEXT } from '../protocol/limits.ts';
import {
  comparePageTexts,
  findChangedPages,
  type PageDifference,
  type PageText,
} from '../rules/changed-pages.ts';
import type { GitBlob } from '../rules/fingerprint.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { loadPageRules } from '../rules/load-page-rules.ts';
import { entryUrl, urlBelow, withVersion } from '../rules/naming.ts';
import { decodeText, isHtml } from '../rules/page/page-file.ts';
import { type ChangedPage, type Delivery, ongoingAttempt } from './delivery.ts';
import type { DeliveryContext } from './delivery-context.ts';

/** Finds the pages that differ from another folder of the site. A failure is a line of UNKNOWN. */
export async function comparePages(
  deliveries: readonly Delivery[],
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const end = context.clock.timeout(Math.min(COMPARE.time, context.request.timeout));
  const ports = { ...context, signal: AbortSignal.any([context.signal, end]) };
  const compared: Delivery[] = [];
  for (const delivery of deliveries) {
    const { placement = null, proof = null, failure = null } = ongoingAttempt(delivery, 'K1') ?? {};
    const folder = placement?.compared;
    if (folder === undefined || proof === null || failure !== null) {
      compared.push(delivery);
      continue;
    }
    context.logger.startSection(`Compare the pages with ${folder.name}`);
    const found = await resultOf(() => compareFolders(delivery, folder, ports));
    const reason = end.aborted ? 'it took too long' : hasFailed(found) ? found.message : '';
    const failed = { unknown: [`which pages differ from ${folder.name}: ${reason}`], notes: [] };
    const { notes, unknown, ...rest } = hasFailed(found) ? failed : found;
    for (const line of notes) context.logger.info(line);
    compared.push({
      ...delivery,
      ...rest,
      notes: [...delivery.notes, ...notes],
      unknown: [...delivery.unknown, ...unknown],
    });
  }
  return compared;
}

interface PagePair {
  readonly file: LocalFile;
  readonly blob: GitBlob;
}

async function compareFolders(delivery: Delivery, other: ComparedFolder, ports: Ports) {
  const files = (delivery.site?.files ?? []).filter(({ name }) => isHtml(name));
  const names = new Set(files.map(({ name }) => name));
  const [common, added] = [true, false].map((isThere) =>
    files.filter(({ name }) => other.pages.has(name) === isThere),
  ) as [LocalFile[], LocalFile[]];
  const differing = common.flatMap((file): PagePair[] => {
    const blob = other.pages.get(file.name);
    return blob === undefined || blob.sha === file.blobSha ? [] : [{ file, blob }];
  });
  const small = differing.filter(isComparable);
  const tried = small.slice(0, COMPARE.pages);
  const titles = new Map<string, string>();
  const differences = await findDifferences(tried, other, titles, ports);
  // Of a part of the pages, only a part can be alike.
  const share = tried.length / Math.max(small.length, 1);
  const { changed, ignored } = findChangedPages(differences, common.length * share);
  for (const file of added.slice(0, SITE.listed)) {
    if (file.size <= COMPARE.page) titles.set(file.name, (await readLocal(file, ports)).title);
  }
  const kinds = {
    changed,
    new: added.map(({ name }) => name),
    removed: [...other.pages.keys()].filter((path) => !names.has(path)),
  };
  return {
    changedPages: listPages(kinds, titles, delivery),
    notes: [describeCounts(kinds, other), ...lineIf(ignored.length > 0, IGNORED + nameFew(ignored, 3))],
    unknown: describeUncompared(differing, differences, tried.length, other),
  };
}

const IGNORED = 'ignored, because it differs on most pages: ';

const isComparable = ({ file, blob }: PagePair): boolean => Math.max(file.size, blob.size) <= COMPARE.page;

/** Reads both versions of each page. @param titles gets the title of each page that was read */
async function findDifferences(
  pairs: readonly PagePair[],
  other: ComparedFolder,
  titles: Map<string, string>,
  ports: Ports,
): Promise<ReadonlyMap<string, PageDifference>> {
  const found = await mapConcurrently(pairs, SITE.probes, async ({ file, blob }) => {
    const before = await readOther(urlBelow(other.url, file.name), blob, ports);
    if (before === null) return [];
    const after = await readLocal(file, ports);
    titles.set(file.name, after.title);
    return [[file.name, comparePageTexts(before, after)] as const];
  });
  return new Map(found.flat());
}

function describeUncompared(
  differing: readonly PagePair[],
  differences: ReadonlyMap<string, unknown>,
  tried: number,
  { name }: ComparedFolder,
): readonly string[] {
  const small = differing.filter(isComparable);
  const large = differing.filter((pair) => !isComparable(pair));
  const unread = small.slice(0, tried).filter(({ file }) => !differences.has(file.name));
  const namesOf = (pairs: readonly PagePair[]) => pairs.map(({ file }) => file.name);
  return [
    ...namedLine(`whether these pages differ from ${name}, which did not serve them`, namesOf(unread)),
    ...namedLine(
      `whether these pages differ from ${name}, because they are larger than 2 MB`,
      namesOf(large),
    ),
    ...lineIf(
      small.length > tried,
      `whether ${small.length - tried} more pages differ from ${name}: ${tried} were compared`,
    ),
  ];
}

type Kinds = Readonly<Record<ChangedPage['kind'], readonly string[]>>;

const KINDS = ['changed', 'new', 'removed'] as const;

function describeCounts(kinds: Kinds, { name }: ComparedFolder): string {
  const counts = KINDS.flatMap((kind) => (kinds[kind].length === 0 ? [] : `${kinds[kind].length} ${kind}`));
  return `pages, compared with ${name}: ${counts.join(', ') || 'no page changed'}`;
}

function listPages(
  kinds: Kinds,
  titles: ReadonlyMap<string, string>,
  delivery: Delivery,
): readonly ChangedPage[] {
  const { task, proof } = ongoingAttempt(delivery, 'K1') ?? {};
  const shas = new Map(delivery.site?.files.map(({ name, blobSha }) => [name, blobSha]));
  const addressOf = (path: string): string | null => {
    const sha = shas.get(path);
    if (sha === undefined || task?.served === undefined) return null;
    const url = entryUrl(urlBelow(new URL(task.served.sitePath, task.served.url), path));
    // While caches may show an earlier version of the folder, each link needs its own version.
    return (proof?.versioned === undefined ? url : withVersion(url, sha.slice(0, 16))).href;
  };
  const pages = KINDS.flatMap((kind) => kinds[kind].map((path) => ({ kind, path })));
  return pages.slice(0, SITE.listed).map(({ kind, path }) => ({
    path: neutralizeText(path),
    title: neutralizeText((titles.get(path) || path).slice(0, TEXT.message)),
    url: addressOf(path),
    kind,
  }));
}

/** The text of a page as the other folder serves it; `null` unless it is the branch's. */
async function readOther(url: URL, blob: GitBlob, { http, signal }: Ports): Promise<PageText | null> {
  const versioned = withVersion(url, blob.sha.slice(0, 16));
  const options = {
    signal,
    guard: () => undefined,
    readAtMost: blob.size,
    prefixSize: blob.size,
    blobs: [blob],
  };
  const fetched = await resultOf(() => fetchBack(http, versioned, options));
  signal.throwIfAborted();
  if (hasFailed(fetched) || fetched.blobSha === null) return null;
  return readText([Buffer.from(fetched.readPrefix(), 'latin1')]);
}

async function readLocal(file: LocalFile, { signal }: Ports): Promise<PageText> {
  signal.throwIfAborted();
  return readText(file.read());
}

async function readText(pieces: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<PageText> {
  const html: string[] = [];
  for await (const part of decodeText(Readable.from(pieces))) html.push(part);
  return (await loadPageRules()).readPageText(html.join(''));
}
