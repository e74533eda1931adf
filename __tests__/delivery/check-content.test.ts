import { describe, expect, test } from '@jest/globals';
import { refuseSecretNames } from '../../src/delivery/check-content.ts';
import { findSecretsInText } from '../../src/rules/secrets/secrets.ts';
import { drawn } from '../rules/secrets/fake-secrets.ts';
import { fakePorts } from '../support/ports.ts';
import { requestWith } from './builders.ts';

const OWN = `ghs_${drawn(36)}`;
const KNOWN = `ghp_${drawn(36)}`;

const check = (names: readonly string[], allowSecret: readonly string[] = []) =>
  refuseSecretNames(names, {
    request: { ...requestWith(), ownSecrets: [{ name: 'DB_SECRET', value: OWN }], allowSecret },
    ...fakePorts(),
  });

describe('the name of a file', () => {
  test.each([
    ['a credential of this environment (DB_SECRET)', `${OWN}.html`],
    ['a credential of this environment (DB_SECRET)', `a/${Buffer.from(OWN).toString('base64url')}/b.html`],
    ['a credential of this environment (DB_SECRET)', `${Buffer.from(OWN).toString('hex')}.html`],
    ['what looks like a secret: GitHub token', `${KNOWN}.html`],
    ['what looks like a secret: GitHub token', `reports/${KNOWN}/index.html`],
  ])(
    'is refused with %s, and not repeated, whatever credential of its own is allowed',
    async (what, name) => {
      const allowed = (await findSecretsInText(OWN)).map(({ fingerprint }) => fingerprint);
      const refusal = await check(['page.html', name], allowed).catch((thrown) => thrown);
      expect(refusal).toMatchObject({ code: 'BAD_FILE', message: `the name of a file contains ${what}` });
      expect(`${refusal.message} ${refusal.hint}`).not.toContain(name);
    },
  );

  test('is accepted without any', async () => {
    await expect(check(['reports/2026/index.html'])).resolves.toBeUndefined();
  });
});
