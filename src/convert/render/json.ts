import { type JSONVisitor, printParseErrorCode, visit } from 'jsonc-parser';
import { faultError } from '../../errors.ts';
import { shorten } from '../../plain-text.ts';
import { countOf, createPageLimit, escapeHtml, formatRest, type Render } from './source.ts';

/** Browsers limit how deep elements are nested. A list that holds more than `open` values is folded. */
const LIMITS = { values: 50_000, depth: 100, characters: 10_000, open: 100 } as const;

/** Reads JSON in its own order, with its own numbers. @throws {DeliveryError} `BAD_FILE` if it is not valid */
export function visitJson(text: string, visitor: JSONVisitor = {}): void {
  const onError: JSONVisitor['onError'] = (code, _offset, _length, line) => {
    const reason = printParseErrorCode(code).replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    throw faultError(`the JSON is not valid: ${reason}`, 'write valid JSON', line + 1);
  };
  visit(text, { ...visitor, onError }, { disallowComments: true });
}

/** A value with its name as HTML. */
interface Value {
  readonly html: string;
  readonly brackets: string;
  /** The values that are shown. */
  readonly shown: Value[];
  size: number;
}

function formatLiteral(value: unknown, written: string): string {
  const kind = typeof value === 'string' || typeof value === 'number' ? typeof value : 'literal';
  // Escapes that JSON does not need are hard to read; digits stay as they are.
  const text = kind === 'string' ? JSON.stringify(value) : written;
  return `<span class="hljs-${kind}">${escapeHtml(shorten(text, LIMITS.characters))}</span>`;
}

function readValues(text: string): Value {
  const root: Value = { html: '', brackets: '', shown: [], size: 0 };
  const open = [root];
  const limited = createPageLimit();
  let [name, room]: [string, number] = ['', LIMITS.values];
  const add = (html: string, brackets = ''): Value => {
    const parent = open.at(-1) ?? root;
    parent.size += 1;
    room -= 1;
    const isShown = room >= 0 && open.length < LIMITS.depth;
    const value: Value = { html: isShown ? limited(name + html) : '', brackets, shown: [], size: 0 };
    if (isShown) parent.shown.push(value);
    name = '';
    return value;
  };
  const close = (): void => void open.pop();
  visitJson(text, {
    onObjectBegin: () => void open.push(add('', '{}')),
    onArrayBegin: () => void open.push(add('', '[]')),
    onObjectEnd: close,
    onArrayEnd: close,
    onObjectProperty: (key) => {
      name = `<span class="hljs-attr">${escapeHtml(shorten(JSON.stringify(key), LIMITS.characters))}</span>: `;
    },
    onLiteralValue: (value, offset, length) =>
      void add(formatLiteral(value, text.slice(offset, offset + length))),
  });
  return root;
}

function formatValue({ html, brackets, shown, size }: Value, isRoot: boolean): string {
  if (size === 0) return `<li>${html}${brackets}</li>`;
  const summary = `${html}${brackets[0]} <i>${countOf(size, 'value')}</i> ${brackets[1]}`;
  const rest = size > shown.length ? `<li>${formatRest(size - shown.length, 'value')}</li>` : '';
  const list = `<ul>${shown.map((one) => formatValue(one, false)).join('\n')}${rest}</ul>`;
  return `<li><details${isRoot || size <= LIMITS.open ? ' open' : ''}><summary>${summary}</summary>${list}</details></li>`;
}

/** JSON as a tree that folds. */
export const renderJson: Render = ({ text }) => ({
  html: `<ul class="json">${readValues(text)
    .shown.map((one) => formatValue(one, true))
    .join('')}</ul>`,
});
