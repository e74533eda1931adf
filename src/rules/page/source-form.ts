import type { Token } from 'parse5';

/** What is wrong with a file as a whole. */
export interface FormProblem {
  readonly kind: 'cut' | 'source';
  readonly line: number;
  readonly text: string;
  readonly hint: string;
}

/** Elements that end at their end tag alone: without it they take in the rest of the file. */
const TEXT_ONLY: ReadonlySet<string> = new Set(['script', 'style', 'title', 'textarea']);

/** How the text of a page begins if the page was delivered as text: a fence, or its own escaped start. */
const SOURCE_TEXT = /^(?:```|<(?:!doctype|html)\b)/i;

/** Jekyll removes it. */
const FRONT_MATTER = /^---[ \t]*\r?\n/;

const PAGE_STARTS: ReadonlySet<string> = new Set(['html', 'head', 'body']);

/** Characters of a text before the first tag that matter. */
const LONGEST_LEAD = 2_000;

/** Judges how a page begins and ends, by what its parser reports. */
export class SourceForm {
  /** The text before the first tag, and its line. */
  #lead = '';
  #leadLine = 0;
  #hasTag = false;
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
    if (this.#hasTag || this.#lead.length > LONGEST_LEAD || (this.#lead === '' && chars.trim() === ''))
      return;
    this.#leadLine ||= location?.startLine ?? 1;
    this.#lead += chars.slice(0, LONGEST_LEAD);
  }

  addDoctype({ location }: Token.DoctypeToken): void {
    this.#pass(location);
    if (!this.#hasTag) this.#judgeLead(true);
  }

  addComment({ data, location }: Token.CommentToken): void {
    this.#pass(location);
    this.#commentLine = location?.startLine ?? 0;
    this.#commentEnd = data.slice(-1);
  }

  /** @param isForeign whether the tag is in a drawing or formula, where these elements hold tags */
  addTag({ tagName, location }: Token.TagToken, isStart: boolean, isForeign: boolean): void {
    if (!this.#hasTag) this.#judgeLead(isStart && PAGE_STARTS.has(tagName));
    this.#hasTag = true;
    const takesRest = isStart && !isForeign && TEXT_ONLY.has(tagName);
    this.#open = takesRest ? { name: `<${tagName}>`, line: location?.startLine ?? 1 } : null;
    this.#pass(location);
  }

  /** The problem, once the whole file was read. @param length of the file, in UTF-16 units @param tail its last characters */
  end(length: number, tail: string): FormProblem | null {
    if (!this.#hasTag) this.#judgeLead(false);
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

  #judgeLead(isBeforePage: boolean): void {
    const lead = this.#lead.trim();
    if (lead === '' || FRONT_MATTER.test(lead) || !(isBeforePage || SOURCE_TEXT.test(lead))) return;
    this.#addSource(this.#leadLine, lead);
  }

  #addSource(line: number, seen: string): void {
    this.#source ??= {
      kind: 'source',
      line,
      text: `a person sees ${JSON.stringify(seen.slice(0, 60))} before the page, or in its place`,
      hint: 'write only the page into the file: it begins with <!doctype html>, without a fence, escapes or words before it',
    };
  }

  #pass(location: Token.Location | null): void {
    this.#lastLine = location?.endLine ?? this.#lastLine;
    this.#end = location?.endOffset ?? this.#end;
    this.#commentLine = 0;
  }
}
