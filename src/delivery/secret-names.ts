import { DeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { findSecretsInText } from '../rules/secrets/secrets.ts';
import { createSecretMatcher } from '../secret-pattern.ts';

/**
 * Names and their folders become part of an address, a commit, the report or the log.
 *
 * @throws {DeliveryError} `BAD_FILE` that does not repeat the name.
 * @see protocol 7 (prohibition 3)
 */
export async function refuseSecretNames(
  names: readonly string[],
  { ownSecrets, allowedSecrets }: Pick<DeliveryRequest, 'ownSecrets' | 'allowedSecrets'>,
  { logger }: Pick<Ports, 'logger'>,
): Promise<void> {
  const text = names.join('\n');
  const isOwn = ownSecrets.some((secret) => createSecretMatcher(secret).isIn(text));
  const found = (await findSecretsInText(text)).find(
    ({ fingerprint }) => !allowedSecrets.includes(fingerprint),
  );
  if (!isOwn && found === undefined) return;
  if (found !== undefined) logger.mask(found.secret);
  const what = isOwn ? 'a credential of this job' : `what looks like a secret: ${found?.rule}`;
  throw new DeliveryError('BAD_FILE', `the name of a file contains ${what}`, {
    hint: 'rename the file, and revoke the secret',
  });
}
