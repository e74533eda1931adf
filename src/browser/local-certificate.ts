import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { DAY } from '../protocol/limits.ts';
import { hashPublicKey } from './trusted-keys.ts';

/** A certificate that only the browser of this run accepts, because it is started with the hash of its key. */
export interface LocalCertificate {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly cert: string;
  /** SHA-256 of the key in base64. */
  readonly keyHash: string;
}

/** Creates a self-signed certificate with a new key; the key exists only in this process's memory. */
export function createLocalCertificate(now: number): LocalCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(objectId('2a8648ce3d040302')); // ecdsa-with-SHA256
  const commonName = sequence(objectId('550403'), element(0x0c, Buffer.from('local view')));
  const name = sequence(element(0x31, commonName));
  const content = sequence(
    element(0xa0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    name,
    sequence(utcTime(now - DAY), utcTime(now + DAY)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = element(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)]));
  const base64 = sequence(content, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    keyHash: hashPublicKey(publicKey),
  };
}

/** One element of ASN.1 in DER: its tag, its length and its content. */
function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  // DER accepts only the shortest form of a length.
  const long = length < 0x100 ? [0x81] : [0x82, length >> 8];
  return Buffer.concat([Buffer.from([tag, ...(length < 0x80 ? [] : long), length & 0xff]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => element(0x30, Buffer.concat(parts));

const integer = (bytes: Buffer): Buffer => element(0x02, bytes);

const objectId = (hex: string): Buffer => element(0x06, Buffer.from(hex, 'hex'));

/** `YYMMDDhhmmssZ` */
const utcTime = (time: number): Buffer =>
  element(0x17, Buffer.from(`${new Date(time).toISOString().slice(2, 19).replace(/\D/g, '')}Z`));
