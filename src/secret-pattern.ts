import { keepRecent } from './recent-values.ts';
import { DUMP_END, DUMP_LINE, DUMP_POSITION, dumpForms, uuencodedForms } from './secret-dumps.ts';

/** How a secret is found in a text, in every usual encoding. */
export interface SecretPattern {
  /**
   * Global; made for a text in which each character is one byte (Latin-1), and for any other text. It is large, so
   * it is compiled only when it is used: a text without any keyword needs no search.
   */
  readonly regex: RegExp;
  /** Every match begins with one of these, of four characters or more. */
  readonly keywords: readonly string[];
  /** Whether a match begins at this position of the text. */
  isAt(text: string, position: number): boolean;
  /** Whether a match begins anywhere in the text; looks only where a keyword begins. */
  isIn(text: string): boolean;
}

/**
 * Of a longer secret, such as a signed token, only the end is searched: the beginning of many is the same, and
 * the end is the signature.
 */
const SEARCHED_LENGTH = 96;

/** The longest text, in characters, that a match can have with usual line breaks. */
export const LONGEST_MATCH = 2_048;

/** A job has few credentials, and each is looked for in many places. */
const RECENT_PATTERNS = 16;

/**
 * How to find a secret in a text: plain or with any of its characters escaped (percent, quoted-printable, HTML,
 * JSON, JavaScript), in UTF-16, as hex, and as base64 in every alignment and alphabet, in one line or several.
 */
export const createSecretPattern = (secret: string): SecretPattern =>
  getPattern(secret.slice(-SEARCHED_LENGTH));

const getPattern = keepRecent(RECENT_PATTERNS, buildPattern);

function buildPattern(searched: string): SecretPattern {
  const encodings = base64Cores(searched);
  let keywords: readonly string[] | undefined;
  let prefixes: ReadonlySet<string> | undefined;
  let regex: RegExp | undefined;
  let sticky: RegExp | undefined;
  let stickyStart: RegExp | undefined;
  return {
    get regex() {
      regex ??= compilePattern(searched, encodings);
      return regex;
    },
    get keywords() {
      keywords ??= listKeywords(searched, encodings);
      return keywords;
    },
    isAt(text, position) {
      // Nearly every keyword is there by chance: the beginning shows it, and needs little memory.
      stickyStart ??= compileStart(searched, encodings);
      stickyStart.lastIndex = position;
      if (!stickyStart.test(text)) return false;
      sticky ??= new RegExp(this.regex, 'y');
      sticky.lastIndex = position;
      return sticky.test(text);
    },
    isIn(text) {
      // No encoding is shorter than what it encodes.
      if (text.length < searched.length) return false;
      prefixes ??= new Set(this.keywords.map((keyword) => keyword.slice(0, KEYWORD_LENGTH)));
      for (let at = 0; at + KEYWORD_LENGTH <= text.length; at += 1) {
        if (prefixes.has(text.slice(at, at + KEYWORD_LENGTH)) && this.isAt(text, at)) return true;
      }
      return false;
    },
  };
}

function listKeywords(searched: string, encodings: readonly string[]): readonly string[] {
  const keywords = [
    ...escapedKeywords(searched),
    ...hexKeywords(searched),
    ...decimalKeywords(searched),
    ...dumpForms(searched).keywords,
    ...uuencodedForms(utf8CoresOf(encodings)).keywords,
    ...encodings.flatMap(base64Keywords),
  ];
  return [...new Set(keywords)];
}

function compilePattern(searched: string, encodings: readonly string[], flags = 'g'): RegExp {
  const forms = [
    joinEscaped(searched),
    hexPattern(searched),
    // Of the last line of a dump, the characters at its end are part of the secret too.
    `${hexPattern(searched, `${DUMP_LINE}|`)}${DUMP_END}`,
    decimalPattern(searched),
    ...dumpForms(searched).createPatterns(),
    ...uuencodedForms(utf8CoresOf(encodings)).createPatterns(),
    ...encodings.map((core) => Array.from(core, base64Character).join(BASE64_BREAK)),
  ];
  return new RegExp(forms.join('|'), flags);
}

/** How many characters of a secret, and of each of its encodings, tell whether it may begin here. */
const START_LENGTH = 8;

/** Matches where every match of the whole pattern begins, and at few places more. */
const compileStart = (searched: string, encodings: readonly string[]): RegExp =>
  compilePattern(
    searched.slice(0, START_LENGTH),
    // In uuencode a match may begin after the first signs: as many must be left.
    encodings.map((core) => core.slice(0, START_LENGTH + KEYWORD_LENGTH)),
    'y',
  );

/** Finds one secret in short texts. */
export interface SecretMatcher {
  /** Whether the text contains the secret, in any usual encoding. */
  isIn(text: string): boolean;
  replaceIn(text: string, replacement: string): string;
}

