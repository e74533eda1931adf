import type { Token } from 'parse5';
import { shorten, toOneLine } from '../../plain-text.ts';

/** What is wrong with a file as a whole. */
export interface FormProblem {
  readonly kind: 'cut' | 'source';
  readonly line: number;
  readonly text: string;
  readonly hint: string;
}

/** How a line begins if a page was delivered as text: with a fence, or with its own escaped start. */
const SOURCE_TEXT = /^(?:```|<(?:!doctype|html)\b)/im;

/** A text after a page that somebody wrote, other than a stray sign or word. */
const WRITTEN_TEXT = /```|\p{L}\s+\p{L}/u;

/** Jekyll removes it. */
const FRONT_MATTER = /^---[ \t]*\r?\n/;

const PAGE_STARTS: ReadonlySet<string> = new Set(['html', 'head', 'body']);

/** Characters that matter of a text outside of the page. */
const LONGEST_TEXT = 2_000;

/** Judges how a page begins and ends, by what its parser reports. */
export class SourceForm {
  #where: 'before' | 'inside' | 'after' = 'before';
  /** The text before the first tag or after the page, and its line. */
  #outside = '';
  #outsideLine = 0;
  #hasText = false;
  #source: FormProblem | null = null;
  #open: { readonly name: string; readonly line: number } | null = null;
  /** Where the last token ended, as a line and in UTF-16 units; and the line of it if it is a comment, otherwise 0. */
  #lastLine = 1;
  #end = 0;
  #commentLine = 0;
  #commentEnd = '';

  addText({ chars, location }: Token.CharacterToken): void {
    this.#pass(location);
    // JSON escapes that nobody resolved are the first text of the page.
    if (this.#open === null && !this.#hasText && chars.trim() !== '') {
      this.#hasText = true;
      if (chars.startsWith('\\n')) this.#addSource(location?.startLine ?? 1, chars);
    }
    const isStart = this.#outside === '';
    if (this.#where === 'inside' || this.#outside.length > LONGEST_TEXT || (isStart && chars.trim() === ''))
      return;
    if (isStart) this.#outsideLine = location?.startLine ?? 1;
    this.#outside += chars.slice(0, LONGEST_TEXT);
  }

  addDoctype({ location }: Token.DoctypeToken): void {
    this.#pass(location);
    this.#judgeOutside(true);
  }

  addComment({ data, location }: Token.CommentToken): void {
    this.#pass(location);
    this.#commentLine = location?.startLine ?? 0;
    this.#commentEnd = data.slice(-1);
  }

  /** @param takesRest whether only its own end tag ends the element, so that it takes in all other tags */
  addTag({ tagName, location }: Token.TagToken, isStart: boolean, takesRest: boolean): void {
    this.#judgeOutside(isStart && PAGE_STARTS.has(tagName));
    this.#where = !isStart && tagName === 'html' ? 'after' : 'inside';
    this.#outside = '';
    this.#open = takesRest ? { name: `<${tagName}>`, line: location?.startLine ?? 1 } : null;
    this.#pass(location);
  }

  /** The problem, once the whole file was read. @param length of the file, in UTF-16 units @param tail its last characters */
  end(length: number, tail: string): FormProblem | null {
    this.#judgeOutside(false);
    const cut = this.#findCut(length, tail);
    if (cut === null) return this.#source;
    const text = `the file ends inside ${cut.name}, so it was cut short`;
    return { kind: 'cut', line: cut.line, text, hint: 'write the file again, with its end' };
  }

  #findCut(length: number, tail: string) {
    if (this.#open !== null) return { ...this.#open, name: `a ${this.#open.name} that begins here` };
    // Without an end, a comment has the last characters of the file. `<!x>` and `<?x>` end without dashes.
    if (this.#commentLine > 0 && !/--!?>$/.test(tail) && tail.endsWith(this.#commentEnd)) {
      return { name: 'a comment that begins here (<!--)', line: this.#commentLine };
    }
    // The parser drops a tag without an end.
    return this.#end === length ? null : { name: 'a tag', line: this.#lastLine };
  }

  #judgeOutside(isBeforePage: boolean): void {
    const text = this.#outside.trim();
    if (this.#where === 'after') {
      if (WRITTEN_TEXT.test(text)) this.#addSource(this.#outsideLine, text, 'after the page');
    } else if (text !== '' && !FRONT_MATTER.test(text) && (isBeforePage || SOURCE_TEXT.test(text))) {
      this.#addSource(this.#outsideLine, text);
    }
  }

  #addSource(line: number, seen: string, where = 'before the page, or in its place'): void {
    this.#source ??= {
      kind: 'source',
      line,
      text: `a person sees "${shorten(toOneLine(seen), 60)}" ${where}`,
      hint: 'write only the page into the file, from <!doctype html> to </html>: no fence, escapes or other words',
    };
  }

  #pass(location: Token.Location | null): void {
    this.#lastLine = location?.endLine ?? this.#lastLine;
    this.#end = location?.endOffset ?? this.#end;
    this.#commentLine = 0;
  }
}
