/** What an ordinary program makes of a secret: by name. */
export type SecretEncoding = readonly [name: string, encode: (secret: string) => string];

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64url = (text: string): string => Buffer.from(text).toString('base64url');
/** After a first character or more that is not part of the secret, so that base64 begins elsewhere in it. */
const shifted = (by: number, secret: string): string => 'xyz'.slice(0, by) + secret;
/** In lines of a width, of which the first one has fewer characters. */
const inLines = (text: string, first: number, width: number, lineBreak: string): string =>
  [text.slice(0, first), ...(text.slice(first).match(new RegExp(`.{1,${width}}`, 'g')) ?? [])].join(
    lineBreak,
  );

/** With each sign written in its own way. */
const each = (text: string, write: (sign: string) => string): string =>
  Array.from(text, (sign) => (/[\w.~-]/.test(sign) ? sign : write(sign))).join('');
/** With the code of each UTF-16 unit or byte. */
const inHex = (text: string, before: string, digits: number): string =>
  text
    .split('')
    .map((one) => before + one.charCodeAt(0).toString(16).padStart(digits, '0'))
    .join('');
const inUtf8 = (text: string): string => Buffer.from(text).toString('latin1');
const hexOf = (sign: string): string => (sign.codePointAt(0) ?? 0).toString(16);

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** As most programs do, with an apostrophe and further characters in their own way. */
const escapeHtml = (text: string, others: Readonly<Record<string, string>>): string =>
  Array.from(text, (sign) => others[sign] ?? HTML[sign] ?? sign).join('');

const upper = (text: string): string => text.toUpperCase();
const toAscii = (json: string): string => json.replace(/[^ -~]/g, (unit) => inHex(unit, '\\u', 4));
const phpJson = (text: string): string => toAscii(JSON.stringify(text).replaceAll('/', '\\/'));

export const ENCODINGS: readonly SecretEncoding[] = [
  ['plain', (secret) => secret],
  ...[0, 1, 2].flatMap((by): SecretEncoding[] => [
    [`as base64, ${by} bytes later`, (secret) => base64(shifted(by, secret))],
    [`as URL-safe base64, ${by} bytes later`, (secret) => base64url(shifted(by, secret))],
    ...[60, 64, 76].flatMap((width) =>
      ['\n', '\r\n', '\\n', '\r\n    '].map(
        (lineBreak): SecretEncoding => [
          `as base64 in lines of ${width} with ${JSON.stringify(lineBreak)}, ${by} bytes later`,
          (secret) => inLines(base64(shifted(by, secret)), (width % 7) + 2, width, lineBreak),
        ],
      ),
    ),
  ]),
  ['as hex', (secret) => Buffer.from(secret).toString('hex')],
  ['as hex in capital letters', (secret) => Buffer.from(secret).toString('hex').toUpperCase()],
  ['percent-encoded as a part of an address', encodeURIComponent],
  ['percent-encoded as an address', encodeURI],
  ['in JSON', (secret) => JSON.stringify(secret)],
  ['in JSON with escaped slashes', (secret) => JSON.stringify(secret).replaceAll('/', '\\/')],
  ['in HTML', (secret) => escapeHtml(secret, {})],
  ['in HTML as Python writes it', (secret) => escapeHtml(secret, { "'": '&#x27;' })],
  ['in HTML as lodash writes it', (secret) => escapeHtml(secret, { "'": '&#39;' })],
  ['in HTML as Go writes it', (secret) => escapeHtml(secret, { '"': '&#34;', "'": '&#39;', '+': '&#43;' })],
  [
    'in HTML as Mustache writes it',
    (secret) => escapeHtml(secret, { "'": '&#39;', '/': '&#x2F;', '`': '&#x60;', '=': '&#x3D;' }),
  ],
  ['percent-encoded as Python and PHP do', (secret) => each(secret, (sign) => inHex(inUtf8(sign), '%', 2))],
  [
    'percent-encoded as .NET does',
    (secret) => encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase()),
  ],
  ['in JSON as Python writes it', (secret) => toAscii(JSON.stringify(secret))],
  [
    'in JSON as Go writes it',
    (secret) => JSON.stringify(secret).replace(/[<>&]/g, (sign) => inHex(sign, '\\u', 4)),
  ],
  [
    'in JSON as .NET writes it',
    (secret) =>
      each(secret, (sign) => (sign === '\\' ? '\\\\' : inHex(sign, '\\u', 4).replace(/[a-f\d]{4}/g, upper))),
  ],
  ['in JSON in JSON', (secret) => JSON.stringify(JSON.stringify(secret))],
  ['in JSON in JSON as PHP writes it', (secret) => phpJson(phpJson(secret))],
  ['in a script with single quotes', (secret) => secret.replace(/[\\']/g, '\\$&')],
  ['in a script as Django writes it', (secret) => each(secret, (sign) => inHex(sign, '\\u', 4))],
  ['in a script with short escapes', (secret) => each(secret, (sign) => inHex(inUtf8(sign), '\\x', 2))],
  ['in HTML as PHP writes it', (secret) => escapeHtml(secret, { "'": '&#039;' })],
  ['in XML', (secret) => escapeHtml(secret, { "'": '&apos;' })],
  [
    'in HTML as .NET writes it',
    (secret) => each(secret, (sign) => HTML[sign] ?? `&#x${upper(hexOf(sign))};`),
  ],
  ['in HTML with numbers alone', (secret) => each(secret, (sign) => `&#${sign.codePointAt(0)};`)],
  ['in HTML with long numbers', (secret) => each(secret, (sign) => `&#X${hexOf(sign).padStart(6, '0')};`)],
  ['in UTF-16', (secret) => Buffer.from(secret, 'utf16le').toString('latin1')],
  ['in UTF-16, big-endian', (secret) => Buffer.from(secret, 'utf16le').swap16().toString('latin1')],
];
