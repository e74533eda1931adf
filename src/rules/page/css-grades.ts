import type { ReferenceGrade } from './addresses.ts';

/** An address whose grade is set when its block ends. */
interface GradedAddress {
  grade: ReferenceGrade;
  readonly address: string;
}

/** One `url()` in the `src` of a `@font-face`. */
export interface FontSource<Found extends GradedAddress = GradedAddress> {
  readonly found: Found;
  /** What `format()` names, in lower case; empty without it. */
  format: string;
  /** Which declaration of the block it is part of. */
  readonly declaration: number;
}

/** Formats that no current browser loads. */
const OLD_FORMATS = new Set(['embedded-opentype', 'svg']);

/**
 * A browser takes the last `src` of a font, and in it the first format that it knows; all current ones know the
 * same formats. The others are there for old browsers.
 *
 * @see https://drafts.csswg.org/css-fonts/#src-desc
 */
export function gradeFontSources(sources: readonly FontSource[]): void {
  const declaration = sources.at(-1)?.declaration;
  const used = sources.find(
    (source) =>
      source.declaration === declaration &&
      !OLD_FORMATS.has(source.format) &&
      !/\.eot(?:[?#]|$)/i.test(source.found.address),
  );
  for (const source of sources) if (source !== used) source.found.grade = 'later';
}

/** Pseudo-classes that match only after a person did something, and what only a print-out has. */
const AFTER_START = /:(?:hover|active|focus|focus-visible|focus-within|visited|target)\b|::?selection\b/;

/** Whether what a rule with this prelude names is not used while a page opens on a screen. */
export function isLaterPrelude(prelude: string): boolean {
  const [, media] = /^@media\b(.*)/is.exec(prelude) ?? [];
  if (media !== undefined) {
    return media
      .split(',')
      .every((query) => /^\s*(?:only\s+)?(?:print|speech)\b|^\s*not\s+all\b/i.test(query));
  }
  if (/^@page\b/i.test(prelude)) return true;
  if (prelude === '' || prelude.startsWith('@')) return false;
  const selectors = prelude.replace(/:not\([^()]*\)/gi, '').split(',');
  return selectors.every((selector) => AFTER_START.test(selector));
}
