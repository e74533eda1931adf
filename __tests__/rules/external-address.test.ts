import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DeliveryError } from '../../src/errors.ts';
import { addressRange, getReach, parseExternalAddress } from '../../src/rules/external-address.ts';

function getRefusal(link: string, label?: string): DeliveryError {
  try {
    parseExternalAddress(link, label);
  } catch (thrown) {
    if (thrown instanceof DeliveryError) return thrown;
    throw thrown;
  }
  throw new Error(`${link} was accepted`);
}

const byte = fc.nat(255);
const octal = (number: number): string => `0${number.toString(8)}`;
const asNumber = (bytes: readonly number[]): number => Buffer.from(bytes).readUInt32BE();

/** Addresses that can't be reached from outside: 10/8, 127/8, 169.254/16, 192.168/16. */
const privateV4 = fc.oneof(
  fc.tuple(fc.constantFrom(10, 127), byte, byte, byte),
  fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
);

/** Every notation of an IPv4 address in a URL. */
const NOTATIONS: readonly [string, (bytes: readonly number[]) => string][] = [
  ['dotted', (bytes) => bytes.join('.')],
  ['dotted octal', (bytes) => bytes.map(octal).join('.')],
  ['one decimal number', (bytes) => String(asNumber(bytes))],
  ['a short form', ([a, b, c, d]) => `${a}.${(Number(b) << 16) | (Number(c) << 8) | Number(d)}`],
  ['with a final dot', (bytes) => `${bytes.join('.')}.`],
  ['IPv4-mapped IPv6', (bytes) => `[::ffff:${bytes.join('.')}]`],
  ['IPv4-compatible IPv6', (bytes) => `[::${bytes.join('.')}]`],
  ['NAT64', (bytes) => `[64:ff9b::${bytes.join('.')}]`],
  ['IPv4-translated IPv6', (bytes) => `[::ffff:0:${bytes.join('.')}]`],
  ['6to4', (bytes) => `[2002:${Buffer.from(bytes).toString('hex').replace(/..../, '$&:')}::]`],
];

/** Links by why they are refused. */
const REFUSED: Readonly<Record<string, string>> = {
  'begins with sandbox:': 'sandbox:/mnt/data/a.html',
  'begins with file:': 'file:///home/a.html',
  'begins with http:': 'http://example.com/',
  'begins with data:': 'data:text/html,hi',
  'begins with javascript:': 'javascript:alert(1) java\tscript:alert(1)',
  'begins with blob:': 'blob:https://example.com/1',
  'begins with c:': 'C:\\Users\\a.html',
  'it does not begin with https://, or is not a URL':
    '/mnt/data/a.html ./a.html //example.com/a.html example.com/a.html  https:// https://[::1',
  'it contains credentials': 'https://user@example.com/ https://:word@example.com/ https://a.dev@127.0.0.1/',
  'host name without a dot':
    'https://intranet/ https://localhost/ https://localhost./ https://ｌｏｃａｌｈｏｓｔ/',
  'internal network':
    'https://app.localhost/ https://PRINTER.LOCAL./ https://db.internal/ https://nas.home.arpa/ https://page.example/',
  ' ': 'https://printer.local../',
  '127.0.0.1 is a loopback address':
    'https://%31%32%37.0.0.1/ https://１２７.0.０.１/ https://①②⑦.⓪.⓪.①/ https://127。0。0。1/',
  'is a teredo address': 'https://[2001:0:7f00:1::]/',
};

