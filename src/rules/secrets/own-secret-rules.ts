import { isPassword, isReservedHost, isToken } from './placeholders.ts';

/** A secret that a rule saw in a text. Never shown: only its fingerprint is. */
export interface SecretMatch {
  readonly rule: string;
  readonly secret: string;
  /** Where what gave it away begins, and where the secret itself does. */
  readonly from: number;
  readonly at: number;
}

/** Finds secrets of one kind in a text. Every pattern is bounded, so that hostile text takes linear time. */
type FindMatches = (text: string) => Iterable<Omit<SecretMatch, 'rule'>>;

const QUOTE = String.raw`(?:\\?["'\x60]|&quot;|&#3[49];)`;
/** Between a header's name and its value: in HTTP, JSON, YAML, code, a HAR file, escaped or not. */
const IS = String.raw`${QUOTE}?\s{0,40}(?:[:=]|,(?:\s{0,40}${QUOTE}value${QUOTE}\s{0,40}:)?)\s{0,40}${QUOTE}?`;

const COOKIES = new RegExp(
  String.raw`\bcookie${IS}((?:="|[^\r\n"'\x60<>\\&]|&(?!quot;|#3[49];)){1,4096})`,
  'dgi',
);
const COOKIE = /(?:^|;)\s{0,4}([^\s=;]{1,128})="?([^\s;,"]{1,4096})/dg;
const SESSION_NAME = /sess|sid\b|auth|token|jwt|login|remember/i;
const JWT = /^eyJ[\w-]{8,}\.eyJ[\w-]{8,}\./;

/** `Cookie:` and `Set-Cookie:` headers, and `document.cookie`, with the value of a session. */
function* cookies(text: string): ReturnType<FindMatches> {
  for (const header of text.matchAll(COOKIES)) {
    const start = startOf(header, 1);
    for (const pair of (header[1] ?? '').matchAll(COOKIE)) {
      const [, name = '', value = ''] = pair;
      if (!JWT.test(value) && !(SESSION_NAME.test(name) && isToken(value))) continue;
      yield { secret: value, from: header.index, at: start + startOf(pair, 2) };
    }
  }
}

const AUTHORIZATION = new RegExp(
  String.raw`\bauthorization${IS}(bearer|token|basic)(?:\s|%20|\+){1,4}([\w.~+/=-]{8,4096})`,
  'dgi',
);

/** `Authorization:` headers with a bearer token, or with a name and password. */
function* authorization(text: string): ReturnType<FindMatches> {
  for (const header of text.matchAll(AUTHORIZATION)) {
    const [, scheme = '', secret = ''] = header;
    const real = scheme.toLowerCase() === 'basic' ? isPassword(passwordOf(secret)) : isToken(secret);
    if (real) yield { secret, from: header.index, at: startOf(header, 2) };
  }
}

function passwordOf(basic: string): string {
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(basic, 'base64').toString('utf8')) ?? [];
  return password;
}

const KEY_HEADER =
  /-----BEGIN ?(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|\bPrivate-Lines: ?\d{1,4}/g;
/** Ways in which code, JSON and HTML write a line break or join two lines. */
const LINE_BREAK = /["'`]\s{0,40}\+\s{0,40}["'`]|\\{1,2}[nrt]|<br ?\/?>|&#(?:1[03]|x0?[ad]);|&quot;|%0[ad]/gi;
const KEY_ATTRIBUTES = /^\s*(?:[A-Z][A-Za-z-]{1,20}: [^\n]{0,200}\n\s*){0,8}/;
const BETWEEN_KEY_LINES = /[\s"'`,>#*|\\]+/g;
/** How much of a key is read: more than any kind's common beginning. */
const KEY = { raw: 2_048, shortest: 60, longest: 1_024 } as const;

/** Private keys in PEM (plain, encrypted, OpenSSH, PGP) and PuTTY's form; a shortened one is none. */
function* privateKeys(text: string): ReturnType<FindMatches> {
  for (const header of text.matchAll(KEY_HEADER)) {
    const begin = header.index + header[0].length;
    const lines = text.slice(begin, begin + KEY.raw).replace(LINE_BREAK, '\n');
    const body = lines.replace(KEY_ATTRIBUTES, '').replace(BETWEEN_KEY_LINES, '');
    const [key = ''] = /^[A-Za-z0-9+/=]*/.exec(body) ?? [];
    if (key.length < KEY.shortest || new Set(key).size < 16) continue;
    yield { secret: key.slice(0, KEY.longest), from: header.index, at: header.index };
  }
}

const URL_PASSWORD =
  /(?<=[a-z0-9+.-]):(?:\\?\/){2}([^\s/?#@:"'`<>\\]{0,256}):([^\s/?#"'`<>\\]{1,256})@(\[[0-9a-f:.]{2,45}\]|[\w.-]{1,253})/dgi;

/** Passwords in addresses of any scheme. */
function* urlPasswords(text: string): ReturnType<FindMatches> {
  for (const address of text.matchAll(URL_PASSWORD)) {
    const [, user = '', password = '', host = ''] = address;
    if (!isPassword(password) || isReservedHost(host)) continue;
    yield { secret: `${user}:${password}@${host}`, from: address.index, at: startOf(address, 1) };
  }
}

const NPM_TOKEN = /_authToken["']?\s{0,4}[:=]\s{0,4}["']?([\w.~+/=-]{16,512})/dg;

/** The line of an `.npmrc`, in any file. */
function* npmTokens(text: string): ReturnType<FindMatches> {
  for (const line of text.matchAll(NPM_TOKEN)) {
    const secret = line[1] as string;
    if (isToken(secret)) yield { secret, from: line.index, at: startOf(line, 1) };
  }
}

const startOf = (match: RegExpExecArray, group: number): number => match.indices?.[group]?.[0] ?? match.index;

const RULES: Readonly<Record<string, FindMatches>> = {
  cookie: cookies,
  authorization,
  'private-key': privateKeys,
  'url-password': urlPasswords,
  'npm-auth-token': npmTokens,
};

/**
 * What our own rules of these names see in a text.
 *
 * @see protocol 1 (file rules: secrets)
 */
export function findOwnMatches(text: string, rules: ReadonlySet<string>): SecretMatch[] {
  return Object.entries(RULES).flatMap(([rule, find]) =>
    rules.has(rule) ? Array.from(find(text), (seen) => ({ rule, ...seen })) : [],
  );
}

/** The head of a PKCS#12 file: a sequence, version 3, and content of a PKCS#7 type. */
const PKCS12 = /^30(?:..){1,5}?02010330(?:..){1,5}?06092a864886f70d0107/;

/** A whole file that holds keys, known by its first bytes. @see RFC 7292 */
export function keyContainer(head: Buffer): SecretMatch | null {
  if (!PKCS12.test(head.toString('hex', 0, 64))) return null;
  return { rule: 'private-key', secret: head.toString('latin1'), from: 0, at: 0 };
}