export function createSecretMatcher(secret: string): SecretMatcher {
  const pattern = createSecretPattern(secret);
  return {
    isIn: (text) => text.includes(secret) || pattern.isIn(text),
    replaceIn(text, replacement) {
      const clean = text.replaceAll(secret, replacement);
      return pattern.isIn(clean) ? clean.replaceAll(pattern.regex, replacement) : clean;
    },
  };
}

const escapeRegex = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Two hex digits in small and capital letters. */
const hexOf = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, '0');
const anyCaseHex = (character: string): string =>
  hexOf(character).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

const ENTITY_NAMES: Readonly<Record<string, string>> = {
  _: 'lowbar',
  '.': 'period',
  '/': 'sol',
  '+': 'plus',
  '=': 'equals',
  '-': 'hyphen',
  '~': 'tilde',
};

/** Where a string of a program ends and the next one goes on. */
const NEXT_STRING = String.raw`["'\x60][\s+.,&]*["'\x60]`;

/** What cannot be seen in a page: a place for a line break, as a tag, an entity or a character. */
const UNSEEN = String.raw`<wbr\s?\/?>|&(?:shy|ZeroWidthSpace|#8203|#173);|\u200b|\xe2\x80\x8b|\u00ad|\xc2\xad`;

/**
 * Between two characters: the other bytes of UTF-16 or UTF-32, a line break with indentation, a control character or
 * what replaces it, or a break that belongs to no text.
 */
const CHARACTER_BREAK = String.raw`(?:[\0-\x20\x7f]+(?:${DUMP_POSITION})?|=\r?\n|\\\r?\n|${NEXT_STRING}|${UNSEEN})?`;

