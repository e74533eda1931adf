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

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** As most programs do, with an apostrophe and further characters in their own way. */
const escapeHtml = (text: string, others: Readonly<Record<string, string>>): string =>
  Array.from(text, (sign) => others[sign] ?? HTML[sign] ?? sign).join('');

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
  ['in UTF-16', (secret) => Buffer.from(secret, 'utf16le').toString('latin1')],
  ['in UTF-16, big-endian', (secret) => Buffer.from(secret, 'utf16le').swap16().toString('latin1')],
];
