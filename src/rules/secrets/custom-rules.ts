import { isMixed } from '../../credentials.ts';

/** A secret that a rule found. Only its fingerprint is ever printed. */
export interface SecretMatch {
  readonly rule: string;
  readonly secret: string;
  readonly from: number;
  readonly at: number;
}

/** Finds secrets of one kind. Patterns have bounded length, so hostile text takes linear time. */
type FindMatches = (text: string) => Iterable<Omit<SecretMatch, 'rule'>>;

const QUOTE = String.raw`(?:\\?["'\x60]|&quot;|&#3[49];)`;
/** Separates a header name and its value: in HTTP, JSON, YAML, code, a HAR file, escaped or not. */
const SEPARATOR = String.raw`${QUOTE}?\s{0,40}(?:[:=]|,(?:\s{0,40}${QUOTE}value${QUOTE}\s{0,40}:)?)\s{0,40}${QUOTE}?`;

const COOKIE_HEADER = new RegExp(
  String.raw`\bcookie${SEPARATOR}((?:="|[^\0-\x1f\x7f-\xff"'\x60<>\\&]|&(?!quot;|#3[49];)){1,4096})`,
  'dgi',
);
const COOKIE_PAIR = /(?:^|;)\s{0,4}([^\s=;]{1,128})="?([^\s;,"]{1,4096})/dg;
const SESSION_NAME = /sess|sid\b|auth|token|jwt|login|remember/i;
const JWT = /^eyJ[\w-]{8,}\.eyJ[\w-]{8,}\./;

/** Session values in `Cookie:` and `Set-Cookie:` headers and in `document.cookie`. */
function* findCookies(text: string): ReturnType<FindMatches> {
  for (const header of text.matchAll(COOKIE_HEADER)) {
    const start = getGroupStart(header, 1);
    for (const pair of (header[1] ?? '').matchAll(COOKIE_PAIR)) {
      const [, name = '', value = ''] = pair;
      if (!JWT.test(value) && !(SESSION_NAME.test(name) && isToken(value))) continue;
      yield { secret: value, from: header.index, at: start + getGroupStart(pair, 2) };
    }
  }
}

function isBasicLogin(basic: string): boolean {
  const text = Buffer.from(basic, 'base64').toString('utf8');
  const [, password = ''] = /^[^:\p{Cc}\ufffd]*:([^\p{Cc}\ufffd]*)$/u.exec(text) ?? [];
  return isPassword(password);
}

