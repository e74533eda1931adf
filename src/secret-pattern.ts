import { keepRecent } from './async.ts';

/** How a secret is found in a text, as what ordinary programs make of it. */
interface SecretPattern {
  /** Global; made for a text in which each character is one byte (Latin-1), and for any other text. */
  readonly regex: RegExp;
  /** Four characters or more each. Every match of usual lines has one within its first `KEYWORD_AREA` characters. */
  readonly keywords: readonly string[];
  isIn(text: string): boolean;
}

/** Of a longer secret only the end is searched: many begin alike, and the end is the signature. */
const SEARCHED_LENGTH = 96;

/** The longest text, in characters, that a match can have with usual line breaks. */
export const LONGEST_MATCH = 2_048;

/** How far from the beginning of a match its keyword may begin: after four characters, a line break and an indentation. */
export const KEYWORD_AREA = 64;

/** A job has some credentials, and each is looked for in many places. */
const RECENT_PATTERNS = 64;

/**
 * How to find a secret in a text: as it is; escaped by the usual functions for addresses, JSON and HTML; in UTF-16,
 * as hex, and as base64 in every alignment and both alphabets, in one line or several. Nothing else: any encoding can
 * be wrapped in another one.
 *
 * @see SECURITY.md
 */
export const createSecretPattern = keepRecent(RECENT_PATTERNS, (secret): SecretPattern => {
  const searched = secret.slice(-SEARCHED_LENGTH);
  const needles = [...new Set([...escapeText(searched), ...asHex(searched), inUtf16(searched)])];
  const cores = base64Cores(searched);
  // The first one that matches is taken: of a long secret that is there as it is, nothing stays.
  const forms = [
    ...[secret, ...needles].map((text) => Array.from(text, escapeRegex).join('')),
    ...cores.map((core) => Array.from(core, escapeRegex).join(LINE_BREAK)),
  ];
  const regex = new RegExp(forms.join('|'), 'g');
  return {
    regex,
    keywords: [...needles, ...cores.flatMap(splitStart)],
    isIn: (text) => text.search(regex) !== -1,
  };
});

const escapeRegex = (character: string): string => character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');

/** Between two characters of base64: a line break with indentation, plain or in a string of JSON. */
const LINE_BREAK = String.raw`(?:\s|\\[rn])*`;

type HtmlEscapes = Readonly<Record<string, string>>;

const HTML: HtmlEscapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** What a program writes in another way: a browser, most, Python and React, Go, and Mustache. */
const HTML_WRITERS: readonly HtmlEscapes[] = [
  { '"': '"' },
  {},
  { "'": '&#39;' },
  { "'": '&#x27;' },
  { '"': '&#34;', "'": '&#39;', '+': '&#43;' },
  { "'": '&#39;', '/': '&#x2F;', '`': '&#x60;', '=': '&#x3D;' },
];

const escapeHtml = (text: string, escapes: HtmlEscapes): string =>
  Array.from(text, (character) => escapes[character] ?? HTML[character] ?? character).join('');

/** The secret as it is, and as the usual functions for addresses, JSON and HTML write it. */
function escapeText(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    ...[secret, encodeURIComponent(secret), encodeURI(secret), json, json.replaceAll('/', '\\/')],
    ...HTML_WRITERS.map((escapes) => escapeHtml(secret, escapes)),
  ];
}

function asHex(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex');
  return [hex, hex.toUpperCase()];
}

/** Without the last byte, which comes before the first one in the other byte order. */
const inUtf16 = (secret: string): string => Buffer.from(secret, 'utf16le').toString('latin1').slice(0, -1);

/** Fewer characters of base64 occur by chance. */
const SHORTEST_CORE = 8;

/** The characters of base64 that depend on the secret alone, for each place in which it can begin, in both alphabets. */
function base64Cores(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
    const [start, end] = [Math.ceil((shift * 8) / 6), Math.floor((shifted.length * 8) / 6)];
    return [shifted.toString('base64').slice(start, end), shifted.toString('base64url').slice(start, end)];
  });
  return [...new Set(cores)].filter(({ length }) => length >= SHORTEST_CORE);
}

/** The first four characters and the next four: one of them is in one line, whatever the lines' length from eight on. */
const splitStart = (core: string): string[] => [core.slice(0, 4), core.slice(4, 8)];
