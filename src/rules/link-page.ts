import { shorten } from '../plain-text.ts';

/**
 * What a page of an environment's own link says of the file that it should show.
 *
 * @see design 5 (K4)
 */

/** A form to sign in, and a page that leads a browser to another one. */
const GATE =
  /<input\b[^<>]{0,1000}\btype\s{0,9}=\s{0,9}["']?password\b|<meta\b[^<>]{0,1000}\bhttp-equiv\s{0,9}=\s{0,9}["']?refresh\b/i;

/** Whether a page is shown before the content. A comment, a script or a text area may quote anything. */
export const isGatePage = (page: string): boolean =>
  GATE.test(splitMarkup(page).map(leaveOutQuoted).join(''));

const leaveOutQuoted = (part: string): string =>
  /^<(?:!--|(?:script|style|textarea|title)\b)/i.test(part) ? '' : part;

/**
 * What a host has added to a page.
 *
 * @param file the page as it was delivered, and as it is served; both as Latin-1 text of their bytes
 * @returns the names of the added elements and the beginnings of the added texts, in order; `null` unless the page has
 *   everything of the file, in the same order, and each addition closes what it opens, so that it hides nothing of it, and
 * none asks to sign in or leads elsewhere
 */
export function findAdditions(file: string, page: string): readonly string[] | null {
  const parts = splitMarkup(file);
  const runs: string[][] = [[]];
  let found = 0;
  for (const part of splitMarkup(page)) {
    if (part === parts[found]) {
      found += 1;
      runs.push([]);
    } else runs.at(-1)?.push(part);
  }
  if (found < parts.length || !runs.every((run) => isClosed(run) && !GATE.test(run.join('')))) return null;
  return [...new Set(runs.flat().map(nameAddition))].filter((name) => name !== '');
}

/** Tags, comments and texts, without space around them. */
function splitMarkup(page: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < page.length; ) {
    const end = findPartEnd(page, at);
    parts.push(page.slice(at, end).trim());
    at = end;
  }
  return parts.filter((part) => part !== '');
}

/** Elements that are taken as a whole: their content is no markup, or not shown. */
const WHOLE = /<(script|style|textarea|title|template|noscript|iframe|svg)\b/iy;

function findPartEnd(page: string, start: number): number {
  const after = (end: string): number => {
    const at = page.indexOf(end, start);
    return at === -1 ? page.length : at + end.length;
  };
  if (page[start] !== '<') {
    const next = page.indexOf('<', start);
    return next === -1 ? page.length : next;
  }
  if (page.startsWith('<!--', start)) return after('-->');
  WHOLE.lastIndex = start;
  const [, name] = WHOLE.exec(page) ?? [];
  if (name === undefined) return after('>');
  const end = new RegExp(`</${name}\\s*>`, 'gi');
  end.lastIndex = start;
  return end.test(page) ? end.lastIndex : page.length;
}

const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|html|head|body)$/;

/** Whether every element that is opened is closed again, and nothing else. */
function isClosed(run: readonly string[]): boolean {
  const open: string[] = [];
  for (const part of run) {
    if (part.startsWith('<!--') && !part.endsWith('-->')) return false;
    const [, slash, name = ''] = TAG.exec(part.toLowerCase()) ?? [];
    if (name === '' || VOID.test(name) || part.endsWith('/>')) continue;
    if (slash === '/') {
      if (open.pop() !== name) return false;
    } else if (!new RegExp(`</${name}\\s*>$`, 'i').test(part)) open.push(name);
  }
  return open.length === 0;
}

const TAG = /^<(\/?)([a-z][^\s/>]*)/i;

/** Characters of an added text that are shown. */
const SHOWN = 60;

function nameAddition(part: string): string {
  if (/^<[/!?]/.test(part)) return '';
  const [, , name] = TAG.exec(part) ?? [];
  const text = Buffer.from(part, 'latin1').toString().replace(/\s+/g, ' ');
  return name === undefined ? `“${shorten(text, SHOWN)}”` : `<${name.toLowerCase()}>`;
}
