import { CsvError, parse } from 'csv-parse/sync';
import { faultError } from '../../errors.ts';
import { shorten } from '../../plain-text.ts';
import { createPageLimit, escapeHtml, formatRest, type Render } from './source.ts';

const LIMITS = { rows: 5_000, cells: 200_000, rowCharacters: 1_000_000, characters: 10_000 } as const;

const NUMBER = /^[-+]?\d[\d.,' ]*(e[-+]?\d+)?\s?%?$/i;

/** What separates the fields: what the first line has most. */
function findDelimiter(text: string): string {
  const [first = ''] = text.slice(0, LIMITS.characters).split('\n', 1);
  const count = (delimiter: string): number => first.split(delimiter).length;
  return [',', ';', '\t'].reduce((most, one) => (count(one) > count(most) ? one : most));
}

/** Reads the first rows, and counts all. @throws {DeliveryError} `BAD_FILE` if quotes don't match */
function readRows(
  text: string,
  isTsv: boolean,
): { readonly rows: readonly string[][]; readonly count: number } {
  const rows: string[][] = [];
  let [count, cells, line] = [0, 0, 0];
  const options = {
    delimiter: isTsv ? '\t' : findDelimiter(text),
    // A quote within a field has no meaning in TSV.
    relax_quotes: isTsv,
    relax_column_count: true,
    // Otherwise the parser would keep any number of empty fields.
    ignore_last_delimiters: LIMITS.cells,
    skip_empty_lines: true,
    max_record_size: LIMITS.rowCharacters,
    on_record: (row: string[], { lines }: { readonly lines: number }): null => {
      [count, cells, line] = [count + 1, cells + row.length, lines];
      if (rows.length <= LIMITS.rows && cells <= LIMITS.cells) rows.push(row);
      return null;
    },
  };
  try {
    parse(text, options);
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    const reason = thrown.code.replace('CSV_', '').replaceAll('_', ' ').toLowerCase();
    const isLong = thrown.code === 'CSV_MAX_RECORD_SIZE';
    const hint = isLong ? `split or shorten rows over ${LIMITS.rowCharacters} characters, and ` : '';
    throw faultError(`a row can't be read: ${reason}`, `${hint}close each quote`, line + 1);
  }
  return { rows, count };
}

/** CSV and TSV as a table whose first row stays in sight. */
export const renderTable: Render = ({ name, text }) => {
  const { rows, count } = readRows(text, /\.tsv$/i.test(name));
  const [head = [], ...body] = rows;
  const limited = createPageLimit();
  const isNumeric = head.map((_, column) => {
    const cells = body.flatMap(({ [column]: cell = '' }) => (cell === '' ? [] : cell));
    return cells.length > 0 && cells.every((cell) => NUMBER.test(cell));
  });
  const formatRow = (tag: string) => (row: readonly string[]) => {
    const cells = row.map((cell, column) => {
      const start = isNumeric[column] ? `<${tag} class="number">` : `<${tag}>`;
      return `${start}${escapeHtml(shorten(cell, LIMITS.characters))}</${tag}>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  };
  const table = `<table><thead>${formatRow('th')(head)}</thead><tbody>
${body.map((row) => limited(formatRow('td')(row))).join('\n')}
</tbody></table>`;
  return { html: `<div class="wide">${table}</div>${formatRest(count - rows.length, 'row')}` };
};
