import { refuseInput } from './values.ts';

/** Variables that turn off the check of certificates, with the values that do so. */
const UNSAFE_VARIABLES: Readonly<Record<string, RegExp>> = {
  NODE_TLS_REJECT_UNAUTHORIZED: /^0$/,
  // Git turns it off for any value, even for an empty one.
  GIT_SSL_NO_VERIFY: /^/,
};

/**
 * Refuses an environment in which anyone on the network could read the token or answer in place of a host.
 *
 * @throws {DeliveryError} `BAD_INPUT` with the variable to remove.
 */
export function refuseUnsafeEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const [name, unsafe] of Object.entries(UNSAFE_VARIABLES)) {
    const value = env[name];
    if (value === undefined || !unsafe.test(value)) continue;
    refuseInput(
      `the environment variable ${name} turns off the check of certificates, so no host can be trusted`,
      `remove ${name}, and set \`NODE_EXTRA_CA_CERTS\` to a file with the certificate of the proxy or host`,
    );
  }
}