/** One character, plain or escaped. */
function escapedCharacter(character: string): string {
  const hex = anyCaseHex(character);
  const code = character.charCodeAt(0);
  const name = ENTITY_NAMES[character];
  return `(?:${[
    String.raw`\\{0,2}${escapeRegex(character)}`,
    `(?:%|&#37;|&#[xX]25;)(?:25)*${hex}`,
    `%u00${hex}`,
    `=${hex}`,
    `&(?:amp;)?#(?:0*${code}|[xX]0*${hex});?`,
    String.raw`\\{1,8}(?:(?:u00|U0{6}|x)${hex}|u\{0*${hex}\}|0?${code.toString(8)})`,
    // As CSS writes it; a space may follow.
    String.raw`\\{1,2}0*${hex}`,
    ...(name === undefined ? [] : [`&${name};`]),
  ].join('|')})`;
}

const joinEscaped = (secret: string): string => Array.from(secret, escapedCharacter).join(CHARACTER_BREAK);

/**
 * Hex digits in one run, in UTF-16, or between the separators of a list.
 *
 * @param lines what else may be between them, as an alternative that ends in `|`
 */
const hexPattern = (secret: string, lines = ''): string =>
  Array.from(secret, (character) => {
    const [first = '', second = ''] = anyCaseHex(character).match(/\d|\[..\]/g) ?? [];
    return `(?:0[xX]|\\\\x)?${first}\\0?${second}`;
  }).join(String.raw`(?:00)?(?:${lines}[\s\0:,;._|/-]*)`);

/** A list of numbers, as programs print bytes. */
const decimalPattern = (secret: string): string =>
  `(?<!\\d)${Array.from(secret, (character) => character.charCodeAt(0)).join(String.raw`[\s\0,;]+`)}(?!\\d)`;

/** Between two characters of base64: a line break, plain or escaped, with indentation, or with the sign of a comment. */
const BASE64_BREAK = String.raw`(?:[\s\0]|(?<=\s)(?:[#>*]|\/\/)|\\{1,2}[rn]|%0[aAdD]|=\r?\n|<br\s?\/?>|${NEXT_STRING})*`;

/** The two alphabets of base64 differ in two characters. */
function base64Character(character: string): string {
  if (character === '+') return String.raw`(?:\+|-|%2[bB]|&(?:#43|#[xX]2[bB]|plus);|\\(?:u00|x)2[bB])`;
  if (character === '/') return String.raw`(?:\\?\/|_|%2[fF]|&(?:#47|#[xX]2[fF]|sol);|\\(?:u00|x)2[fF])`;
  return character;
}

/**
 * The characters of base64 that depend on the secret alone, for each of the three places in which it can begin,
 * in UTF-8, in UTF-16, and as base64 of base64.
 */
function base64Cores(secret: string): string[] {
  const inUtf8 = coresOf(Buffer.from(secret));
  // The last byte of UTF-16 is not part of it where the first one of each pair is zero.
  const inUtf16 = coresOf(Buffer.from(secret, 'utf16le').subarray(0, -1));
  const once = inUtf8.flatMap((core) => [core, toUrlSafe(core)]);
  const twice = [...new Set(once)].flatMap((core) => coresOf(Buffer.from(core)));
  return [...inUtf8, ...inUtf16, ...twice].filter(({ length }) => length >= SHORTEST_CORE);
}

const toUrlSafe = (core: string): string => core.replaceAll('+', '-').replaceAll('/', '_');

const coresOf = (bytes: Buffer): string[] =>
  [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });

/** The first three. */
const utf8CoresOf = (encodings: readonly string[]): readonly string[] => encodings.slice(0, 3);

/** Fewer characters of base64 occur by chance. */
const SHORTEST_CORE = 8;

const KEYWORD_LENGTH = 4;

/**
 * How every text begins that a list of alternatives for each character can form. Plain loops: every run begins with
 * them, before the code is compiled.
 *
 * @param longest the longest keyword; longer ones are cut
 */
function keywordsOf(
  alternatives: readonly (readonly string[])[],
  longest = Number.POSITIVE_INFINITY,
): ReadonlySet<string> {
  const keywords = new Set<string>();
  let starts = new Set(['']);
  for (const options of alternatives) {
    const longer = new Set<string>();
    for (const start of starts) {
      for (const option of options) {
        const text = (start + option).slice(0, longest);
        (text.length < KEYWORD_LENGTH ? longer : keywords).add(text);
      }
    }
    starts = longer;
  }
  return keywords;
}

function escapedKeywords(secret: string): string[] {
  const characters = Array.from(secret.slice(0, KEYWORD_LENGTH + 1), (character) => {
    const hex = hexOf(character);
    const code = character.charCodeAt(0);
    const escapes = [hex, hex.toUpperCase()].flatMap((digits) => [
      ...[`%${digits}`, `%25${digits}`, `%2525`, `=${digits}`, `&#x${digits}`, `&#X${digits}`],
      ...[`\\u00${digits}`, `\\x${digits}`, `\\\\x${digits}`, `\\U00`, `%u00${digits}`, `\\0${digits}`],
      ...[`\\${digits}\\`, `\\${digits} `, '\\000', '&#37', '&#x25', '&#X25'],
    ]);
    const others = [
      ...[`&#${code}`, '&#00', `&#0${code}`, '&#x0', '&#X0', '&amp', '\\u{0', `\\u{${hex}`],
      ...['\\\\u0', '\\\\U0', '\\\\u{', '\\\\\\'],
      ...[`\\${code.toString(8)}`, `\\0${code.toString(8)}`, `\\\\${code.toString(8)}`, '\\\\0'],
      ...[`\\${character}`, `\\\\${character}`, `&${ENTITY_NAMES[character] ?? '#'}`],
    ];
    return [
      character,
      `${character}\0`,
      `${character}\0\0\0`,
      `${character} `,
      `${character}   `,
      `${character}\n00`,
      `${character}=\n`,
      `${character}=\r`,
      ...escapes,
      ...others,
    ];
  });
  return [...keywordsOf(characters)];
}

function hexKeywords(secret: string): string[] {
  const characters = Array.from(secret.slice(0, KEYWORD_LENGTH), (character) =>
    [hexOf(character), hexOf(character).toUpperCase()].flatMap((hex) => [
      ...['', ' ', '  ', ':', '-', ',', ';', '.', '_', '|', '/', '00'].map((separator) => hex + separator),
      ...[
        `${hex}\n0`,
        `${hex}\r\n`,
        `${hex}\n`,
        `${hex}\r`,
        Array.from(hex, (digit) => `${digit}\0`).join(''),
      ],
    ]),
  );
  const first = hexOf(secret);
  const prefixed = [first, first.toUpperCase()].flatMap((hex) => [`0x${hex}`, `0X${hex}`, `\\x${hex}`]);
  return [...keywordsOf(characters), ...prefixed];
}

function decimalKeywords(secret: string): string[] {
  const [first = 0, second = 0] = Array.from(secret, (character) => character.charCodeAt(0));
  const separators = [',', ', ', ' ', ',\0', ';'].map((separator) => `${first}${separator}${second}`);
  return [...separators, `${first},\n`, `${first},\r`, `${first}\n`].map((keyword) =>
    keyword.padEnd(KEYWORD_LENGTH),
  );
}

function base64Keywords(core: string): string[] {
  const lineBreaks = ['\n', '\r\n'].flatMap((line) =>
    ['', ' ', '  ', '\t', '\t\t'].map((indent) => line + indent),
  );
  const pieces = ['\n# ', '\n> ', '\n//', '" +', '",\n', '"\n ', "' +", "',\n", "'\n ", '<br'];
  const breaks = ['', '\0', '\\n', '\\r', '\\\\', '%0', ...lineBreaks, ...pieces];
  const alphabets: Readonly<Record<string, readonly string[]>> = {
    '+': ['+', '-', '%2b', '%2B', '&#4', '&#x2', '&#X2', '&plus', '\\u0', '\\x2'],
    '/': ['/', '\\/', '_', '%2f', '%2F', '&#4', '&#x2', '&#X2', '&sol', '\\u0', '\\x2'],
  };
  const characters = Array.from(core.slice(0, KEYWORD_LENGTH), (character) =>
    (alphabets[character] ?? [character]).flatMap((written) => breaks.map((after) => written + after)),
  );
  // Longer ones would be many, and hardly rarer.
  return [...keywordsOf(characters, KEYWORD_LENGTH)];
}
