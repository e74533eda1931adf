import { type OwnCredential, withToken } from '../credentials.ts';
import type { Logger } from '../ports.ts';
import { nameSecret } from '../rules/secrets/rule-keywords.ts';
import { findSecretsInText } from '../rules/secrets/secrets.ts';
import { createSecretPattern } from '../secret-pattern.ts';
import { refuseInput } from './input-kinds.ts';
import { refuseBrokenRules } from './input-rules.ts';
import { INPUT_NAMES, INPUTS, type RawInputs } from './inputs.ts';
import { type DeliveryRequest, parseRequest, type RunContext } from './parse-request.ts';
import { PARSERS } from './values.ts';

/** Checks the raw inputs and turns them into a strict request. @throws {DeliveryError} as `parseRequest` does */
export async function createRequest(
  raw: RawInputs,
  { env, ...context }: RunContext & { readonly env: NodeJS.ProcessEnv },
  logger: Pick<Logger, 'mask'>,
): Promise<DeliveryRequest> {
  refuseUnsafeEnvironment(env);
  await refuseSecretInputs(raw, context.secrets, logger);
  const request = parseRequest(raw, context);
  refuseBrokenRules(request);
  return request;
}

/** Variables with values that leak a secret, what they do, and what to do instead. */
const UNSAFE_VARIABLES: readonly (readonly [RegExp, effect: string, instead: string])[] = [
  [
    // Git turns it off for any value, even for an empty one.
    /^(?:NODE_TLS_REJECT_UNAUTHORIZED=0$|GIT_SSL_NO_VERIFY=)/,
    'turns off certificate checks, so no host can be trusted',
    ', and set `NODE_EXTRA_CA_CERTS` to a file with the certificate of the proxy or host',
  ],
  [
    /^NODE_DEBUG=(?:.*,)?\s*(?:child_process|[a-z_]*\*[a-z_*]*)\s*(?:,|$)/is,
    "makes Node print the environment of each program it starts, including git's token",
    ' or the name `child_process` from it',
  ],
];

/** Refuses an environment in which anyone could read the token, or answer in place of a host. */
function refuseUnsafeEnvironment(env: NodeJS.ProcessEnv): void {
  for (const [variable, value] of Object.entries(env)) {
    const [, effect, instead] =
      UNSAFE_VARIABLES.find(([unsafe]) => unsafe.test(`${variable}=${value}`)) ?? [];
    if (effect === undefined) continue;
    refuseInput(`the environment variable ${variable} ${effect}`, `remove ${variable}${instead}`);
  }
}

/** Refuses secrets in the inputs, which may become public, and never names them. @see protocol 7 (prohibition 3) */
export async function refuseSecretInputs(
  raw: RawInputs,
  ownSecrets: readonly OwnCredential[],
  logger: Pick<Logger, 'mask'>,
): Promise<void> {
  for (const { name: owner, value } of withToken(raw.token, ownSecrets)) {
    const { isIn } = createSecretPattern(value);
    const leak = INPUT_NAMES.find((name) => name !== 'token' && isIn(raw[name]));
    const kind = value === raw.token ? owner : `a credential of this environment (${owner})`;
    if (leak !== undefined)
      refuseInput((w) => `${w.subject(leak)} contains ${kind}`, `remove ${kind} from it`);
  }
  const allowed = new Set(PARSERS.fingerprints(raw['allow-secret'].toLowerCase()));
  for (const name of INPUT_NAMES.filter((input) => INPUTS[input].isSearched !== false)) {
    const all = await findSecretsInText(raw[name]);
    const findings = all.filter(({ fingerprint }) => !allowed.has(fingerprint));
    for (const { secret } of findings) logger.mask(secret);
    const [first] = findings;
    if (first === undefined) continue;
    refuseInput(
      (w) =>
        `${w.subject(name)} contains what looks like a secret: ${nameSecret(first.rule)}${w.fingerprint(first.fingerprint)}`,
      (w) =>
        `remove and revoke it${w.orSet('allow-secret', first.fingerprint, ' if it is known to be harmless')}`,
    );
  }
}
