/** A pair of brackets that is open, or the script itself. */
interface CodeFrame {
  /** The bracket that opened it; empty for the script. */
  readonly open: '' | '{' | '(' | '[';
  /** Whether statements are in it, not expressions. */
  readonly hasStatements: boolean;
  /** Whether it is the body of a function, or the script itself: `return` leaves it. */
  readonly isBody: boolean;
  /** Whether the code in it runs while the script is loaded, as far as its place tells. */
  runs: boolean;
  /** Whether the next token begins a statement, apart from signs such as `!`. */
  isFresh: boolean;
  /** Whether such a sign came before: a function after it is an expression. */
  hasSign: boolean;
  /** Whether the statement declares a function. */
  isDeclaration: boolean;
  /** Whether the rest of the statement may not run: after `if`, `else`, `for`, `case`. */
  isConditional: boolean;
  /** The same for the rest of an expression: after `?`, `&&`, `||`, `=>`. */
  isSkippable: boolean;
  /** For a parenthesis: whether what is in it begins with a function that is called at once. */
  readonly mayCallAtOnce: boolean;
  /** For a parenthesis: the word before it, such as `if`. */
  readonly head: string;
}

/** Words after which the rest of a statement may not run. */
const CONDITIONAL_WORDS = new Set('if else for while do switch case try catch finally with class'.split(' '));

/** Words that end a function early, so that what follows may not run. */
const EXITS = new Set(['return', 'throw', 'break', 'continue']);

/** Words and signs before an expression that is evaluated all the same. */
const NEUTRAL = new Set(['!', '+', '-', '~', 'void', 'await', 'async']);

/** Words before a `{` that begins statements. */
const BLOCK_WORDS = new Set(['else', 'do', 'try', 'finally', 'static']);

