import { isCredential } from '../credentials.ts';
import type { Logger } from '../ports.ts';
import { findSecretsInText } from '../rules/secrets/secrets.ts';
import { refuseLeaks } from './input-rules.ts';
import type { InputName, RawInputs } from './inputs.ts';
import { parseFingerprints, refuseInput } from './values.ts';

/** Inputs that are never published or printed, or that hold no free text; content is searched as a file, with its lines. */
const NOT_SEARCHED: readonly InputName[] = ['token', 'allow-secret', 'content'];

/**
 * Refuses well-known secrets in the inputs: whatever is given may become public or be printed, in a commit, in an
 * address, in the report or in the log.
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
  refuseLeaks({ ...raw, token: isCredential(raw.token) ? raw.token : '' }, ownSecrets);
  const allowed = new Set(parseFingerprints(raw['allow-secret'].toLowerCase()));
  for (const [name, value] of Object.entries(raw)) {
    if (NOT_SEARCHED.includes(name as InputName)) continue;
    const findings = (await findSecretsInText(value)).filter(({ fingerprint }) => !allowed.has(fingerprint));
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
