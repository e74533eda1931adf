import { laterGrade, type ReferenceGrade } from './addresses.ts';
import { gradeMedia } from './media-queries.ts';

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

/** Pseudo-classes that match only after a person did something, and pseudo-elements that only show up then. */
const AFTER_START =
  /:(?:hover|active|focus|focus-visible|focus-within|visited|target|fullscreen|-webkit-full-screen|popover-open|modal|user-invalid|user-valid|autofill|-webkit-autofill)\b|::?(?:selection|backdrop)\b/;

/** Rules whose content depends on the size of an element, on a moment, or on a browser of its own. */
const CONDITIONAL_RULES = /^@(?:container|starting-style|document|-moz-document)\b/i;

/** What current browsers with the widest use do not have, and what a condition asks for that is not there. */
const UNUSUAL_SUPPORT = /\bnot\b|-(?:moz|ms|o)-|-webkit-touch-callout/i;

/** When a browser uses what a rule with this prelude names. */
export function gradePrelude(prelude: string): ReferenceGrade {
  const [, media] = /^@media\b(.*)/is.exec(prelude) ?? [];
  if (media !== undefined) return gradeMedia(media);
  if (/^@page\b/i.test(prelude)) return 'later';
  if (CONDITIONAL_RULES.test(prelude)) return 'conditional';
  if (/^@supports\b/i.test(prelude)) return UNUSUAL_SUPPORT.test(prelude) ? 'conditional' : 'start';
  if (prelude === '' || prelude.startsWith('@')) return 'start';
  const selectors = prelude.replace(/:not\([^()]*\)/gi, '').split(',');
  return selectors.every((selector) => AFTER_START.test(selector)) ? 'later' : 'start';
}

/** When a browser uses a style sheet that is imported with these conditions. */
export function gradeImport(conditions: string): ReferenceGrade {
  const [supports = ''] = /\bsupports\((?:[^()]|\([^()]*\))*\)/i.exec(conditions) ?? [];
  const media = conditions.replace(supports, '').replace(/\blayer\b(?:\([^()]*\))?/i, '');
  return laterGrade(gradeMedia(media), gradePrelude(supports === '' ? '' : `@supports ${supports.slice(8)}`));
}

/** The name of a font's rule, and the characters that it is for, where it names them. */
export const formatFontRule = (name: string, range: string): string =>
  range === '' ? name : `${name}${RANGE_MARK}${range}`;

/** The same rule for all characters. */
export const withoutRange = (rule: string): string => rule.split(RANGE_MARK, 1)[0] ?? rule;

/**
 * The characters that a font's rule is for; `null` where it is for all.
 *
 * @returns pairs of the first and the last code point
 * @see https://drafts.csswg.org/css-fonts/#unicode-range-desc
 */
export function parseFontRange(rule: string): readonly (readonly [number, number])[] | null {
  const at = rule.indexOf(RANGE_MARK);
  if (at === -1) return null;
  return [...rule.slice(at).matchAll(/u\+([0-9a-f]*)(\?*)(?:-([0-9a-f]+))?/gi)].map(
    ([, digits = '', wild = '', last = digits + 'f'.repeat(wild.length)]) => [
      Number.parseInt(`0${digits}${wild.replaceAll('?', '0')}`, 16),
      Number.parseInt(`0${last}`, 16),
    ],
  );
}

const RANGE_MARK = '\n';
