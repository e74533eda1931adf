import 'reflect-metadata';
import { createSecureContext, type SecureContext } from 'node:tls';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** A temporary certificate authority. */
export interface CertificateAuthority {
  /** Its certificate in PEM, for clients that trust it. */
  readonly ca: string;
  /** What a TLS server of this host needs; made once for each host. */
  contextFor(host: string): Promise<SecureContext>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

/** Creates an authority that is valid from yesterday until tomorrow; its hosts share its key. */
export async function createAuthority(name: string): Promise<CertificateAuthority> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const key = PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'private key');
  const notBefore = new Date(Date.now() - DAY_MS);
  const notAfter = new Date(Date.now() + DAY_MS);
  const validity = { notBefore, notAfter, signingAlgorithm: ALGORITHM };
  const issuer = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: `CN=${name}`,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
    ],
  });
  const contexts = new Map<string, Promise<SecureContext>>();
  const create = async (host: string): Promise<SecureContext> => {
    const certificate = await X509CertificateGenerator.create({
      ...validity,
      subject: `CN=${host}`.slice(0, 64),
      issuer: issuer.subject,
      publicKey: keys.publicKey,
      signingKey: keys.privateKey,
      extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
    });
    return createSecureContext({ key, cert: certificate.toString('pem') });
  };
  return {
    ca: issuer.toString('pem'),
    contextFor(host) {
      const context = contexts.get(host) ?? create(host);
      contexts.set(host, context);
      return context;
    },
  };
}
