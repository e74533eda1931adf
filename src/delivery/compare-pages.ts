import { Readable } from 'node:stream';
import { mapConcurrently } from '../async.ts';
import type { Channel, ComparedFolder, PreparedTask } from '../channels/channel.ts';
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
    const task = ongoingAttempt(delivery, 'K1')?.task;
    if (task === undefined || !delivery.site?.isFolder) return delivery;
    context.logger.startSection(`Compare the pages with ${name}`);
    const found = await resultOf(async () => {
      const other = await findCompared(task);
      const { notes, unknown, changedPages } = await compareFolders(delivery, task, other, run);
      for (const note of notes) context.logger.info(note);
      const lines = { notes: [...delivery.notes, ...notes], unknown: [...delivery.unknown, ...unknown] };
      const compared = { ...delivery, changedPages, ...lines };
      return picture ? addComparedPictures(compared, other.url, run) : compared;
    });
    if (!hasFailed(found)) return found;
    const line = `which pages differ from ${name}: ${found.message}`;
    return { ...delivery, unknown: [...delivery.unknown, line] };
  });
}

const KINDS = ['changed', 'new', 'removed'] as const;

async function compareFolders(
  { site }: Delivery,
  { served }: PreparedTask,
  { url, pages: others }: ComparedFolder,
  run: RequestContext,
) {
  const folder = run.request.compare;
  const files = (site?.files ?? []).filter(({ name }) => isHtml(name));
  const here = new Map(files.map((file) => [file.name, file]));
  const added = files.filter(({ name }) => !others.has(name));
  const differing = files.filter(({ name, blobSha }) => (others.get(name)?.sha ?? blobSha) !== blobSha);
  const titles = new Map<string, string>();
  const compared = new PageComparison();
  await mapConcurrently(differing.slice(0, COMPARE.pages), SITE.probes, async (file) => {
    const before = await readOther(url, file.name, others.get(file.name), run);
    const after = before && (await readLocal(file, run));
    if (before === null || after === null) return;
    titles.set(file.name, after.title);
    compared.add(file.name, before, after);
  });
  for (const file of added.slice(0, SITE.listed)) {
    titles.set(file.name, (await readLocal(file, run))?.title ?? '');
  }
  // Of a part of the pages, only a part can be alike.
  const share = compared.pages.size / Math.max(differing.length, 1);
  const { changed, ignored } = compared.findChanged((files.length - added.length) * share);
  const removed = [...others.keys()].filter((path) => !here.has(path));
  const kinds = { changed, new: added.map(({ name }) => name), removed };
  const pages = KINDS.flatMap((kind) => kinds[kind].map((path) => ({ kind, path })));
  const counts = KINDS.flatMap((kind) => (kinds[kind].length === 0 ? [] : `${kinds[kind].length} ${kind}`));
  const unread = differing.flatMap(({ name }) => (compared.pages.has(name) ? [] : name));
  return {
    changedPages: pages.slice(0, SITE.listed).map(({ kind, path }) => {
      const title = shorten(neutralizeText(titles.get(path) ?? '').trim(), TEXT.message);
      const named = { path: neutralizeText(path), title: title || neutralizeText(path) };
      const page = here.has(path) && served ? urlBelow(new URL(served.sitePath, served.url), path) : null;
      return { ...named, url: page && entryUrl(page).href, kind, file: here.get(path) };
    }),
    notes: [
      `pages, compared with ${folder}: ${counts.join(', ') || 'no page changed'}`,
      ...namedLine('ignored, because it differs on most pages', ignored),
    ],
    unknown: namedLine(`whether these pages differ from ${folder} (${UNREAD})`, unread),
  };
}

const UNREAD = `above 2 MB, beyond the first ${COMPARE.pages}, or not served there in time`;

/** The pages, with links only if they are verified. While caches may show earlier pages, each link has a version. */
export function reportChangedPages(delivery: Delivery): readonly ChangedPage[] | undefined {
  const { proof } = attemptIn(delivery, 'K1') ?? {};
  return !proof
    ? undefined
    : delivery.changedPages?.map(({ file, ...page }) => {
        if (page.url === null || file === undefined || !proof.versioned) return page;
        return { ...page, url: withVersion(page.url, file.blobSha.slice(0, 16)).href };
      });
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
