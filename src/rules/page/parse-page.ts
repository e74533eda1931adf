import { type DefaultTreeAdapterTypes as Dom, defaultTreeAdapter, type ParserOptions, parse } from 'parse5';

/** Elements that are open at once, far more than browsers nest. */
const DEEPEST = 2_048;

class TooManyError extends Error {}

/** The tree of a page as far as it was read, and whether that is all of it. */
export interface PageTree {
  readonly document: Dom.Document;
  readonly isComplete: boolean;
}

/**
 * Reads the tree of a page, up to where it is nested without end, or makes the parser write more elements than it has
 * characters: each paragraph opens all formatting again that nobody has closed.
 */
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
