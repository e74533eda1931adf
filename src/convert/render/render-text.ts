import { isUtf8 } from 'node:buffer';
import { runInNewContext } from 'node:vm';
import { mapConcurrently } from '../../async.ts';
import { faultError, toMessage } from '../../errors.ts';
import { firstFew, namedLine, toFields } from '../../plain-text.ts';
import { SECOND } from '../../protocol/limits.ts';
import { getMediaType, toDataUrl } from '../inline/resource-text.ts';
import { type ConvertedPage, type ConvertOptions, describeFile, type Resource } from '../resources.ts';
import { isLanguage, renderCode } from './code.ts';
import { renderJson } from './json.ts';
import { renderLog } from './log.ts';
import { renderMarkdown } from './markdown.ts';
import { renderNotebook } from './notebook.ts';
import { framePage, readShownText } from './page.ts';
import {
  createPageLimit,
  listRests,
  type Picture,
  type Render,
  type Rendered,
  refuseLargePage,
  type Source,
} from './source.ts';
import { renderTable } from './table.ts';
import { renderTestResults } from './test-results.ts';

/** How each kind of text is rendered. Other endings of programming languages are code. */
const KINDS: readonly { readonly endings: readonly string[]; readonly render: Render | null }[] = [
  { endings: ['md', 'markdown'], render: renderMarkdown },
  { endings: ['csv', 'tsv'], render: renderTable },
  { endings: ['json'], render: renderJson },
  { endings: ['log', 'txt'], render: renderLog },
  { endings: ['ipynb'], render: renderNotebook },
  { endings: ['xml'], render: renderTestResults },
  // Browsers show these themselves.
  { endings: ['html', 'htm', 'xhtml', 'svg'], render: null },
];

const LIMITS = {
  /** A source with pictures is rendered twice. */
  time: 25 * SECOND,
  reads: 6,
} as const;

function findRenderer(name: string): Render | null {
  const ending = name.toLowerCase().split('.').at(-1) ?? '';
  const kind = KINDS.find(({ endings }) => endings.includes(ending));
  return kind !== undefined ? kind.render : isLanguage(ending) ? renderCode : null;
}

/** Whether a file with this name can be rendered as a page. */
export const isRenderable = (name: string): boolean => findRenderer(name) !== null;

interface RenderOptions extends ConvertOptions {
  readonly name: string;
  /** The link to the source; `null` if the source is not delivered. */
  readonly sourceHref: string | null;
}

/**
 * Renders Markdown, data, logs, test results or code as one self-contained page without scripts.
 * @throws {DeliveryError} `BAD_FILE`, with the line if it is known
 */
export async function renderText(source: Buffer, options: RenderOptions): Promise<ConvertedPage> {
  const { name, url, sourceHref: href } = options;
  const pictures = new Map<string, Picture>();
  const text = decode(source);
  const run = (): Rendered => renderLimited({ name, url, text, pictureOf: createLookup(pictures, url) });
  let rendered = run();
  await readPictures(pictures, options);
  if (pictures.size > 0) rendered = run();
  const page = framePage(rendered, { name, bytes: source, href });
  refuseLargePage(page.length);
  const files = [...pictures.values()].flatMap((picture) => ('file' in picture ? picture.file : []));
  const { notes = [] } = rendered;
  const rests = namedLine('the page leaves out', listRests(rendered.html));
  const missing = [...rests, ...(rendered.missing ?? [])];
  return {
    page,
    files,
    notes: firstFew(notes),
    missing: firstFew(missing),
    shown: readShownText(rendered.html),
  };
}

function decode(source: Buffer): string {
  const text = new TextDecoder().decode(source);
  if (isUtf8(source)) return text;
  const line = text.slice(0, text.indexOf('\ufffd')).split('\n').length;
  throw faultError('the file is not in UTF-8', 'save it in UTF-8', line);
}

/** Libraries can't be stopped in any other way, and a hostile source may take any time. */
function renderLimited(source: Source): Rendered {
  const work = (): Rendered => (findRenderer(source.name) ?? renderCode)(source);
  try {
    return runInNewContext('work()', { work }, { timeout: LIMITS.time });
  } catch (thrown) {
    const isTimeout = toFields(thrown).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    // The stack is full, or a string is too long.
    if (!isTimeout && !(thrown instanceof RangeError)) throw thrown;
    const problem = isTimeout ? `takes over ${LIMITS.time / SECOND} s to render` : 'is nested too deeply';
    throw faultError(`the file ${problem}`, 'deliver it without `render`');
  }
}

/** The first run only finds the addresses of pictures. A picture may be shown many times. */
function createLookup(pictures: Map<string, Picture>, base: URL): Source['pictureOf'] {
  const limited = createPageLimit();
  return (address) => {
    const url = URL.parse(address, base)?.href ?? address;
    const isData = address.startsWith('data:image/');
    const picture = isData ? { data: address } : (pictures.get(url) ?? { reason: 'was not read' });
    if (!isData) pictures.set(url, picture);
    if ('data' in picture) limited(picture.data);
    return picture;
  };
}

async function readPictures(pictures: Map<string, Picture>, { read, signal }: RenderOptions): Promise<void> {
  await mapConcurrently([...pictures.keys()], LIMITS.reads, async (address) => {
    signal.throwIfAborted();
    try {
      pictures.set(address, toPicture(await read(new URL(address))));
    } catch (thrown) {
      signal.throwIfAborted();
      const { cause = thrown } = thrown instanceof Error ? thrown : {};
      pictures.set(address, { reason: `is missing: ${toMessage(cause)}` });
    }
  });
}

function toPicture(resource: Resource): Picture {
  const type = getMediaType(resource);
  if (!type.startsWith('image/')) return { reason: `is not a picture but ${type}` };
  return { data: toDataUrl(type, resource.bytes), file: describeFile(resource) };
}
