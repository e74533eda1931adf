import { ErrorCodes, type ParserError, type Token } from 'parse5';
import { shorten, toOneLine } from '../../plain-text.ts';

/** What is wrong with a file as a whole, such as a page, a text or a picture. */
export interface FileProblem {
  readonly kind: 'cut' | 'source' | 'broken' | 'encoding';
  /** 0 if the text names it. */
  readonly line: number;
  readonly text: string;
  readonly hint?: string;
  /** Whether only its reader can tell if it is wrong. */
  readonly isOpen?: boolean;
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

/** How the parser says that a file ends within something, and what ends it. */
const CUTS: Readonly<Record<string, readonly [name: string, end: string]>> = {
  [ErrorCodes.eofInTag]: ['tag', 'the missing quotation mark or >'],
  [ErrorCodes.eofInComment]: ['comment (<!--)', '-->'],
};

/** How a page ends that was not cut short. */
const PAGE_END = /<\/(?:body|html)\s*>\s*$/i;
const END_LENGTH = 200;

/** Elements without an end tag, or with an optional one. */
const WITHOUT_END =
  /^(?:area|base|basefont|bgsound|br|col|embed|frame|hr|img|input|keygen|link|meta|param|source|track|wbr|html|head|body|li|dt|dd|p|rt|rp|optgroup|option|colgroup|caption|thead|tbody|tfoot|tr|td|th)$/;

/** A limit for hostile pages: deeper elements are not followed. */
const DEEPEST = 256;

/** Judges how a page begins and ends, by what its parser reports. */
export class SourceForm {
  #where: 'before' | 'inside' | 'after' = 'before';
  /** The text before the page's first element or after the page, and its line. */
  #outside = '';
  #outsideLine = 0;
  #source: FileProblem | null = null;
  readonly #doubts: FileProblem[] = [];
  /** The last element that takes in the rest of the file until it ends. */
  #open = '';
  #openLine = 1;
  #cut: readonly [name: string, end: string] | undefined;
  /** The end of the source. */
  #rest = '';
  /** Whether `<html>` or `<body>` is open; `undefined` before. */
  #isPageOpen: boolean | undefined;
  readonly #openElements: { readonly name: string; readonly line: number }[] = [];
  /** Where the last token ended: the parser drops a tag without an end. */
  #lastLine = 1;

  addSource(piece: string): void {
    this.#rest = (this.#rest + piece.slice(-END_LENGTH)).slice(-END_LENGTH);
  }

  addText({ chars, location }: Token.CharacterToken): void {
    this.#lastLine = location?.endLine ?? 1;
    const before = /^(?:script|style)$/.test(this.#open) ? chars : chars.replace(/\ufffd.*/s, '');
    if (before !== chars) this.#addMisread((location?.startLine ?? 1) + before.split('\n').length - 1);
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
    this.#lastLine = (this.#cut === undefined ? location?.endLine : location?.startLine) ?? 1;
  }

  /** @param takesRest whether only its own end tag ends the element, so that it takes in all other tags */
  addTag(token: Token.TagToken, isStart: boolean, takesRest: boolean): void {
    const { tagName, location } = token;
    this.#follow(token, isStart);
    const isPageStart = isStart && PAGE_STARTS.has(tagName);
    this.#judgeOutside(isPageStart);
    if (!isStart && tagName === 'html') this.#where = 'after';
    else if (!isPageStart || this.#where === 'after') this.#where = 'inside';
    this.#outside = '';
    this.#open = takesRest ? tagName : '';
    this.#openLine = location?.startLine ?? 1;
    this.#lastLine = location?.endLine ?? 1;
  }

  addCutPicture(line: number): void {
    const text = 'the picture in this `data:` URL has no end, so a part of it is missing';
    this.#addDoubt({ kind: 'cut', line, text, hint: 'write the picture again' });
  }

  #addMisread(line: number): void {
    const text = 'a person sees � in the text, where letters were lost';
    this.#addDoubt({ kind: 'encoding', line, text, hint: 'write the text again, as UTF-8' });
  }

  #addDoubt(doubt: FileProblem): void {
    if (!this.#doubts.some(({ text }) => text === doubt.text)) this.#doubts.push({ ...doubt, isOpen: true });
  }

  addError({ code }: ParserError): void {
    this.#cut ??= CUTS[code];
  }

  /** The problems, once the whole file was read. */
  end(): readonly FileProblem[] {
    this.#judgeOutside(false);
    const problem = this.#judgeEnd() ?? this.#source;
    this.#judgeOpenElement();
    return problem === null ? this.#doubts : [problem];
  }

  #judgeEnd(): FileProblem | null {
    const open = this.#open;
    const [name, end] = open === '' ? (this.#cut ?? []) : [`<${open}>`, `</${open}>`];
    if (name === undefined) return null;
    const line = open === '' ? this.#lastLine : this.#openLine;
    if (PAGE_END.test(this.#rest)) {
      const hint = `add ${end}; if the file was cut short, write it again`;
      return { kind: 'broken', line, text: `the ${name} that begins here is never closed`, hint };
    }
    const text = `it ends inside the ${name} of line ${line}`;
    return { kind: 'cut', line: 0, text, hint: 'write the file again, with its end' };
  }

  /** Only a page that also lacks the end tag of `<html>` or `<body>` may be cut short: minifiers leave out both. */
  #judgeOpenElement(): void {
    const { name, line = 1 } = this.#openElements.at(-1) ?? {};
    if (name === undefined || this.#isPageOpen !== true) return;
    const text = `the <${name}> that begins here is open where the file ends, so the file may have been cut short`;
    this.#addDoubt({ kind: 'cut', line, text, hint: `add </${name}>, or write the file again` });
  }

  /** Follows the elements that only an end tag ends: their own, or the one of an element around them. */
  #follow({ tagName: name, location, selfClosing }: Token.TagToken, isStart: boolean): void {
    if (name === 'html' || name === 'body') this.#isPageOpen = isStart && this.#isPageOpen !== false;
    if (WITHOUT_END.test(name) || selfClosing) return;
    const open = this.#openElements;
    const known = isStart ? -1 : open.findLastIndex((one) => one.name === name);
    if (known !== -1) open.length = known;
    if (isStart && open.length < DEEPEST) open.push({ name, line: location?.startLine ?? 1 });
  }

  #judgeOutside(isBeforePage: boolean): void {
    const text = this.#outside.trim();
    const isAfter = this.#where === 'after';
    const isPage = FRONT_MATTER.test(text) || !(isBeforePage || SOURCE_TEXT.test(text));
    if (text === '' || (isAfter ? !WRITTEN_TEXT.test(text) : isPage)) return;
    this.#source ??= {
      kind: 'source',
      line: this.#outsideLine,
      text: `a person sees this ${isAfter ? 'after' : 'before'} the page: ${shorten(toOneLine(text), 60)}`,
      hint: 'write only the page into the file, from <!doctype html> to </html>: no fence, escapes or other words',
    };
  }
}
