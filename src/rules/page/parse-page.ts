import { type DefaultTreeAdapterTypes as Dom, defaultTreeAdapter, type ParserOptions, parse } from 'parse5';

const DEEPEST = 2_048;

class TooManyError extends Error {}

export interface PageTree {
  readonly document: Dom.Document;
  readonly isComplete: boolean;
}

/** Parses a page until it is nested too deeply, or has too many elements: paragraphs reopen unclosed formatting. */
export function parsePage(
  html: string,
  options: Pick<ParserOptions<Dom.DefaultTreeAdapterMap>, 'scriptingEnabled'> = {},
): PageTree {
  let [left, open] = [html.length + DEEPEST, 0];
  const document = defaultTreeAdapter.createDocument();
  const refuse = (): never => {
    throw new TooManyError();
  };
  const treeAdapter: typeof defaultTreeAdapter = {
    ...defaultTreeAdapter,
    createDocument: () => document,
    createElement(...given) {
      left -= 1;
      return left < 0 ? refuse() : defaultTreeAdapter.createElement(...given);
    },
    onItemPush() {
      open += 1;
      if (open > DEEPEST) refuse();
    },
    onItemPop() {
      open -= 1;
    },
  };
  try {
    parse(html, { ...options, treeAdapter });
    return { document, isComplete: true };
  } catch (thrown) {
    if (thrown instanceof TooManyError) return { document, isComplete: false };
    throw thrown;
  }
}
