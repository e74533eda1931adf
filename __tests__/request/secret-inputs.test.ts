import { describe, expect, test } from '@jest/globals';
import { refuseSecretInputs } from '../../src/request/create-request.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { rawInputs } from '../delivery/builders.ts';
import { drawn } from '../rules/secrets/fake-secrets.ts';
import { fakePorts } from '../support/ports.ts';

const ALLOWED = '0123456789abcdef';
const OWN = 'ghs_0123456789abcdef';
const OTHER = 'ghs_fedcba9876543210';
const KNOWN = `ghp_${drawn(36)}`;

const check = (inputs: Partial<RawInputs>): Promise<unknown> =>
  refuseSecretInputs(
    rawInputs({ token: OWN, 'allow-secret': ALLOWED, ...inputs }),
    [{ name: 'DB_SECRET', value: OTHER }],
    fakePorts().logger,
  )
    .then(() => null)
    .catch((thrown) => thrown);

describe('an input that becomes public or is printed', () => {
  const NAMES = ['message', 'path', 'file', 'tag', 'bin', 'marker', 'url', 'branch', 'entry'] as const;

  test.each(NAMES)('is refused if %s has a secret, which is not repeated', async (name) => {
    const found = /contains what looks like a secret: GitHub token \(fingerprint [0-9a-f]{16}\)/;
    for (const [secret, message] of [
      [OWN, /contains the token$/],
      [Buffer.from(OTHER).toString('base64'), /contains a credential of this environment \(DB_SECRET\)$/],
      [KNOWN, found],
    ] as const) {
      const refusal = (await check({ [name]: `a ${secret}` })) as Error;
      expect(refusal).toMatchObject({ code: 'BAD_INPUT', message: expect.stringMatching(message) });
      expect(JSON.stringify(refusal)).not.toContain(secret);
    }
  });

  test('is accepted with a fingerprint that is known to be harmless', async () => {
    const refusal = (await check({ message: KNOWN })) as Error;
    const [, fingerprint = ''] = /fingerprint ([0-9a-f]{16})/.exec(refusal.message) ?? [];
    await expect(check({ message: KNOWN, 'allow-secret': fingerprint.toUpperCase() })).resolves.toBeNull();
  });

  test('is accepted without a secret, as the token itself is', async () => {
    await expect(check({ message: 'from run 7' })).resolves.toBeNull();
    await expect(check({ token: KNOWN })).resolves.toBeNull();
  });
});