const KEY_HEADER =
  /-----BEGIN ?(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|\bPrivate-Lines: ?\d{1,4}/g;
const LINE_BREAK = /["'`]\s{0,40}\+\s{0,40}["'`]|\\{1,2}[nrt]|<br ?\/?>|&#(?:1[03]|x0?[ad]);|&quot;|%0[ad]/gi;
const KEY_ATTRIBUTES = /^\s*(?:[A-Z][A-Za-z-]{1,20}: [^\n]{0,200}\n\s*){0,8}/;
const BETWEEN_KEY_LINES = /[\s"'`,>#*|\\]+/g;
/** Characters of a key that are read. Keys of the same kind share their beginning, so the limits exceed it. */
const KEY_LENGTH = { raw: 2_048, shortest: 60, longest: 1_024 } as const;

/** Private keys in PEM (plain, encrypted, OpenSSH, PGP) and PuTTY format, unless they are shortened. */
function* findPrivateKeys(text: string): ReturnType<FindMatches> {
  for (const header of text.matchAll(KEY_HEADER)) {
    const begin = header.index + header[0].length;
    const lines = text.slice(begin, begin + KEY_LENGTH.raw).replace(LINE_BREAK, '\n');
    const body = lines.replace(KEY_ATTRIBUTES, '').replace(BETWEEN_KEY_LINES, '');
    const [key = ''] = /^[A-Za-z0-9+/=]*/.exec(body) ?? [];
    if (key.length < KEY_LENGTH.shortest || new Set(key).size < 16) continue;
    yield { secret: key.slice(0, KEY_LENGTH.longest), from: header.index, at: header.index };
  }
}

const URL_PASSWORD =
  /(?<=[a-z0-9+.-]):(?:\\?\/){2}([^\0-\x20\x7f/?#@:"'`<>\\]{0,256}):([^\0-\x20\x7f/?#"'`<>\\]{1,256})@(\[[0-9a-f:.]{2,45}\]|[\w.-]{1,253})/dgi;

function* findUrlPasswords(text: string): ReturnType<FindMatches> {
  for (const address of text.matchAll(URL_PASSWORD)) {
    const [, user = '', password = '', host = ''] = address;
    if (!isPassword(password) || RESERVED_HOST.test(host)) continue;
    yield { secret: `${user}:${password}@${host}`, from: address.index, at: getGroupStart(address, 1) };
  }
}

const GAP = String.raw`(?:\s|\\[nrt]){1,40}`;

const authorization = (scheme: string): RegExp =>
  new RegExp(
    String.raw`\bauthorization${SEPARATOR}(?:${scheme})(?:\s|%20|\+){1,4}([\w.~+/=-]{8,4096})`,
    'dgi',
  );

const REGISTRY_AUTH = new RegExp(
  String.raw`(?:\b_auth["']?\s{0,4}[:=]|\bauth${QUOTE}\s{0,40}:)\s{0,40}${QUOTE}?([A-Za-z0-9+/=_-]{8,4096})`,
  'dg',
);

const NETRC = new RegExp(
  String.raw`\bmachine${GAP}[\w.-]{1,253}(?:${GAP}(?:login|account)${GAP}[^\s\\]{1,256}){1,2}${GAP}password${GAP}([^\s"'<>\\]{4,256})`,
  'dg',
);

const findGroup = (pattern: RegExp, accepts: (secret: string) => boolean): FindMatches =>
  function* (text) {
    for (const match of text.matchAll(pattern)) {
      const [, secret = ''] = match;
      if (accepts(secret)) yield { secret, from: match.index, at: getGroupStart(match, 1) };
    }
  };

const getGroupStart = (match: RegExpExecArray, group: number): number =>
  match.indices?.[group]?.[0] ?? match.index;

const RULES: readonly (readonly [rule: string, find: FindMatches])[] = [
  ['cookie', findCookies],
  ['private-key', findPrivateKeys],
  ['url-password', findUrlPasswords],
  ['authorization', findGroup(authorization('bearer|token'), isToken)],
  ['authorization', findGroup(authorization('basic'), isBasicLogin)],
  // The preset knows only refresh tokens of 36 characters.
  ['github-refresh', findGroup(/(?<![A-Za-z0-9])(ghr_[A-Za-z0-9]{76})(?![A-Za-z0-9])/dg, isToken)],
  // `_authToken` and `_auth` of an `.npmrc`; `auths` of Docker's `config.json`.
  ['registry-login', findGroup(/_authToken["']?\s{0,4}[:=]\s{0,4}["']?([\w.~+/=-]{16,512})/dg, isToken)],
  ['registry-login', findGroup(REGISTRY_AUTH, isBasicLogin)],
  ['netrc', findGroup(NETRC, isPassword)],
];

/** Runs the custom rules with these names on a text. @see protocol 1 (file rules: secrets) */
export const findCustomMatches = (text: string, rules: ReadonlySet<string>): readonly SecretMatch[] =>
  RULES.filter(([rule]) => rules.has(rule)).flatMap(([rule, find]) =>
    Array.from(find(text), (match) => ({ rule, ...match })),
  );

/** Words in placeholders. No word begins with another, so a text splits in only one way. */
const PLACEHOLDER_WORDS = [
  ...['access', 'admin', 'api', 'auth', 'bar', 'baz', 'bearer', 'change', 'cookie', 'credential', 'demo'],
  ...['dummy', 'enter', 'example', 'fake', 'foo', 'goes', 'guest', 'here', 'hidden', 'host', 'id', 'insert'],
  ...['key', 'local', 'login', 'masked', 'me', 'my', 'name', 'pass', 'placeholder', 'pwd', 'redacted'],
  ...['removed', 'replace', 'root', 'sample', 'secret', 'session', 'some', 'string', 'test', 'the', 'this'],
  ...['token', 'user', 'value', 'wd', 'with', 'word', 'x', 'your'],
];
const ONLY_WORDS = new RegExp(
  String.raw`^[\W\d_]{0,4}(?:(?:${PLACEHOLDER_WORDS.join('|')})[\W\d_]{0,4})+$`,
  'i',
);

/** Template syntax, or an ellipsis (also its UTF-8 bytes read as Latin-1). */
const TEMPLATE = /\{[^}]*\}|<[^>]*>|\[[^\]]*\]|&lt;|^\$[\w(]|^%[\w]+%$|\*{3}|\.{3}|…|â\x80¦/;

/** Hosts that are reserved for documentation and tests. @see RFC 2606 */
const RESERVED_HOST = /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid)\.?$/i;

/** Whether a value is clearly not a secret: `password`, `<token>`, `${TOKEN}`, `***`, one character ten times. */
export function isPlaceholder(value: string): boolean {
  if (new Set(value).size < 4 || /(.)\1{9}/s.test(value) || TEMPLATE.test(value)) return true;
  return value.length <= 64 && ONLY_WORDS.test(value);
}

function isPassword(value: string): boolean {
  return value.length >= 4 && !isPlaceholder(value);
}

/** Whether a value was probably generated by a machine: long, mixed, and not a placeholder. */
function isToken(value: string): boolean {
  return value.length >= 16 && isMixed(value) && !isPlaceholder(value);
}
