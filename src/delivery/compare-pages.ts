import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { mapConcurrently } from '../async.ts';
import type { Channel, ComparedFolder } from '../channels/channel.ts';
import { hasFailed, resultOf } from '../errors.ts';
import { fetchBack } from '../http/fetch-back.ts';
import { namedLine, neutralizeText, shorten } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { COMPARE, SITE, TEXT } from '../protocol/limits.ts';
import { PageComparison, type PageText } from '../rules/changed-pages.ts';
import type { GitBlob } from '../rules/fingerprint.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { loadPageRules } from '../rules/load-page-rules.ts';
import { entryUrl, urlBelow, withVersion } from '../rules/naming.ts';
import { decodeText, isHtml } from '../rules/page/page-file.ts';
import { attemptIn, type ChangedPage, type Delivery, ongoingAttempt, runStep } from './delivery.ts';
import type { DeliveryContext, RequestContext } from './delivery-context.ts';
import { addComparedPictures } from './screen/compared-pictures.ts';

/** Finds the pages that differ from another folder of the site, before anything is written. Never fails a delivery. */
export async function comparePages(
  deliveries: readonly Delivery[],
  { K1: { findCompared } }: { readonly K1: Pick<Channel, 'findCompared'> },
  context: DeliveryContext,
): Promise<readonly Delivery[]> {
  const { compare: name, picture, timeout, dryRun, checkOnly } = context.request;
  if (name === undefined || findCompared === undefined || dryRun || checkOnly) return deliveries;
  const end = context.clock.timeout(Math.min(COMPARE.time, timeout));
  const run = { ...context, signal: AbortSignal.any([context.signal, end]) };
  return runStep('check', deliveries, async (delivery) => {
    const attempt = ongoingAttempt(delivery, 'K1');
    const { served } = attempt?.task ?? {};
    if (!attempt || !served || !delivery.site?.isFolder) return delivery;
    const folder = new URL(served.sitePath, served.url);
    context.logger.startSection(`Compare the pages with ${name}`);
    const found = await resultOf(async () => {
      const other = await findCompared(attempt.task);
      const compared = await compareFolders(delivery, folder, other, run);
      return picture ? addComparedPictures(compared, attempt, { folder, other }, run) : compared;
    });
    if (!hasFailed(found)) return found;
    const line = `which pages differ from ${name}: ${found.message}`;
    return { ...delivery, unknown: [...delivery.unknown, line] };
  });
}

const KINDS = ['changed', 'new', 'removed'] as const;

async function compareFolders(
  delivery: Delivery,
  folder: URL,
  other: ComparedFolder,
  run: RequestContext,
): Promise<Delivery> {
  const html = (delivery.site?.files ?? []).filter(({ name }) => isHtml(name));
  const files = new Map(html.map((file) => [file.name, file]));
  const added = html.filter(({ name }) => !other.pages.has(name));
  const differing = html.filter(({ name, blobSha }) => (other.pages.get(name)?.sha ?? blobSha) !== blobSha);
  const { compared, titles } = await readDifferences(differing, other, run);
  for (const file of added.slice(0, SITE.listed))
    titles.set(file.name, (await readLocal(file, run))?.title ?? '');
  // Of a part of the pages, only a part can be alike.
  const share = compared.pages.size / Math.max(differing.length, 1);
  const { changed, ignored } = compared.findChanged((html.length - added.length) * share);
  const removed = [...other.pages.keys()].filter((path) => !files.has(path));
  const kinds = { changed, new: added.map(({ name }) => name), removed };
  const pages = KINDS.flatMap((kind) => kinds[kind].map((path) => ({ kind, path })));
  const counts = KINDS.flatMap((kind) => (kinds[kind].length === 0 ? [] : `${kinds[kind].length} ${kind}`));
  const unread = differing.flatMap(({ name }) => (compared.pages.has(name) ? [] : name));
  const notes = [
    `pages, compared with ${run.request.compare}: ${counts.join(', ') || 'no page changed'}`,
    ...namedLine('ignored, because it differs on most pages', ignored),
  ];
  for (const note of notes) run.logger.info(note);
  return {
    ...delivery,
    changedPages: pages.slice(0, SITE.listed).map(({ kind, path }) => {
      const title =
        shorten(neutralizeText(titles.get(path) ?? '').trim(), TEXT.message) || neutralizeText(path);
      const url = kind === 'removed' ? null : entryUrl(urlBelow(folder, path)).href;
      return { path: neutralizeText(path), title, url, kind, file: files.get(path) };
    }),
    notes: [...delivery.notes, ...notes],
    unknown: [
      ...delivery.unknown,
      ...namedLine(`whether these pages differ from ${run.request.compare} (${UNREAD})`, unread),
    ],
  };
}

async function readDifferences(differing: readonly LocalFile[], { url, pages }: ComparedFolder, run: Ports) {
  const titles = new Map<string, string>();
  const compared = new PageComparison();
  await mapConcurrently(differing.slice(0, COMPARE.pages), SITE.probes, async (file) => {
    const before = await readOther(url, file.name, pages.get(file.name), run);
    const after = before && (await readLocal(file, run));
    if (before === null || after === null) return;
    titles.set(file.name, after.title);
    compared.add(file.name, before, after);
  });
  return { titles, compared };
}

const UNREAD = `above 2 MB, beyond the first ${COMPARE.pages}, or not served there in time`;

/** The verified pages. While caches may show earlier pages, each link has a version. */
export function reportChangedPages(
  delivery: Delivery,
): { readonly changedPages: readonly ChangedPage[] } | null {
  const { proof } = attemptIn(delivery, 'K1') ?? {};
  if (!proof || !delivery.changedPages) return null;
  const changedPages = delivery.changedPages.map(({ file, ...page }) => {
    if (!file || !page.url || !proof.versioned) return page;
    return { ...page, url: withVersion(page.url, file.blobSha.slice(0, 16)).href };
  });
  return { changedPages };
}

/** The text of a page as the other folder serves it; `null` unless it is the branch's. */
async function readOther(folder: URL, path: string, blob: GitBlob | undefined, { http, signal }: Ports) {
  if (blob === undefined || blob.size > COMPARE.page) return null;
  const url = withVersion(urlBelow(folder, path), blob.sha.slice(0, 16));
  const size = { readAtMost: blob.size, prefixSize: blob.size, blobs: [blob] };
  const fetched = await resultOf(() => fetchBack(http, url, { ...size, signal, guard: () => undefined }));
  if (hasFailed(fetched) || fetched.blobSha === null) return null;
  return readPage(Readable.from([Buffer.from(fetched.readPrefix(), 'latin1')]));
}

const readLocal = async (file: LocalFile, { signal }: Ports): Promise<PageText | null> =>
  signal.aborted || file.size > COMPARE.page ? null : readPage(file.read());

const readPage = async (bytes: AsyncIterable<Buffer>): Promise<PageText> =>
  (await loadPageRules()).readPageText(await text(decodeText(bytes)));
