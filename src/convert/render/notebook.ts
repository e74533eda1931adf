import querystring from 'node:querystring';
import { faultError } from '../../errors.ts';
import { toFields } from '../../plain-text.ts';
import { codeBlock } from './code.ts';
import { visitJson } from './json.ts';
import { terminalBlock } from './log.ts';
import { renderMarkdown } from './markdown.ts';
import { createPageLimit, formatRest, READ_LIMIT, type Render, type Source } from './source.ts';

/** The cells and outputs that are shown, and the objects, lists and fields that are read. */
const LIMITS = { shown: 5_000, parts: 500_000 } as const;

type Fields = Readonly<Record<string, unknown>>;

/** A notebook has a text in one piece, or as a list of its lines. */
const toLines = (value: unknown): string =>
  Array.isArray(value) ? value.map(toLines).join('') : typeof value === 'string' ? value : '';

const toList = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(toFields) : []);

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml'];

/** Kinds of text, the best first. HTML is shown as it is written. */
const TEXTS = ['text/plain', 'text/latex', 'application/json', 'text/html'];

/** The picture that an output or attachment holds, as a URL in which nothing but base64 is left. */
function toPictureUrl(bundle: Fields): string | null {
  const type = PICTURES.find((one) => bundle[one] !== undefined);
  if (type === undefined) return null;
  const content = Buffer.from(toLines(bundle[type]), type === 'image/svg+xml' ? 'utf8' : 'base64');
  return `data:${type};base64,${content.toString('base64')}`;
}

/** Whether an output has HTML, such as a table, and nothing else that shows its form. */
function losesHtml({ data }: Fields): boolean {
  const bundle = toFields(data);
  return bundle['text/html'] !== undefined && !['text/markdown', ...PICTURES].some((type) => bundle[type]);
}

function renderOutput(output: Fields, renderText: (text: string) => string): string {
  if (output.output_type === 'stream') return terminalBlock(toLines(output.text));
  if (output.output_type === 'error') {
    const lines = Array.isArray(output.traceback) ? output.traceback.map(toLines) : [];
    return terminalBlock(lines.length > 0 ? lines.join('\n') : `${output.ename}: ${output.evalue}`);
  }
  const data = toFields(output.data);
  const picture = toPictureUrl(data);
  if (picture !== null) return `<p><img src="${picture}" alt="output"></p>`;
  const markdown = toLines(data['text/markdown']);
  if (markdown !== '') return renderText(markdown);
  const found = data[TEXTS.find((type) => data[type] !== undefined) ?? ''];
  return terminalBlock(toLines(found) || JSON.stringify(found ?? '', null, 2));
}

/** A cell's own pictures, or those of the folder and other hosts. */
const pictureOfCell =
  (cell: Fields, source: Source): Source['pictureOf'] =>
  (address) => {
    const [, name] = /^attachment:(.*)$/.exec(address) ?? [];
    if (name === undefined) return source.pictureOf(address);
    const data = toPictureUrl(toFields(toFields(cell.attachments)[querystring.unescape(name)]));
    return data === null ? { reason: 'is not in the notebook' } : source.pictureOf(data);
  };

function readNotebook(text: string): { readonly cells: readonly Fields[]; readonly language: string } {
  let count = 0;
  const addPart = (): void => {
    count += 1;
    if (count > LIMITS.parts) {
      throw faultError(
        `the notebook has over ${LIMITS.parts} objects, lists and fields`,
        'render a smaller file',
      );
    }
  };
  visitJson(text, { onObjectBegin: addPart, onArrayBegin: addPart, onObjectProperty: addPart });
  const { cells, metadata, nbformat } = toFields(JSON.parse(text));
  const hint = 'convert it with `jupyter nbconvert --to notebook`';
  if (nbformat !== 4) throw faultError('the file is not a notebook of format 4', hint);
  const { language_info, kernelspec } = toFields(metadata);
  const language = toFields(language_info).name ?? toFields(kernelspec).language ?? 'python';
  return { cells: toList(cells), language: String(language) };
}

/** A notebook's text, code and outputs. */
export const renderNotebook: Render = (source) => {
  const { cells, language } = readNotebook(source.text);
  const [notes, missing]: [string[], string[]] = [[], []];
  let title: string | undefined;
  let room = READ_LIMIT;
  const take = (text: string): string => {
    room -= text.length;
    return text;
  };
  function* renderCell(cell: Fields, nth: number): Generator<string, void> {
    const addCell = (note: string): string => `cell ${nth}, ${note}`;
    const renderText = (text: string): string => {
      const rendered = renderMarkdown({
        ...source,
        text: take(text),
        pictureOf: pictureOfCell(cell, source),
      });
      title ??= rendered.title;
      notes.push(...(rendered.notes ?? []).map(addCell));
      missing.push(...(rendered.missing ?? []).map(addCell));
      return rendered.html;
    };
    const text = toLines(cell.source);
    if (cell.cell_type === 'markdown') return yield renderText(text);
    if (cell.cell_type !== 'code') return yield terminalBlock(text);
    const outputs = toList(cell.outputs);
    if (outputs.some(losesHtml)) notes.push(addCell('the HTML output is shown as text'));
    yield `<p class="count">[${Number(cell.execution_count ?? '') || ' '}]</p>${codeBlock(take(text), language)}`;
    for (const output of outputs) yield renderOutput(output, renderText);
  }
  const limited = createPageLimit();
  const parts: string[] = [];
  const hasRoom = (): boolean => room > 0 && parts.length < LIMITS.shown;
  let count = 0;
  for (; count < cells.length && hasRoom(); count += 1) {
    for (const part of renderCell(cells[count] ?? {}, count + 1)) {
      parts.push(limited(part));
      if (!hasRoom()) break;
    }
  }
  return { html: parts.join('\n') + formatRest(cells.length - count, 'cell'), title, notes, missing };
};
