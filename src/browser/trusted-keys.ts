import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import type { EnvironmentVariables } from './find-browser.ts';

/** The longest list of keys: it is part of the browser's command line. */
const MOST_KEYS = 200;

/** The largest file of certificates that is read, in characters. */
const LARGEST_FILE = 2_000_000;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The keys of the certificate authorities of `NODE_EXTRA_CA_CERTS`, as the browser expects them. Authorities that
 * every browser knows are left out: for them it checks the whole chain itself.
 *
 * @returns SHA-256 of each key in base64; empty where there is no such file, or nothing in it can be read
 */
export async function readTrustedKeys({ NODE_EXTRA_CA_CERTS }: EnvironmentVariables): Promise<string[]> {
  if (!NODE_EXTRA_CA_CERTS) return [];
  const text = await readFile(NODE_EXTRA_CA_CERTS, 'latin1').catch(() => '');
  const known = new Set(rootCertificates.map(withoutSpace));
  const own = (text.slice(0, LARGEST_FILE).match(CERTIFICATE) ?? []).filter(
    (certificate) => !known.has(withoutSpace(certificate)),
  );
  return [...new Set(own.flatMap(hashKeyOf))].slice(0, MOST_KEYS);
}

const withoutSpace = (text: string): string => text.replace(/\s/g, '');

function hashKeyOf(certificate: string): string[] {
  try {
    return [hashPublicKey(new X509Certificate(certificate).publicKey)];
  } catch {
    return [];
  }
}

/** SHA-256 of the key's SubjectPublicKeyInfo, in base64. */
export function hashPublicKey(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64');
}
