import { AnsiUp } from 'ansi_up';
import { shorten } from '../../plain-text.ts';
import { createPageLimit, formatRest, type Render } from './source.ts';

/** A log's end matters most, so a long one shows both ends. */
const LIMITS = { first: 5_000, last: 20_000, characters: 10_000, block: 20_000 } as const;

const END = String.raw`(?:\x07|\x1b\\)`;

/** A link that the library reads. */
const LINK = String.raw`\x1b\]8;[ -:<-~]*;https?:[!-~]{0,500}${END}[ -~]+\x1b\]8;;${END}`;

/** Web links to keep; otherwise what a line overwrites, other links, titles and further commands. */
const COMMANDS = new RegExp(String.raw`^.*(?:\r|\x1b\[1?G)|(${LINK})|\x1b[\]PX^_][^\x07\x1b]*${END}`, 'gs');

/** Colors the lines of a terminal; what a carriage return overwrites is not shown. */
function colorLines(lines: readonly string[]): string[] {
  const terminal = new AnsiUp();
  terminal.use_classes = true;
  terminal.faintStyle = 'opacity:0.85';
  // Without a prototype, so that no name of one is a scheme.
  terminal.url_allowlist = { __proto__: null, http: 1, https: 1 };
  const limited = createPageLimit();
  return lines.map((line) => {
    const shown = shorten(line.trimEnd().replace(COMMANDS, '$1'), LIMITS.characters);
    // The line feed ends a broken escape sequence.
    return limited(terminal.ansi_to_html(`${shown}\n`).replace(/\n(<\/span>)?$/, '$1'));
  });
}

/** What a terminal shows, with its colors; empty if it shows nothing. */
export function terminalBlock(text: string): string {
  const whole = text.replace(/^\s*\n/, '').trimEnd();
  const shown = shorten(whole, LIMITS.block);
  // The sign for more stands for at least one character.
  const rest = shown === whole ? 0 : whole.length - shown.length + 1;
  return shown === ''
    ? ''
    : `<pre>${colorLines(shown.split('\n')).join('\n')}</pre>${formatRest(rest, 'character')}`;
}

/** Logs and plain text, with a link for each line. */
export const renderLog: Render = ({ text }) => {
  const [first, last]: [string[], string[]] = [[], []];
  let count = 0;
  // All lines of a file of empty lines would not limited into memory.
  for (let [start, end] = [0, 0]; start < text.length; start = end + 1, count += 1) {
    end = text.indexOf('\n', start);
    if (end === -1) end = text.length;
    (count < LIMITS.first ? first : last).push(text.slice(start, end));
    if (last.length === 2 * LIMITS.last) last.splice(0, LIMITS.last);
  }
  const tail = last.slice(-LIMITS.last);
  const formatLine = (html: string, number: number): string =>
    `<div id="L${number}"><a href="#L${number}">${number}</a>${html}</div>`;
  const format = (part: readonly string[], before: number): string =>
    colorLines(part)
      .map((html, index) => formatLine(html, before + index + 1))
      .join('\n');
  const rest = formatRest(count - first.length - tail.length, 'line');
  return {
    html: `<div class="lines">${format(first, 0)}${rest}${format(tail, count - tail.length)}</div>`,
  };
};
