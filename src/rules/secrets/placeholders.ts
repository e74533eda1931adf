/** Words that stand in for a secret; none begins with another, so that a text splits in one way only. */
const WORDS = [
  ...['access', 'admin', 'api', 'auth', 'bar', 'baz', 'bearer', 'change', 'cookie', 'credential', 'demo'],
  ...['dummy', 'enter', 'example', 'fake', 'foo', 'goes', 'guest', 'here', 'hidden', 'host', 'id', 'insert'],
  ...['key', 'local', 'login', 'masked', 'me', 'my', 'name', 'pass', 'placeholder', 'pwd', 'redacted'],
  ...['removed', 'replace', 'root', 'sample', 'secret', 'session', 'some', 'string', 'test', 'the', 'this'],
  ...['token', 'user', 'value', 'wd', 'with', 'word', 'x', 'your'],
];
const ONLY_WORDS = new RegExp(String.raw`^[\W\d_]{0,4}(?:(?:${WORDS.join('|')})[\W\d_]{0,4})+$`, 'i');

/** Marks of a template or of something left out. */
const TEMPLATE = /\{[^}]*\}|<[^>]*>|\[[^\]]*\]|&lt;|^\$[\w(]|^%[\w]+%$|\*{3}|\.{3}|…/;

const RESERVED_HOST = /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid)\.?$/i;

/** A host that can't be anybody's. @see RFC 2606 */
export const isReservedHost = (host: string): boolean => RESERVED_HOST.test(host);

/** One character ten times over: no random value has that. */
export const isFilledUp = (value: string): boolean => /(.)\1{9}/s.test(value);

/** Whether a value plainly stands in for a secret: `password`, `<token>`, `${TOKEN}`, `***`. */
export function isPlaceholder(value: string): boolean {
  if (new Set(value).size < 4 || isFilledUp(value) || TEMPLATE.test(value)) return true;
  return value.length <= 64 && ONLY_WORDS.test(value);
}

/** Whether somebody could log in with it. */
export const isPassword = (value: string): boolean => value.length >= 4 && !isPlaceholder(value);

/** Whether it was drawn by a machine: long, mixed, and no placeholder. */
export function isToken(value: string): boolean {
  if (value.length < 16 || new Set(value).size < 8 || isPlaceholder(value)) return false;
  if (/\d/.test(value)) return /[a-z]/i.test(value);
  return value.length >= 24 && /[a-z]/.test(value) && /[A-Z]/.test(value);
}
