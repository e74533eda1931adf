/** How a secret can be written: by name. */
export type SecretEncoding = readonly [name: string, encode: (secret: string) => string];

const base64 = (text: string | Buffer): string => Buffer.from(text as string).toString('base64');
const each = (secret: string, write: (code: number) => string): string =>
  Array.from(secret, (character) => write(character.charCodeAt(0))).join('');
const hex = (code: number, length = 2): string => code.toString(16).padStart(length, '0');
/** After a first character or more that is not part of the secret, so that base64 begins elsewhere in it. */
const shifted = (by: number, secret: string): string => base64(`${'xyz'.slice(0, by)}${secret}`);
const wrapped = (text: string, width: number, lineBreak: string): string =>
  text.replace(new RegExp(`.{${width}}`, 'gs'), `$&${lineBreak}`);

/** The numbers of a line of at most 16 bytes, and what the line ends with. */
type DumpLine = (bytes: Buffer) => string;

const pairs = (bytes: Buffer, write: (first: number, second: number) => string): string =>
  Array.from({ length: Math.ceil(bytes.length / 2) }, (_, at) =>
    write(bytes[at * 2] ?? 0, bytes[at * 2 + 1] ?? 0),
  ).join(' ');
const octal = (value: number, length: number): string => value.toString(8).padStart(length, '0');
const codes = (bytes: Buffer, write: (code: number) => string): string => Array.from(bytes, write).join(' ');

const DUMPS: readonly (readonly [name: string, line: DumpLine])[] = [
  ['xxd', (bytes) => `: ${pairs(bytes, (one, two) => hex(one) + hex(two))}  ${bytes}`],
  [
    'hexdump -C',
    (bytes) =>
      `  ${codes(bytes.subarray(0, 8), (code) => hex(code))}  ${codes(bytes.subarray(8), (code) => hex(code))}  |${bytes}|`,
  ],
  ['od -t x1', (bytes) => ` ${codes(bytes, (code) => hex(code))}`],
  ['od -t x1z', (bytes) => ` ${codes(bytes, (code) => hex(code))}  >${bytes}<`],
  ['od -b', (bytes) => ` ${codes(bytes, (code) => octal(code, 3))}`],
  ['od -c', (bytes) => `   ${Array.from(bytes, (code) => String.fromCharCode(code)).join('   ')}`],
  ['od', (bytes) => ` ${pairs(bytes, (one, two) => octal(two * 256 + one, 6))}`],
  ['od -x', (bytes) => ` ${pairs(bytes, (one, two) => hex(two * 256 + one, 4))}`],
];

const dump = (bytes: Buffer, line: DumpLine): string =>
  Array.from({ length: Math.ceil(bytes.length / 16) }, (_, nth) => nth * 16)
    .map((from) => `${hex(from, 7)}${line(bytes.subarray(from, from + 16))}\n`)
    .join('');

/** Lines of 45 bytes, each behind the sign of its length. */
function uuencode(text: string): string {
  const bytes = Buffer.from(text);
  const sign = (value: number): string => (value === 0 ? '`' : String.fromCharCode(32 + value));
  const lines = Array.from({ length: Math.ceil(bytes.length / 45) }, (_, nth) =>
    bytes.subarray(nth * 45, nth * 45 + 45),
  );
  return lines
    .map((line) => {
      const padded = Buffer.concat([line, Buffer.alloc((3 - (line.length % 3)) % 3)]);
      const bits = Array.from(padded, (byte) => byte.toString(2).padStart(8, '0')).join('');
      return `${sign(line.length)}${(bits.match(/.{6}/g) ?? []).map((six) => sign(Number.parseInt(six, 2))).join('')}\n`;
    })
    .join('');
}

