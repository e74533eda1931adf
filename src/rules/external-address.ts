import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { DeliveryError } from '../errors.ts';
import type { Text, Words } from '../words.ts';
import { decodePercents } from './page/addresses.ts';

const belowAny = (names: readonly string[]): RegExp =>
  new RegExp(`(^|\\.)(${names.join('|').replaceAll('.', '\\.')})$`);

/** Endings of names that are never public. Other names are judged by the IP addresses that they resolve to. */
const INTERNAL_HOSTS = belowAny([
  ...['localhost', 'local', 'localdomain', 'internal', 'intranet', 'private', 'lan', 'home', 'corp', 'mail'],
  ...['arpa', 'test', 'invalid', 'example', 'onion', 'alt', 'svc', 'consul'],
]);

const MACHINE_HOSTS = belowAny([
  ...['localhost', 'localhost6', 'localdomain', 'localdomain6', 'ip6-localhost', 'ip6-loopback'],
  ...['docker.internal', 'containers.internal', 'metadata', 'metadata.google.internal', 'instance-data'],
]);

/**
 * Parses an https URL that anyone can open from anywhere. @param label the name of the link in the error message
 *
 * @throws {DeliveryError} `NOT_EXTERNAL`; the message never repeats credentials or queries. @see protocol 1 (rules 1, 2), 7
 */
export function parseExternalAddress(link: string | URL, label: Text = 'the link'): URL {
  const refuse = (reason: string): never => {
    const about = (w: Words) => `${w.say(label)} is not an external https URL: ${reason}`;
    throw new DeliveryError('NOT_EXTERNAL', about, {
      hint: (w) => `give an https URL that opens on other machines${w.orUse(['K1', 'K2', 'K3'])}`,
    });
  };
  const url = link instanceof URL ? link : URL.parse(link.trim());
  if (url === null) return refuse('it does not begin with https://, or is not a URL');
  if (url.protocol !== 'https:') return refuse(`it begins with ${url.protocol}, not https:`);
  if (url.username !== '' || url.password !== '') return refuse('it contains credentials');
  // The URL parser would join several lines into one URL.
  if (typeof link === 'string' && /\s/.test(link.trim())) return refuse('it has a space or several lines');
  const { reach, why } = getReach(url);
  return reach === 'anywhere' ? url : refuse(why);
}

const MACHINE_RANGES: readonly string[] = ['loopback', 'unspecified', 'linkLocal', 'metadata'];

/** Whether a range leads to this machine or its metadata service. */
export const isMachineRange = (range: string): boolean => MACHINE_RANGES.includes(range);

/** Metadata services of clouds, outside the link-local range. */
const METADATA = [
  ...['168.63.129.16/32', '100.100.100.200/32', '100.96.0.96/32', '192.0.0.192/32'],
  ...['fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:42::42/128'],
].map((range) => ipaddr.parseCIDR(range));

/** Who can reach a URL, by its host, and why nobody else can. A name may still resolve to an internal address. */
export function getReach({ hostname }: URL) {
  const host = hostname.replace(/^\[|\]$|\.+$/g, '').toLowerCase();
  const range = isIP(host) === 0 ? null : addressRange(host);
  const isMachine = range === null ? MACHINE_HOSTS.test(host) : isMachineRange(range);
  const why =
    range === null ? describeName(host) : range === 'unicast' ? '' : `${host} is a ${range} address`;
  return { reach: why === '' ? 'anywhere' : isMachine ? 'machine' : 'network', why } as const;
}

function describeName(host: string): string {
  if (!host.includes('.')) return `${host} is a host name without a dot, which only a local network knows`;
  const isInternal = MACHINE_HOSTS.test(host) || INTERNAL_HOSTS.test(host);
  return isInternal ? `${host} is a host name of an internal network` : '';
}

/** NAT64 inside a network. @see RFC 8215 */
const LOCAL_NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b:1::/48');

/** The range of an IP address; only `unicast` is public. An IPv4 address embedded in IPv6 counts as IPv4. */
export const addressRange = (host: string): string => rangeOf(ipaddr.parse(host));

function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (ipaddr.subnetMatch(address, { metadata: METADATA }, '') !== '') return 'metadata';
  if (!(address instanceof ipaddr.IPv6)) return address.range();
  const bytes = address.toByteArray();
  const range = address.range();
  const embedded = (): string => rangeOf(ipaddr.fromByteArray(bytes.slice(12)));
  if (address.match(LOCAL_NAT64)) return isMachineRange(embedded()) ? embedded() : 'uniqueLocal';
  if (range === 'ipv4Mapped' || range === 'rfc6052' || range === 'rfc6145') return embedded();
  if (range === '6to4') return rangeOf(ipaddr.fromByteArray(bytes.slice(2, 6)));
  // Only 2000::/3 is assigned; ipaddr.js calls the rest unicast as well.
  if (range === 'unicast' && ((bytes[0] ?? 0) & 0xe0) !== 0x20) return 'reserved';
  return range;
}

/** Refuses a URL on this machine, but allows an internal network. @throws {DeliveryError} `NOT_EXTERNAL` */
export function refuseMachineAddress(url: URL, label: Text = 'the address'): void {
  if (getReach(url).reach === 'machine') parseExternalAddress(url, label);
}

/** Whether a text is part of a URL: any page that repeats its URL, such as a login page, would contain the text. */
export function isPartOfAddress(text: string, addresses: readonly URL[]): boolean {
  const part = toWords(text);
  return addresses.some((url) => toWords(url.href).includes(part));
}

/** Slugs and titles differ only in their separators. */
const toWords = (text: string): string =>
  decodePercents(decodePercents(text))
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
