import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A temporary self-signed certificate. */
export interface CertificateAuthority {
  readonly key: string;
  readonly cert: string;
  /** Path of the certificate, for clients. */
  readonly certFile: string;
}

/** Creates a certificate for these hosts, valid for a day. */
export async function createAuthority(
  folder: string,
  hosts: readonly string[],
): Promise<CertificateAuthority> {
  const keyFile = join(folder, 'key.pem');
  const certFile = join(folder, 'ca.pem');
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
    ...['-subj', '/CN=Local hosts of the benchmark', '-keyout', keyFile, '-out', certFile],
    ...['-addext', 'basicConstraints=critical,CA:TRUE'],
    ...['-addext', `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}`],
  ]);
  return { key: await readFile(keyFile, 'utf8'), cert: await readFile(certFile, 'utf8'), certFile };
}
