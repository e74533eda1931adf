import { type DefaultTreeAdapterTypes as Dom, defaultTreeAdapter, type ParserOptions, parse } from 'parse5';

/** Elements that are open at once, far more than browsers nest. */
const DEEPEST = 2_048;

class TooManyError extends Error {}

/**
 * The tree of a page; `null` for one that is nested without end, or that makes the parser write more elements than it
 * has characters: each paragraph opens all formatting again that nobody has closed.
 */
export function parsePage(
  html: string,
  options: Pick<ParserOptions<Dom.DefaultTreeAdapterMap>, 'scriptingEnabled'> = {},
): Dom.Document | null {
  let [left, open] = [html.length + DEEPEST, 0];
  const refuse = (): never => {
    throw new TooManyError();
  };
  const treeAdapter: typeof defaultTreeAdapter = {
    ...defaultTreeAdapter,
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
    return parse(html, { ...options, treeAdapter });
  } catch (thrown) {
    if (thrown instanceof TooManyError) return null;
    throw thrown;
  }
}
