import { writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { requireSite } from '../../channels/channel.ts';
import { loadConvert } from '../../convert/load-convert.ts';
import type { Converted, InlinedFile } from '../../convert/resources.ts';
import { DeliveryError } from '../../errors.ts';
import { countFiles, nameFew } from '../../plain-text.ts';
import { CONVERT, MEGABYTE } from '../../protocol/limits.ts';
import type { DeliveryRequest } from '../../request/parse-request.ts';
import { isHtml, isXhtml } from '../../rules/page/page-file.ts';
import type { Delivery } from '../delivery.ts';
import type { DeliveryContext } from '../delivery-context.ts';
import { ResourceReader } from './read-resources.ts';

/** Whether a file becomes another page before it is delivered. Either name may make it a page. */
export const isConverted = (names: readonly string[], { selfContained }: DeliveryRequest): boolean =>
  selfContained === 'inline' && names.some((name) => isHtml(name) && !isXhtml(name));

/** A converted file. */
interface Conversion {
  /** Absolute path of the page, in a private folder. */
  readonly path: string;
  readonly inlined: readonly InlinedFile[];
  readonly unknown: readonly string[];
}

/**
 * Makes a page self-contained. The file at hand stays as it is.
 *
 * @param delivery with the checked file
 * @throws {DeliveryError} `BAD_FILE` with what to change in the page; `TOO_LARGE`
 */
export async function convertFile(
  { site, subject }: Delivery,
  context: DeliveryContext,
): Promise<Conversion> {
  const { request, clock, logger } = context;
  const { entry } = requireSite({ site, name: subject });
  if (entry.size > CONVERT.source) throw tooLargeError(subject);
  logger.startSection(`Put what ${subject} needs into it`);
  const limit = clock.timeout(request.timeout);
  const page = resolve(request.folder, subject);
  const reader = new ResourceReader(page, { run: context, limit });
  const { inlinePage } = await loadConvert();
  const signal = AbortSignal.any([context.signal, limit]);
  const url = reader.toUrl(basename(page));
  const done = await inlinePage(await buffer(entry.read()), { url, read: reader.read, signal });
  if ('problem' in done) throw badPageError(subject, done);
  const path = join(await context.openFolder(), 'page');
  await writeFile(path, done.page, { flag: 'wx', mode: 0o600 });
  const inlined = done.files.map((file) => ({ ...file, url: reader.toName({ href: file.url }) }));
  logger.info(describeInlined(inlined));
  return { path, inlined, unknown: done.notes };
}

const tooLargeError = (subject: string): DeliveryError =>
  new DeliveryError('TOO_LARGE', `${subject} has more than ${CONVERT.source / MEGABYTE} MB`, {
    hint: (w) => `leave ${w.input('self-contained', 'inline')} out, or make the page smaller`,
    leftBehind: [],
  });

function badPageError(
  subject: string,
  { problem, line, hint }: Extract<Converted, { readonly problem: string }>,
): DeliveryError {
  const where = line === null ? '' : ` line ${line}`;
  return new DeliveryError('BAD_FILE', `${subject}${where} can't be inlined: ${problem}`, {
    hint,
    leftBehind: [],
  });
}

/** Such as `inlined 4 files, 212 KB, from cdn.jsdelivr.net and the page's folder`. */
export function describeInlined(files: readonly InlinedFile[]): string {
  if (files.length === 0) return 'the page needed no other file';
  const size = Math.ceil(files.reduce((sum, file) => sum + file.size, 0) / KILOBYTE);
  const hosts = new Set(files.map(({ url }) => URL.parse(url)?.host ?? ''));
  const names = nameFew([...hosts].filter((host) => host !== ''));
  const from = [names, hosts.has('') ? "the page's folder" : ''].filter((part) => part !== '').join(' and ');
  return `inlined ${countFiles(files.length)}, ${size} KB, from ${from}`;
}

const KILOBYTE = 1_024;
