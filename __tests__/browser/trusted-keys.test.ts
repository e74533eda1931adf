import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { createLocalCertificate } from '../../src/browser/local-certificate.ts';
import { readTrustedKeys } from '../../src/browser/trusted-keys.ts';
import { temporaryFolder } from '../support/files.ts';

describe('readTrustedKeys', () => {
  test('returns the keys of the authorities that a browser does not know, each once', async () => {
    const [one, other] = [createLocalCertificate(Date.now()), createLocalCertificate(Date.now())];
    const path = join(await temporaryFolder(), 'authorities.pem');
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    const text = [...rootCertificates.slice(0, 3), one.cert, broken, other.cert, one.cert].join('\n');
    await writeFile(path, `# comment\n${text}`);
    expect(await readTrustedKeys({ NODE_EXTRA_CA_CERTS: path })).toEqual([one.keyHash, other.keyHash]);
  });

  test('returns none without a file, or where it can not be read', async () => {
    expect(await readTrustedKeys({})).toEqual([]);
    expect(await readTrustedKeys({ NODE_EXTRA_CA_CERTS: '/nowhere/authority.pem' })).toEqual([]);
  });
});
