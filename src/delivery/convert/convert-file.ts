import { writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { requireSite } from '../../channels/channel.ts';
import { loadConvert } from '../../convert/load-convert.ts';
import type { InlinedFile } from '../../convert/resources.ts';
import { DeliveryError, toDeliveryError } from '../../errors.ts';
import { countFiles, nameFew } from '../../plain-text.ts';
import { CONVERT, MEGABYTE } from '../../protocol/limits.ts';
import { refuseInput } from '../../request/input-kinds.ts';
import type { DeliveryRequest } from '../../request/parse-request.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { isOnlyCopied } from '../../rules/jekyll.ts';
import { encodePath, nameFromFile } from '../../rules/naming.ts';
import { isHtml, isXhtml } from '../../rules/page/page-file.ts';
import { keepOldHeapSmall } from '../../system.ts';
import { describeAllowed } from '../check-content.ts';
import { isWanted } from '../choose-channel.ts';
import type { Delivery } from '../delivery.ts';
import type { DeliveryContext } from '../delivery-context.ts';
import { ResourceReader } from './read-resources.ts';

/** How a file becomes another page before it is delivered. */
export type Conversion = 'inline' | 'render';

/** @param name under which it would be delivered @returns `null` for a file that is delivered as it is */
export async function chooseConversion(
  subject: string,
  name: string,
  { render, selfContained }: DeliveryRequest,
): Promise<Conversion | null> {
  if (render && !isHtml(subject) && (await loadConvert()).isRenderable(subject)) return 'render';
  const isPage = [subject, name].some((one) => isHtml(one) && !isXhtml(one));
  return selfContained === 'inline' && isPage ? 'inline' : null;
}

/** The name of a rendered page: the name in `path`, or the file's with `.html`. @throws {DeliveryError} `BAD_INPUT` */
export function renderedName(name: string, path = ''): string {
  if (path === '' || path.endsWith('/')) return `${name}.html`;
  if (isHtml(name)) return name;
  return refuseInput(
    (w) => `${w.subject('path')} is not the name of a page`,
    (w) => `set ${w.input('path', `${path}.html`)}, or a folder that ends in /`,
  );
}

interface ConvertedFile {
  /** Absolute path of the page, in a private folder. */
  readonly path: string;
  readonly inlined?: readonly InlinedFile[];
  /** The text that a rendered page shows. */
  readonly shown?: string | undefined;
  readonly notes: readonly string[];
  readonly unknown: readonly string[];
}

/**
 * Makes a page of a checked file: the same page, self-contained, or a page that shows the text. The file stays as it is.
 *
 * @throws {DeliveryError} `BAD_FILE` with what to change in the file; `TOO_LARGE`
 */
export async function convertFile(
  delivery: Delivery,
  conversion: Conversion,
  context: DeliveryContext,
): Promise<ConvertedFile> {
  const { request, clock, logger } = context;
  const { subject } = delivery;
  const { entry } = requireSite(delivery);
  if (entry.size > CONVERT.source) {
    const message = `${subject} has more than ${CONVERT.source / MEGABYTE} MB`;
    throw new DeliveryError('TOO_LARGE', message, {
      hint: 'make it smaller, or deliver it as it is',
      leftBehind: [],
    });
  }
  logger.startSection(`Convert ${subject}`);
  keepOldHeapSmall();
  const limit = clock.timeout(request.timeout);
  const file = resolve(request.folder, subject);
  const reader = new ResourceReader(file, { run: context, limit });
  const { inlinePage, renderText } = await loadConvert();
  const source = await buffer(entry.read());
  const name = basename(file);
  const options = { url: reader.toUrl(name), read: reader.read, signal: context.signal };
  const sourceHref = linkToSource(nameFromFile(name), entry, request);
  const done = await (conversion === 'inline'
    ? inlinePage(source, options)
    : renderText(source, { ...options, name, sourceHref })
  ).catch((thrown: unknown) => {
    context.signal.throwIfAborted();
    throw toDeliveryError(thrown).inFile(subject).withLeftBehind([]);
  });
  const path = join(await context.openFolder(), 'page');
  await writeFile(path, done.page, { flag: 'wx', mode: 0o600 });
  const inlined = done.files.map((part) => ({ ...part, url: reader.toName({ href: part.url }) }));
  if (inlined.length > 0) logger.info(describeInlined(inlined));
  const isInline = conversion === 'inline';
  const [notes, seen] = isInline ? [[], done.notes] : [done.notes, done.missing ?? []];
  const unknown = [...describeAllowed(reader.allowed), ...seen];
  return { path, ...((isInline || inlined.length > 0) && { inlined }), notes, unknown, shown: done.shown };
}

/** The link to a text beside its page; `null` if no text is there, or Jekyll could make a page of it. */
function linkToSource(name: string, { firstBytes }: LocalFile, request: DeliveryRequest): string | null {
  const { channels, token, clientId } = request;
  const isForSite =
    channels === 'auto' ? isWanted('K1', request) && (token ?? clientId) !== undefined : channels[0] === 'K1';
  return isForSite && isOnlyCopied(name, firstBytes) ? `./${encodePath(name)}` : null;
}

/** Such as `inlined 4 files, 212 KB, from cdn.jsdelivr.net and the page's folder`. */
export function describeInlined(files: readonly InlinedFile[]): string {
  if (files.length === 0) return 'the page needed no other file';
  const size = Math.ceil(files.reduce((sum, file) => sum + file.size, 0) / 1_024);
  const hosts = new Set(files.map(({ url }) => URL.parse(url)?.host ?? ''));
  const names = nameFew([...hosts].filter((host) => host !== ''));
  const from = [names, hosts.has('') ? "the page's folder" : ''].filter((part) => part !== '').join(' and ');
  return `inlined ${countFiles(files.length)}, ${size} KB, from ${from}`;
}
