import { REPORT_LINES, RESULTS } from '../protocol/words.ts';

/** Letters of other alphabets that look like a letter of the report's words. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ...{ A: 'АΑᎪ', C: 'СϹᏟ', D: 'Ꭰ', E: 'ЕΕᎬ', I: 'ІΙӀᏆ', K: 'КΚᏦ', L: 'Ꮮ', M: 'МΜᎷ', N: 'Ν' },
  ...{ O: 'ОΟՕ0', R: 'ᎡᏒ', S: 'ЅᏚՏ', T: 'ТΤᎢ', U: 'ՍᏌ', W: 'ԜᏔ' },
  ...{ Г: 'ΓᎱ', О: 'OΟՕ0', Т: 'TΤᎢ', В: 'BΒᏴ' },
};

/** Where the copies of the Latin alphabet begin: full width, circled, squared, and those of mathematics. */
const ALPHABETS = [
  ...[0xff21, 0x24b6, 0x1f130, 0x1f150, 0x1f170],
  ...Array.from({ length: 26 }, (_, nth) => 0x1d400 + nth * 26),
];

/** One letter in any alphabet, with any marks. */
function anyForm(letter: string): string {
  const similar = LOOK_ALIKES[letter] ?? '';
  const copies = [letter, ...similar]
    .filter((one) => /[A-Z]/.test(one))
    .flatMap((one) =>
      ALPHABETS.map((start) => String.fromCodePoint(start + one.charCodeAt(0) - 'A'.charCodeAt(0))),
    );
  return `[${letter}${similar}${copies.join('')}]\\p{M}*`;
}

const anyFormOf = (word: string): string => Array.from(word, anyForm).join('');

const COLONS = ':\u02d0\u02f8\u0589\u05c3\u0703\u0704\u1803\u1809\u205a\u2236\ua789\ufe13\ufe30\ufe55\uff1a';

/** What is replaced, and by what: the name of each line of the report, as a line begins, and its result. */
const createReplacements = (): readonly { readonly pattern: RegExp; readonly replacement: string }[] => [
  ...REPORT_LINES.map((name) => ({
    pattern: new RegExp(`(?<![\\p{L}\\p{N}_])${anyFormOf(name)}[^\\S\\n]*[${COLONS}]`, 'gu'),
    replacement: `${name};`,
  })),
  { pattern: new RegExp(anyFormOf(RESULTS.ready), 'giu'), replacement: RESULTS.ready.toLowerCase() },
];

/** Large patterns: created with the first text, so not before the first request. */
let replacements: ReturnType<typeof createReplacements> | undefined;

/**
 * Text from outside (a host's message, a file's name) for use within a report: on one line, and without the
 * words by which a reader recognizes a line of the report or its result, in no letters that look like theirs.
 */
export function neutralizeText(text: string): string {
  const visible = text
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  replacements ??= createReplacements();
  return replacements.reduce(
    (clean, { pattern, replacement }) => clean.replace(pattern, replacement),
    visible,
  );
}
