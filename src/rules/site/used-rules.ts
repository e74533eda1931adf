import { findFontUses } from '../page/css-references.ts';

/** What the pages of a site show of its style sheets. */
export interface RuleUse {
  /** Reads the text of a page or script that is loaded at the start. */
  readPage(text: string): void;
  /** Reads the text of a style sheet, or of a page with styles. */
  readStyles(text: string): void;
  /** Whether a rule may match something. */
  isUsed(rule: string): boolean;
}

const FONT = '@font-face';

/**
 * Decides whether rules of style sheets may match anything, so that a browser loads what they name: each class and
 * id of a selector must occur somewhere in a page or script, as must the rule that uses a font.
 *
 * @param rules the rules in question; only their names are looked for
 */
export function createRuleUse(rules: readonly string[]): RuleUse {
  const fontNames = rules.filter((rule) => rule.startsWith(FONT)).map(toFontName);
  const fontRules = new Map<string, Set<string>>(fontNames.map((name) => [name, new Set()]));
  const seen = new Set<string>();
  const isSelectorUsed = (selector: string): boolean => getNames(selector).every((name) => seen.has(name));
  const isAnyUsed = (rule: string): boolean => rule.split(',').some(isSelectorUsed);
  const addFontRule = (text: string, rule: string): void => {
    const lower = text.toLowerCase();
    for (const [name, users] of fontRules) if (lower.includes(name)) users.add(rule);
  };
  const readStyles = (text: string): void => {
    if (fontRules.size === 0) return;
    for (const { declaration, rule } of findFontUses(text)) addFontRule(declaration, rule);
  };
  return {
    readPage(text) {
      for (const [, styles = ''] of text.matchAll(STYLES)) readStyles(styles);
      const rest = text.replace(STYLES, '');
      for (const [word] of rest.matchAll(/[\w-]+/g)) if (word.length <= LONGEST_NAME) seen.add(word);
      if (fontRules.size > 0) addFontRule(rest, '');
    },
    readStyles,
    isUsed: (rule) =>
      rule.startsWith(FONT) ? [...(fontRules.get(toFontName(rule)) ?? [])].some(isAnyUsed) : isAnyUsed(rule),
  };
}

/** A rule of a font as the style sheet's reader names it. */
const toFontName = (rule: string): string => rule.slice(FONT.length).trim().toLowerCase();

/** The style sheets in a page. */
const STYLES = /<style\b[^>]*>([\s\S]*?)<\/style>/gi;

/** Longer words are data, not names, in characters. */
const LONGEST_NAME = 100;

/** The classes and ids of a selector, outside of `:not()`. */
function getNames(selector: string): readonly string[] {
  const plain = selector.replace(/:not\([^()]*\)|\[[^\]]*\]/g, '').replace(/\\(.)/g, '$1');
  return [...plain.matchAll(/[.#](-?[_a-z][\w-]*)/gi)].map(([, name = '']) => name);
}
