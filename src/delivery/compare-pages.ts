import { Readable } from 'node:stream';
import { mapConcurrently } from '../async.ts';
import type { ComparedFolder } from '../channels/channel.ts';
import { hasFailed, resultOf } from '../errors.ts';
import { fetchBack } from '../http/fetch-back.ts';
import { namedLine, neutralizeText, shorten } from '../plain-text.ts';
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
import { type ChangedPage, type Delivery, ongoingAttempt, type PlacedAttempt, runStep } from './delivery.ts';
import type { RequestContext } from './delivery-context.ts';

/** Finds the pages that differ from another folder of the site. A failure is a line of UNKNOWN. */
export async function comparePages(
  deliveries: readonly Delivery[],
  context: RequestContext,
): Promise<readonly Delivery[]> {
  if (context.request.compare === undefined) return deliveries;
  const end = context.clock.timeout(Math.min(COMPARE.time, context.request.timeout));
  const ports = { ...context, signal: AbortSignal.any([context.signal, end]) };
  return runStep('report', deliveries, async (delivery) => {
    const attempt = ongoingAttempt(delivery, 'K1');
    const { placement = null, proof = null, failure = null } = attempt ?? {};
    if (!placement?.compared || proof === null || failure !== null) return delivery;
    const { name } = placement.compared;
    context.logger.startSection(`Compare the pages with ${name}`);
    const found = await resultOf(() => compareFolders(delivery, attempt as PlacedAttempt, ports));
    const { notes, unknown, ...rest } = hasFailed(found)
      ? { notes: [], unknown: [`which pages differ from ${name}: ${found.message}`] }
      : found;
    for (const note of notes) context.logger.info(note);
    const lines = { notes: [...delivery.notes, ...notes], unknown: [...delivery.unknown, ...unknown] };
    return { ...delivery, ...rest, ...lines };
  });
}

const KINDS = ['changed', 'new', 'removed'] as const;

async function compareFolders(delivery: Delivery, attempt: PlacedAttempt, ports: Ports) {
  const { name: folder, url, pages: others } = attempt.placement.compared as ComparedFolder;
  const files = (delivery.site?.files ?? []).filter(({ name }) => isHtml(name));
  const here = new Map(files.map((file) => [file.name, file]));
  const added = files.filter(({ name }) => !others.has(name));
  const differing = files.filter(({ name, blobSha }) => (others.get(name)?.sha ?? blobSha) !== blobSha);
  const titles = new Map<string, string>();
  const differences = new Map<string, PageDifference>();
  await mapConcurrently(differing.slice(0, COMPARE.pages), SITE.probes, async (file) => {
    const before = await readOther(url, file.name, others.get(file.name), ports);
    const after = before && (await readLocal(file, ports));
    if (before === null || after === null) return;
    titles.set(file.name, after.title);
    differences.set(file.name, comparePageTexts(before, after));
  });
  for (const file of added.slice(0, SITE.listed)) {
    titles.set(file.name, (await readLocal(file, ports))?.title ?? '');
  }
  // Of a part of the pages, only a part can be alike.
  const share = differences.size / Math.max(differing.length, 1);
  const { changed, ignored } = findChangedPages(differences, (files.length - added.length) * share);
  const removed = [...others.keys()].filter((path) => !here.has(path));
  const kinds = { changed, new: added.map(({ name }) => name), removed };
  const pages = KINDS.flatMap((kind) => kinds[kind].map((path) => ({ kind, path })));
  const counts = KINDS.flatMap((kind) => (kinds[kind].length === 0 ? [] : `${kinds[kind].length} ${kind}`));
  const unread = differing.flatMap(({ name }) => (differences.has(name) ? [] : name));
  return {
    changedPages: pages.slice(0, SITE.listed).map(({ kind, path }): ChangedPage => {
      const title = shorten(neutralizeText(titles.get(path) ?? '').trim(), TEXT.message);
      const named = { path: neutralizeText(path), title: title || neutralizeText(path) };
      return { ...named, url: pageUrl(here.get(path), attempt), kind };
    }),
    notes: [
      `pages, compared with ${folder}: ${counts.join(', ') || 'no page changed'}`,
      ...namedLine('ignored, because it differs on most pages', ignored),
    ],
    unknown: namedLine(`whether these pages differ from ${folder} (${UNREAD})`, unread),
  };
}

const UNREAD = `above 2 MB, beyond the first ${COMPARE.pages}, or not served there in time`;

/** The URL of a page in the delivered folder. While caches may show an earlier one, it has its own version. */
function pageUrl(file: LocalFile | undefined, { task: { served }, proof }: PlacedAttempt): string | null {
  if (file === undefined || served === undefined) return null;
  const url = entryUrl(urlBelow(new URL(served.sitePath, served.url), file.name));
  return (proof?.versioned === undefined ? url : withVersion(url, file.blobSha.slice(0, 16))).href;
}

/** The text of a page as the other folder serves it; `null` unless it is the branch's. */
async function readOther(folder: URL, path: string, blob: GitBlob | undefined, { http, signal }: Ports) {
  if (blob === undefined || blob.size > COMPARE.page) return null;
  const url = withVersion(urlBelow(folder, path), blob.sha.slice(0, 16));
  const size = { readAtMost: blob.size, prefixSize: blob.size, blobs: [blob] };
  const fetched = await resultOf(() => fetchBack(http, url, { ...size, signal, guard: () => undefined }));
  if (hasFailed(fetched) || fetched.blobSha === null) return null;
  return readPage([Buffer.from(fetched.readPrefix(), 'latin1')]);
}

async function readLocal(file: LocalFile, { signal }: Ports): Promise<PageText | null> {
  return signal.aborted || file.size > COMPARE.page ? null : readPage(file.read());
}

async function readPage(pieces: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<PageText> {
  const html: string[] = [];
  for await (const part of decodeText(Readable.from(pieces))) html.push(part);
  return (await loadPageRules()).readPageText(html.join(''));
}
