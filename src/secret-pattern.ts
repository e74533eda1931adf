import { keepRecent } from './async.ts';

interface SecretPattern {
  /** Global; works for any text, also for bytes as Latin-1. */
  readonly regex: RegExp;
  /** At least four characters each. Every match in a text with usual lines contains a keyword. */
  readonly keywords: readonly string[];
  isIn(text: string): boolean;
}

/** Long secrets are searched by their end, the signature: many begin alike. */
const SEARCHED_LENGTH = 96;

/** The longest match, in characters, with usual line breaks. */
export const LONGEST_MATCH = 2_048;

/** A job has few credentials, each searched in many texts. */
const RECENT_PATTERNS = 64;

/**
 * Finds a secret as it is, escaped for URLs, JSON, scripts, HTML or XML, in UTF-16, as hex, and as base64 in every
 * alignment and alphabet. Nested encodings are not searched. @see SECURITY.md
 */
export const createSecretPattern = keepRecent(RECENT_PATTERNS, (secret): SecretPattern => {
  const searched = Array.from(secret).slice(-SEARCHED_LENGTH).join('');
  const parts = spell(searched);
  const needles = [...asHex(searched), ...asUtf16(searched)];
  const cores = base64Cores(searched);
  // The plain form first, so that a long secret is replaced as a whole.
  const forms = [
    toRegex(secret),
    parts.map((spellings) => `(?:${spellings.map(toRegex).join('|')})`).join(''),
    ...needles.map(toRegex),
    ...cores.map((core) => Array.from(core, toRegex).join(LINE_BREAK)),
  ];
  const regex = new RegExp(forms.join('|'), 'g');
  return {
    regex,
    keywords: [...findKeywords(parts), ...needles, ...cores.flatMap(splitStart)],
    isIn: (text) => text.search(regex) !== -1,
  };
});

const toRegex = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** A line break with indentation between characters of base64, plain or in JSON. */
const LINE_BREAK = String.raw`(?:\s|\\[rn])*`;

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

const hexOf = (character: string, digits = 2): string => codeOf(character).toString(16).padStart(digits, '0');
const codeOf = (character: string): number => character.codePointAt(0) ?? 0;

const XML: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** Before an escaped character: one in JSON, up to three in nested JSON. */
const BACKSLASHES = ['\\', '\\\\', '\\\\\\'];

const ESCAPES: readonly ((character: string) => string)[] = [
  (character) => character,
  (character) => `%${hexOf(character)}`,
  ...BACKSLASHES.flatMap((before) => [
    (character: string) => before + character,
    (character: string) => `${before}u${hexOf(character, 4)}`,
    (character: string) => `${before}x${hexOf(character)}`,
  ]),
  ...['', '0', '00', '000', '0000', '00000'].flatMap((zeros) => [
    (character: string) => `&#${zeros}${codeOf(character)};`,
    (character: string) => `&#x${zeros}${hexOf(character)};`,
    (character: string) => `&#X${zeros}${hexOf(character)};`,
  ]),
  (character) => (character in XML ? `&${XML[character]};` : character),
];

/** A text escaped in each way, by characters, UTF-16 units and UTF-8 bytes. */
function escapesOf(text: string): string[] {
  const units = [Array.from(text), text.split(''), Array.from(Buffer.from(text).toString('latin1'))];
  const all = units.flatMap((characters) => ESCAPES.map((write) => characters.map(write).join('')));
  return unique(
    all.flatMap((escaped) => [escaped, escaped.replace(/[a-f\d]{2,}/g, (hex) => hex.toUpperCase())]),
  );
}

/**
 * The parts of a secret, each in all spellings. Letters and digits are never escaped. Backslashes are separate parts,
 * so that a text matches in one way only and the search stays linear.
 */
const spell = (secret: string): string[][] =>
  [...secret.matchAll(/(\\*)([^\\]|$)/gu)].flatMap(([, backslashes = '', sign = '']) => {
    if (backslashes === '' && /^[a-z\d]?$/i.test(sign)) return [[sign]];
    const before = escapesOf(backslashes).flatMap((escaped) =>
      ['', ...BACKSLASHES].map((more) => escaped + more),
    );
    return [unique(before), unique(escapesOf(sign).map((escaped) => escaped.replace(/^\\+/, '')))];
  });

/** Fewer characters may form a common word. */
const KEYWORD_LENGTH = 6;

/** Finds the fewest texts so that each spelling contains one; usually a single text near the end. */
function findKeywords(parts: readonly (readonly string[])[]): string[] {
  const inBytes = parts.map((spellings) => spellings.filter((spelling) => !/[^\0-\xff]/.test(spelling)));
  let fewest: string[] = [];
  for (let at = parts.length - 1; at >= 0 && fewest.length !== 1; at -= 1) {
    const found = beginningsOf(inBytes.slice(at, at + 2 * KEYWORD_LENGTH));
    const isLong = found.every(({ length }) => length === KEYWORD_LENGTH);
    if (isLong && (fewest.length === 0 || found.length < fewest.length)) fewest = found;
  }
  return fewest;
}

const beginningsOf = (parts: readonly (readonly string[])[]): string[] =>
  parts.reduce<string[]>(
    (found, part) => {
      const extend = (text: string) => part.map((spelling) => (text + spelling).slice(0, KEYWORD_LENGTH));
      return unique(found.flatMap((text) => (text.length === KEYWORD_LENGTH ? text : extend(text))));
    },
    [''],
  );

function asHex(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex');
  return [hex, hex.toUpperCase()];
}

function asUtf16(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf16le');
  return [bytes.toString('latin1'), bytes.swap16().toString('latin1')];
}

/** Fewer characters of base64 occur by chance. */
const SHORTEST_CORE = 8;

/** The base64 characters that depend on the secret alone, for each alignment and alphabet. */
function base64Cores(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
    const [start, end] = [Math.ceil((shift * 8) / 6), Math.floor((shifted.length * 8) / 6)];
    return [shifted.toString('base64').slice(start, end), shifted.toString('base64url').slice(start, end)];
  });
  return unique(cores).filter(({ length }) => length >= SHORTEST_CORE);
}

/** Lines of eight or more characters keep at least one of two groups of four unbroken. */
const splitStart = (core: string): string[] => [core.slice(0, 4), core.slice(4, 8)];
