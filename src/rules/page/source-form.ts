import { ErrorCodes, type ParserError, type Token } from 'parse5';
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

/** How the parser says that a file ends within something. */
const CUTS: Readonly<Record<string, string>> = {
  [ErrorCodes.eofInTag]: 'a tag',
  [ErrorCodes.eofInComment]: 'a comment that begins here (<!--)',
};

/** Judges how a page begins and ends, by what its parser reports. */
export class SourceForm {
  #where: 'before' | 'inside' | 'after' = 'before';
  /** The text before the page's first element or after the page, and its line. */
  #outside = '';
  #outsideLine = 0;
  #source: FormProblem | null = null;
  /** The last element or comment that takes in the rest of the file until it ends. */
  #open = '';
  #openLine = 1;
  #cut = '';
  /** Where the last token ended: the parser drops a tag without an end. */
  #lastLine = 1;

  addText({ chars, location }: Token.CharacterToken): void {
    this.#lastLine = location?.endLine ?? 1;
    const isStart = this.#outside === '';
    if (this.#where === 'inside' || this.#outside.length > LONGEST_TEXT || (isStart && chars.trim() === ''))
      return;
    if (isStart) this.#outsideLine = location?.startLine ?? 1;
    this.#outside += chars.slice(0, LONGEST_TEXT);
  }

  addDoctype({ location }: Token.DoctypeToken): void {
    this.#lastLine = location?.endLine ?? 1;
    this.#judgeOutside(true);
  }

  addComment({ location }: Token.CommentToken): void {
    this.#lastLine = (this.#cut === '' ? location?.endLine : location?.startLine) ?? 1;
  }

  /** @param takesRest whether only its own end tag ends the element, so that it takes in all other tags */
  addTag({ tagName, location }: Token.TagToken, isStart: boolean, takesRest: boolean): void {
    const isPageStart = isStart && PAGE_STARTS.has(tagName);
    this.#judgeOutside(isPageStart);
    if (!isStart && tagName === 'html') this.#where = 'after';
    else if (!isPageStart || this.#where === 'after') this.#where = 'inside';
    this.#outside = '';
    this.#open = takesRest ? `a <${tagName}> that begins here` : '';
    this.#openLine = location?.startLine ?? 1;
    this.#lastLine = location?.endLine ?? 1;
  }

  addError({ code }: ParserError): void {
    this.#cut ||= CUTS[code] ?? '';
  }

  /** The problem, once the whole file was read. */
  end(): FormProblem | null {
    this.#judgeOutside(false);
    const name = this.#open || this.#cut;
    if (name === '') return this.#source;
    const line = this.#open === '' ? this.#lastLine : this.#openLine;
    const text = `the file ends inside ${name}, so it was cut short`;
    return { kind: 'cut', line, text, hint: 'write the file again, with its end' };
  }

  #judgeOutside(isBeforePage: boolean): void {
    const text = this.#outside.trim();
    const isAfter = this.#where === 'after';
    const isPage = FRONT_MATTER.test(text) || !(isBeforePage || SOURCE_TEXT.test(text));
    if (text === '' || (isAfter ? !WRITTEN_TEXT.test(text) : isPage)) return;
    this.#source ??= {
      kind: 'source',
      line: this.#outsideLine,
      text: `a person sees "${shorten(toOneLine(text), 60)}" ${isAfter ? 'after the page' : 'before the page, or in its place'}`,
      hint: 'write only the page into the file, from <!doctype html> to </html>: no fence, escapes or other words',
    };
  }
}
