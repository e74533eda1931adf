import { isCredential } from '../credentials.ts';
import type { Logger } from '../ports.ts';
import { findSecretsInText } from '../rules/secrets/secrets.ts';
import { createSecretPattern } from '../secret-pattern.ts';
import { refuseInput } from './input-kinds.ts';
import { INPUT_NAMES, INPUTS, type RawInputs } from './inputs.ts';
import { parseFingerprints } from './values.ts';

/**
 * Refuses credentials of the job, and well-known secrets, in the inputs: whatever is given may become public or be
 * printed, in a commit, in an address, in the report or in the log.
 *
 * @param ownSecrets credentials of the job, beside the token; they are named as such
 * @throws {DeliveryError} `BAD_INPUT` with rule and fingerprint, never with the secret.
 * @see protocol 7 (prohibition 3)
 */
export async function refuseSecretInputs(
  raw: RawInputs,
  ownSecrets: readonly string[],
  logger: Pick<Logger, 'mask'>,
): Promise<void> {
  for (const secret of new Set([raw.token, ...ownSecrets].filter(isCredential))) {
    const { isIn } = createSecretPattern(secret);
    const leak = INPUT_NAMES.find((name) => name !== 'token' && isIn(raw[name]));
    const kind = secret === raw.token ? 'the token' : 'a credential of this environment';
    if (leak !== undefined) refuseInput((w) => `${w.subject(leak)} holds ${kind}`, `remove ${kind} from it`);
  }
  const allowed = new Set(parseFingerprints(raw['allow-secret'].toLowerCase()));
  for (const name of INPUT_NAMES.filter((one) => INPUTS[one].isSearched !== false)) {
    const all = await findSecretsInText(raw[name]);
    const findings = all.filter(({ fingerprint }) => !allowed.has(fingerprint));
    for (const { secret } of findings) logger.mask(secret);
    const [first] = findings;
    if (first === undefined) continue;
    refuseInput(
      (w) =>
        `${w.subject(name)} contains what looks like a secret: ${first.rule} (fingerprint ${first.fingerprint})`,
      (w) =>
        `remove it there and revoke it, or, if it is known to be harmless, set ${w.input('allow-secret', first.fingerprint)}`,
    );
  }
}
