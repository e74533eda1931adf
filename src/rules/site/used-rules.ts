import { parseFontRange, withoutRange } from '../page/css-grades.ts';
import { findFontUses } from '../page/css-references.ts';
import { readVisibleText } from '../page/visible-text.ts';

/** What the pages of a site show of its style sheets. */
export interface RuleUse {
  /** Reads the text of a page that is opened, or of a script or drawing that is loaded at the start. */
  readPage(text: string, isPage: boolean): void;
  /** Reads the text of a style sheet, or of a page with styles. */
  readStyles(text: string): void;
  /** Whether a rule may match something. */
  isUsed(rule: string): boolean;
}

const FONT = '@font-face';

/**
 * Decides whether rules of style sheets may match anything, so that a browser loads what they name: each class and
 * id of a selector must occur somewhere in a page or script, as must the rule that uses a font. A font for some
 * characters is used if a page shows one of them.
 *
 * @param rules the rules in question; only their names are looked for
 */
export function createRuleUse(rules: readonly string[]): RuleUse {
  const fontNames = rules.filter((rule) => rule.startsWith(FONT)).map(toFontName);
  const fontRules = new Map<string, Set<string>>(fontNames.map((name) => [name, new Set()]));
  const seen = new Set<string>();
  const hasRanges = rules.some((rule) => parseFontRange(rule) !== null);
  const characters = new Set<number>();
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
    readPage(text, isPage) {
      if (hasRanges && isPage) {
        for (const character of readVisibleText(text)) characters.add(character.codePointAt(0) ?? 0);
      }
      for (const [, styles = ''] of text.matchAll(STYLES)) readStyles(styles);
      const rest = text.replace(STYLES, '');
      for (const [word] of rest.matchAll(/[\w-]+/g)) if (word.length <= LONGEST_NAME) seen.add(word);
      if (fontRules.size > 0) addFontRule(rest, '');
    },
    readStyles,
    isUsed: (rule) =>
      rule.startsWith(FONT)
        ? isShown(rule, characters) && [...(fontRules.get(toFontName(rule)) ?? [])].some(isAnyUsed)
        : isAnyUsed(rule),
  };
}

/** A rule of a font as the style sheet's reader names it. */
const toFontName = (rule: string): string => withoutRange(rule).slice(FONT.length).trim().toLowerCase();

/** Whether any of the characters is one that the font is for. */
function isShown(rule: string, characters: ReadonlySet<number>): boolean {
  const ranges = parseFontRange(rule);
  if (ranges === null) return true;
  return [...characters].some((one) => ranges.some(([first, last]) => one >= first && one <= last));
}

/** The style sheets in a page. */
const STYLES = /<style\b[^>]*>([\s\S]*?)<\/style>/gi;

/** Longer words are data, not names, in characters. */
const LONGEST_NAME = 100;

/** The classes and ids of a selector, outside of `:not()`. */
function getNames(selector: string): readonly string[] {
  const plain = selector.replace(/:not\([^()]*\)|\[[^\]]*\]/g, '').replace(/\\(.)/g, '$1');
  return [...plain.matchAll(/[.#](-?[_a-z][\w-]*)/gi)].map(([, name = '']) => name);
}