/** Words and marks after which an expression must follow, so that a line break ends no statement. */
const NEEDS_MORE =
  /^(?:[({[,;:=!~+\-*/%&|^<>?.]|await|void|typeof|new|in|of|instanceof|return|throw|else|do|async|import|export|from|default|const|let|var|delete|extends|case|function|class)$/;

/**
 * Follows the tokens of a script and says which code certainly runs when the script is loaded: statements at the top
 * level and in functions that are called at once, without a condition before them. Anything it can't be sure of
 * counts as code that may run later.
 */
export class ScriptFlow {
  readonly #frames: CodeFrame[] = [createFrame({ runs: true, hasStatements: true, isBody: true })];
  #previous = '';
  #beforePrevious = '';
  /** The word before the parenthesis that was closed last; empty for none. */
  #closedHead = '';
  /** Whether the next function body is called at once. */
  #isCalledAtOnce = false;

  /** Whether code at the current place runs at the start. */
  get runsNow(): boolean {
    const { runs, isConditional, isSkippable } = this.#top;
    return runs && !isConditional && !isSkippable;
  }

  get #top(): CodeFrame {
    return this.#frames.at(-1) as CodeFrame;
  }

  /**
   * Reads the next token.
   *
   * @param text a word or mark; empty for a string
   * @param isAfterLineBreak whether a line break is between it and the token before
   */
  read(text: string, isAfterLineBreak: () => boolean): void {
    const top = this.#top;
    if (isAfterLineBreak() && this.#mayEndStatement(top, text)) startStatement(top);
    if (text !== '{' && this.#isArrow) {
      this.#isCalledAtOnce = false;
      top.isSkippable = true;
    }
    if (text === '{' || text === '(' || text === '[') this.#open(text);
    else if (text === '}' || text === ')' || text === ']') this.#close(text);
    else this.#readInside(top, text);
    this.#beforePrevious = this.#previous;
    this.#previous = text;
  }

  /** A value cannot follow a value, so a line break between them ends the statement. */
  #mayEndStatement({ hasStatements, isFresh }: CodeFrame, text: string): boolean {
    if (!hasStatements || isFresh) return false;
    if (NEEDS_MORE.test(this.#previous)) return false;
    if (this.#previous === ')' && CONDITIONAL_WORDS.has(this.#closedHead)) return false;
    return text === '' || /^[\w$\\]/.test(text);
  }

  #readInside(top: CodeFrame, text: string): void {
    if (text === ';') startStatement(top);
    else if (text === ',') top.isSkippable = false;
    else if (EXITS.has(text) && this.#previous !== '.') this.#exit();
    else if (CONDITIONAL_WORDS.has(text) && this.#previous !== '.') top.isConditional = true;
    else if (text === '?' || (text === this.#previous && (text === '&' || text === '|')))
      top.isSkippable = true;
    else if (text === '>' && this.#previous === '=') this.#readArrow(top);
    else if (text === 'function') {
      const isFresh = top.isFresh;
      this.#isCalledAtOnce = isFresh && (top.mayCallAtOnce || (top.hasStatements && top.hasSign));
      top.isDeclaration = isFresh && top.hasStatements && !top.hasSign;
    }
    if (NEUTRAL.has(text)) top.hasSign ||= text !== 'async';
    else if (text !== ';') top.isFresh = false;
  }

  #readArrow(top: CodeFrame): void {
    this.#isCalledAtOnce = top.mayCallAtOnce && !top.isSkippable;
    if (!this.#isCalledAtOnce) top.isSkippable = true;
  }

  #exit(): void {
    for (let at = this.#frames.length - 1; at >= 0; at -= 1) {
      const frame = this.#frames[at] as CodeFrame;
      frame.runs = false;
      if (frame.isBody) return;
    }
  }

  #open(open: '{' | '(' | '['): void {
    const top = this.#top;
    const runs = this.runsNow;
    if (open === '{') this.#openBraces(top, runs);
    else {
      const mayCallAtOnce = open === '(' && top.hasStatements && top.isFresh;
      this.#frames.push(createFrame({ open, runs, mayCallAtOnce, head: this.#previous, isFresh: true }));
    }
    top.isFresh = false;
  }

  #openBraces(top: CodeFrame, runs: boolean): void {
    const isFunction = (this.#previous === ')' && !CONDITIONAL_WORDS.has(this.#closedHead)) || this.#isArrow;
    const isBlock =
      this.#previous === ')' || BLOCK_WORDS.has(this.#previous) || (top.hasStatements && top.isFresh);
    if (isFunction) {
      const isCalled = this.#isCalledAtOnce;
      this.#isCalledAtOnce = false;
      this.#frames.push(
        createFrame({ open: '{', runs: isCalled && runs, hasStatements: true, isBody: true }),
      );
    } else this.#frames.push(createFrame({ open: '{', runs, hasStatements: isBlock }));
  }

  get #isArrow(): boolean {
    return this.#previous === '>' && this.#beforePrevious === '=';
  }

  #close(mark: string): void {
    if (this.#frames.length === 1) return;
    const { hasStatements, isBody, head } = this.#frames.pop() as CodeFrame;
    const top = this.#top;
    this.#closedHead = mark === ')' ? head : '';
    const endsStatement = hasStatements && (!isBody || top.isDeclaration);
    if (mark === '}' && endsStatement && top.hasStatements) startStatement(top);
  }
}

function createFrame(fields: Partial<CodeFrame>): CodeFrame {
  return {
    open: '',
    hasStatements: false,
    isBody: false,
    runs: false,
    isFresh: fields.hasStatements === true,
    hasSign: false,
    isDeclaration: false,
    isConditional: false,
    isSkippable: false,
    mayCallAtOnce: false,
    head: '',
    ...fields,
  };
}

function startStatement(frame: CodeFrame): void {
  frame.isFresh = frame.hasStatements;
  frame.hasSign = false;
  frame.isDeclaration = false;
  frame.isConditional = false;
  frame.isSkippable = false;
}