describe('parseExternalAddress', () => {
  test.each([
    ['  https://example.com/a?b=c#d \n', 'https://example.com/a?b=c#d'],
    ['HTTPS://EXAMPLE.COM:8443/A', 'https://example.com:8443/A'],
    ['https://пример.рф/', 'https://xn--e1afmkfd.xn--p1ai/'],
    ['https://[64:ff9b::8.8.8.8]/', 'https://[64:ff9b::808:808]/'],
    ...['https://example.com./', 'https://8.8.8.8/', 'https://[2606:4700:4700::1111]/'].map((one) => [
      one,
      one,
    ]),
    // Only whole labels at the end count.
    ...['local.example.com', 'notlocal.com', 'mylocalhost.io', 'homecorp.io'].map((host) => [
      `https://${host}/`,
      `https://${host}/`,
    ]),
  ])('accepts %j', (link, href) => {
    expect(parseExternalAddress(link as string).href).toBe(href);
  });

  test.each(Object.entries(REFUSED).flatMap(([why, all]) => all.split(' ').map((link) => [why, link])))(
    'refuses an address because of "%s": %j',
    (reason, link) => {
      const { code, message, hint } = getRefusal(link as string);
      expect(code).toBe('NOT_EXTERNAL');
      expect(message).toMatch(/^the link is not an external https URL: /);
      expect(message).toContain(reason);
      expect(hint).toMatch(/K1, K2 or K3/);
    },
  );

  test.each([
    'https://name:s3cret@example.com/?key=s3cret',
    'http://name:s3cret@example.com/',
    'https://db.internal/?key=s3cret#s3cret',
    'https://10.0.0.1/s3cret?key=s3cret',
  ])('uses the given label, and repeats neither credentials nor queries of %s', (link) => {
    const { message, hint } = getRefusal(link, 'input `url`');
    expect(message).toMatch(/^input `url` is not an external https URL/);
    expect(`${message} ${hint}`).not.toContain('s3cret');
  });

  test.each(NOTATIONS)('refuses an address of a private network in the notation: %s', (_name, write) => {
    fc.assert(
      fc.property(privateV4, (bytes) => {
        expect(getRefusal(`https://${write(bytes)}/a.html`).code).toBe('NOT_EXTERNAL');
      }),
    );
  });
});

/** Addresses by their range. */
const RANGES: Readonly<Record<string, string>> = {
  unicast: '8.8.8.8 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1',
  loopback: '127.0.0.1 ::1 64:ff9b::7f00:1 ::ffff:0:127.0.0.1 2002:7f00:1::',
  private: '10.1.2.3 ::ffff:10.1.2.3',
  linkLocal: '169.254.169.254 fe80::1 64:ff9b:1::a9fe:a9fe',
  metadata:
    '168.63.129.16 ::ffff:168.63.129.16 64:ff9b::a83f:8110 100.100.100.200 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 100.96.0.96',
  uniqueLocal: 'fc00::1 64:ff9b:1::808:808',
  carrierGradeNat: '100.64.0.1',
  unspecified: '0.0.0.0',
  // No address outside of 2000::/3 is assigned.
  reserved: '198.18.0.1 203.0.113.1 2001:db8::1 4000::1',
  multicast: '224.0.0.1',
  deprecatedSiteLocal: 'fec0::1',
};

/** Hosts by from where they can be reached. */
const REACHES: Readonly<Record<string, string>> = {
  anywhere: 'www.octo.dev 8.8.8.8 localhost.octo.dev',
  network: 'bins.corp bins 192.168.0.1 100.64.0.1 [fd00::1] files.onion files.default.svc',
  machine:
    '168.63.129.16 host.docker.internal metadata.google.internal localhost6.localdomain6 localhost:8080 LOCALHOST. a.localhost localhost.localdomain 127.1 0.0.0.0 169.254.169.254 [::ffff:127.0.0.1]',
};

const rowsOf = (table: Readonly<Record<string, string>>): string[][] =>
  Object.entries(table).flatMap(([name, hosts]) => hosts.split(' ').map((host) => [host, name]));

test.each(rowsOf(RANGES))('addressRange of %s returns %s', (host, range) => {
  expect(addressRange(host as string)).toBe(range);
});

test.each(rowsOf(REACHES))('getReach of %s returns %s', (host, reach) => {
  expect(getReach(new URL(`https://${host}/`)).reach).toBe(reach);
});
