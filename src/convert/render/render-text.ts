import { isUtf8 } from 'node:buffer';
import { runInNewContext } from 'node:vm';
import { mapConcurrently } from '../../async.ts';
import { toMessage } from '../../errors.ts';
import { toFields } from '../../plain-text.ts';
import { MEGABYTE, SECOND } from '../../protocol/limits.ts';
import type { Converted, InlinedFile, ReadResource, Resource } from '../resources.ts';
import { isLanguage, renderCode } from './code.ts';
import { renderJson } from './json.ts';
import { renderLog } from './log.ts';
import { renderMarkdown } from './markdown.ts';
import { renderNotebook } from './notebook.ts';
import { framePage, sha256 } from './page.ts';
import { type Picture, type Render, type Rendered, type Source, SourceProblem } from './source.ts';
import { renderTable } from './table.ts';
import { renderTestResults } from './test-results.ts';

/** How each kind of text is rendered; any other name that ends like a programming language is code. */
const KINDS: readonly { readonly endings: readonly string[]; readonly render: Render }[] = [
  { endings: ['md', 'markdown'], render: renderMarkdown },
  { endings: ['csv', 'tsv'], render: renderTable },
  { endings: ['json'], render: renderJson },
  { endings: ['log', 'txt'], render: renderLog },
  { endings: ['ipynb'], render: renderNotebook },
  { endings: ['xml'], render: renderTestResults },
];

/** Browsers show these themselves. */
const PAGES = ['html', 'xhtml', 'htm', 'svg'];

const AS_IT_IS = 'deliver it without `render`';

const LIMITS = {
  bytes: 20 * MEGABYTE,
  /** Of one run; a source with pictures is rendered twice. */
  time: 25 * SECOND,
  /** As text, and each as often as it is shown. */
  pictures: 30 * MEGABYTE,
  reads: 6,
} as const;

function findRenderer(name: string): Render | undefined {
  const [, ending = ''] = /\.(\w+)$/.exec(name.toLowerCase()) ?? [];
  const kind = KINDS.find(({ endings }) => endings.includes(ending));
  return kind?.render ?? (isLanguage(ending) && !PAGES.includes(ending) ? renderCode : undefined);
}

/** Whether a file with this name can be shown as a page. */
export const isRenderable = (name: string): boolean => findRenderer(name) !== undefined;

interface RenderOptions {
  readonly name: string;
  /** Of the source; pictures and links are relative to it. */
  readonly url: URL;
  /** The link to the source; `null` if the source is not delivered. */
  readonly sourceHref: string | null;
  readonly read: ReadResource;
  readonly signal: AbortSignal;
}

/** Renders Markdown, data, logs, test results and code as one self-contained page without scripts. */
export async function renderText(source: Buffer, options: RenderOptions): Promise<Converted> {
  const { name, sourceHref: href } = options;
  try {
    const render = findRenderer(name);
    if (render === undefined) throw new SourceProblem('this kind of file is not rendered', null, 'rename it');
    const text = decode(source);
    const work = (pictures: Pictures): Rendered =>
      runLimited(() => render({ ...options, text, pictureOf: createLookup(pictures, options.url) }));
    const pictures: Pictures = new Map();
    const first = work(pictures);
    await readPictures(pictures, options);
    const rendered = pictures.size === 0 ? first : work(pictures);
    const files = [...pictures.values()].flatMap(({ file }) => file ?? []);
    return { page: framePage(rendered, { name, bytes: source, href }), files, notes: rendered.notes ?? [] };
  } catch (thrown) {
    if (!(thrown instanceof SourceProblem)) throw thrown;
    return { problem: thrown.message, line: thrown.line, hint: thrown.hint };
  }
}

function decode(source: Buffer): string {
  if (source.length > LIMITS.bytes) {
    throw new SourceProblem(`the file is larger than ${LIMITS.bytes / MEGABYTE} MB`, null, AS_IT_IS);
  }
  if (isUtf8(source)) return new TextDecoder().decode(source);
  let line = 1;
  // No part of a character in UTF-8 is a line feed.
  for (let start = 0; ; line += 1) {
    const end = source.indexOf(10, start);
    if (end === -1 || !isUtf8(source.subarray(start, end))) break;
    start = end + 1;
  }
  throw new SourceProblem('the file is not in UTF-8', line, 'save it in UTF-8');
}

/** Libraries can't be stopped in any other way, and a hostile source may take any time. */
function runLimited(work: () => Rendered): Rendered {
  try {
    return runInNewContext('work()', { work }, { timeout: LIMITS.time });
  } catch (thrown) {
    const isTimeout = toFields(thrown).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    // A full stack or a string that is too long.
    if (!isTimeout && !(thrown instanceof RangeError)) throw thrown;
    const problem = isTimeout ? `takes over ${LIMITS.time / SECOND} s to render` : 'is nested too deeply';
    throw new SourceProblem(`the file ${problem}`, null, AS_IT_IS);
  }
}

type Pictures = Map<string, Picture & { readonly file?: InlinedFile }>;

/** What a renderer may ask for; the first run only finds out which pictures there are. */
function createLookup(pictures: Pictures, base: URL): Source['pictureOf'] {
  let shown = 0;
  return (address) => {
    if (address.startsWith('data:image/')) return { data: address };
    const url = URL.parse(address, base)?.href;
    if (url === undefined) return { reason: 'has no valid URL' };
    const picture = pictures.get(url) ?? { reason: 'was not read' };
    pictures.set(url, picture);
    shown += 'data' in picture ? picture.data.length : 0;
    if (shown <= LIMITS.pictures) return picture;
    const limit = `${LIMITS.pictures / MEGABYTE} MB`;
    throw new SourceProblem(`the pictures take over ${limit}`, null, 'use smaller pictures');
  };
}

async function readPictures(pictures: Pictures, { read, signal }: RenderOptions): Promise<void> {
  await mapConcurrently([...pictures.keys()], LIMITS.reads, async (address) => {
    signal.throwIfAborted();
    try {
      pictures.set(address, toPicture(await read(new URL(address))));
    } catch (thrown) {
      signal.throwIfAborted();
      pictures.set(address, { reason: `can't be shown: ${toMessage(thrown)}` });
    }
  });
}

function toPicture({ url, bytes, contentType }: Resource): Picture & { readonly file?: InlinedFile } {
  const [type = ''] = contentType.toLowerCase().split(';');
  if (!/^image\/[\w.+-]+$/.test(type)) return { reason: `is no picture but ${type}` };
  const file = { url, sha256: sha256(bytes), size: bytes.length };
  return { data: `data:${type};base64,${bytes.toString('base64')}`, file };
}