export const ENCODINGS: readonly SecretEncoding[] = [
  ['plain', (secret) => secret],
  ...[0, 1, 2].flatMap((by): SecretEncoding[] => [
    [`as base64, ${by} bytes later`, (secret) => shifted(by, secret)],
    [
      `as URL-safe base64, ${by} bytes later`,
      (secret) => shifted(by, secret).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
    ],
    [`as base64 in lines, ${by} bytes later`, (secret) => wrapped(shifted(by, secret), 7, '\n')],
    [
      `as base64 in indented lines, ${by} bytes later`,
      (secret) => wrapped(shifted(by, secret), 3, '\r\n    '),
    ],
    [`as base64 in lines of JSON, ${by} bytes later`, (secret) => wrapped(shifted(by, secret), 5, '\\n')],
  ]),
  ['as base64 of UTF-16', (secret) => base64(Buffer.from(`a${secret}`, 'utf16le'))],
  ...['', 'a', 'ab'].map(
    (before): SecretEncoding => [
      `as base64 of UTF-16, big-endian, ${before.length} characters later`,
      (secret) => base64(Buffer.from(before + secret, 'utf16le').swap16()),
    ],
  ),
  ['as base64 in a UTF-16 file', (secret) => Buffer.from(base64(secret), 'utf16le').toString('latin1')],
  ['as base64 in lines of comments', (secret) => wrapped(base64(secret), 9, '\n# ')],
  ['as base64 in parts of a string', (secret) => wrapped(base64(secret), 9, '" +\n  "')],
  ['as base64 between tags', (secret) => wrapped(base64(secret), 9, '<br>\n')],
  [
    'as base64 in HTML',
    (secret) => base64(secret).replace(/[+/=]/g, (sign) => `&#x${hex(sign.charCodeAt(0)).toUpperCase()};`),
  ],
  ['as hex', (secret) => Buffer.from(secret).toString('hex')],
  ['as hex in capital letters', (secret) => Buffer.from(secret).toString('hex').toUpperCase()],
  ['as a hex dump', (secret) => each(secret, (code) => `${hex(code)} `)],
  ['as hex with dashes', (secret) => each(secret, (code) => `${hex(code)}-`)],
  ['as hex of UTF-16', (secret) => Buffer.from(secret, 'utf16le').toString('hex')],
  ...[':', '.', '_', '|'].map(
    (separator): SecretEncoding => [
      `as hex with ${JSON.stringify(separator)} between bytes`,
      (secret) => each(secret, (code) => `${hex(code)}${separator}`),
    ],
  ),
  ...[0, 1, 2].flatMap((by) =>
    [0, 1, 2].map(
      (outer): SecretEncoding => [
        `as base64 of base64, ${by} and ${outer} bytes later`,
        (secret) => shifted(outer, shifted(by, secret)),
      ],
    ),
  ),
  ['as URL-encoded base64', (secret) => encodeURIComponent(shifted(1, `${secret}?>`))],
  ['as a list of hex numbers', (secret) => each(secret, (code) => `0x${hex(code)},\n    `)],
  ['as a list of numbers', (secret) => JSON.stringify([...Buffer.from(secret)])],
  ['as a list of numbers in lines', (secret) => JSON.stringify([...Buffer.from(secret)], null, 2)],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded, every character', (secret) => each(secret, (code) => `%${hex(code)}`)],
  ['percent-encoded twice', (secret) => each(secret, (code) => `%25${hex(code).toUpperCase()}`)],
  ['percent-encoded three times', (secret) => each(secret, (code) => `%2525${hex(code)}`)],
  ['percent-encoded as %u', (secret) => each(secret, (code) => `%u${hex(code, 4)}`)],
  ['in HTML entities', (secret) => each(secret, (code) => `&#${code};`)],
  ['in HTML entities with zeros', (secret) => each(secret, (code) => `&#0${code};`)],
  ['in hex HTML entities', (secret) => each(secret, (code) => `&#x${hex(code).toUpperCase()};`)],
  ['with one HTML entity', (secret) => secret.replace('_', '&lowbar;')],
  ['in JSON escapes', (secret) => each(secret, (code) => `\\u${hex(code, 4)}`)],
  ['in JSON escapes of JSON', (secret) => each(secret, (code) => `\\\\u${hex(code, 4)}`)],
  ['in JavaScript hex escapes', (secret) => each(secret, (code) => `\\x${hex(code)}`)],
  ['in JavaScript code points', (secret) => each(secret, (code) => `\\u{${hex(code)}}`)],
  ['in long escapes', (secret) => each(secret, (code) => `\\U${hex(code, 8)}`)],
  ['in CSS escapes', (secret) => each(secret, (code) => `\\${hex(code)} `)],
  ['in long CSS escapes', (secret) => each(secret, (code) => `\\${hex(code, 6)}`)],
  ['in parts of a string', (secret) => `${secret.slice(0, 9)}' + '${secret.slice(9)}`],
  ['in two indented lines', (secret) => `${secret.slice(0, 9)}\n    ${secret.slice(9)}`],
  ['with an invisible character', (secret) => `${secret.slice(0, 9)}&#8203;${secret.slice(9)}`],
  ['in octal escapes', (secret) => each(secret, (code) => `\\${code.toString(8)}`)],
  ['in UTF-16', (secret) => Buffer.from(secret, 'utf16le').toString('latin1')],
  ['in UTF-16, big-endian', (secret) => Buffer.from(secret, 'utf16le').swap16().toString('latin1')],
  ['in UTF-32', (secret) => each(secret, (code) => `${String.fromCharCode(code)}\0\0\0`)],
  ['in two lines of quoted-printable', (secret) => `${secret.slice(0, 6)}=\r\n${secret.slice(6)}`],
  ['in mixed escapes', (secret) => secret.replace('s', '\\u0073').replace('_', '%5f').replace('A', '&#65;')],
];

/** In lines that have other text as well: positions, the characters, or the length. */
export const DUMPED: readonly SecretEncoding[] = [
  ...[0, 1, 5, 15].flatMap((by) =>
    DUMPS.map(
      ([name, numbers]): SecretEncoding => [
        `as a dump of ${name}, ${by} bytes later`,
        (secret) => dump(Buffer.from('x'.repeat(by) + secret), numbers),
      ],
    ),
  ),
  ...[0, 1, 2, 20, 43].map(
    (by): SecretEncoding => [`by uuencode, ${by} bytes later`, (secret) => uuencode('x'.repeat(by) + secret)],
  ),
];
