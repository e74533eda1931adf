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

/** Jekyll takes it away. */
const FRONT_MATTER = /^---\s/;

/** Characters of a text before the first tag that matter. */
const LONGEST_LEAD = 200;

/** Judges how a page begins and ends, by what its parser reports. */
export class SourceForm {
  /** The text before the first tag, and its line. */
  #lead = '';
  #leadLine = 0;
  #hasTag = false;
  #source: FormProblem | null = null;
  #open: { readonly name: string; readonly line: number } | null = null;
  /** Where the last token ended, as a line and in UTF-16 units; and the line of it if it is a comment, otherwise 0. */
  #lastLine = 1;
  #end = 0;
  #commentLine = 0;

  addText({ chars, location }: Token.CharacterToken): void {
    this.#pass(location);
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
    if (!data.startsWith('?')) this.#commentLine = location?.startLine ?? 0;
  }

  addTag({ tagName, selfClosing, location }: Token.TagToken, isStart: boolean): void {
    if (!this.#hasTag) this.#judgeLead(isStart && tagName === 'html');
    this.#hasTag = true;
    const takesRest = isStart && !selfClosing && TEXT_ONLY.has(tagName);
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
    if (this.#commentLine > 0 && !/--!?>$/.test(tail)) {
      return { name: 'a comment that begins here (<!--)', line: this.#commentLine };
    }
    // The parser drops a tag without an end.
    return this.#end === length ? null : { name: 'a tag', line: this.#lastLine };
  }

  #judgeLead(isBeforePage: boolean): void {
    const lead = this.#lead.trim();
    if (lead === '' || FRONT_MATTER.test(lead) || !(isBeforePage || SOURCE_TEXT.test(lead))) return;
    this.#source ??= {
      kind: 'source',
      line: this.#leadLine,
      text: `a person sees ${JSON.stringify(lead.slice(0, 60))} before the page, or in its place`,
      hint: 'write only the page into the file: it begins with <!doctype html>, without a fence, escapes or words before it',
    };
  }

  #pass(location: Token.Location | null): void {
    this.#lastLine = location?.endLine ?? this.#lastLine;
    this.#end = location?.endOffset ?? this.#end;
    this.#commentLine = 0;
  }
}
