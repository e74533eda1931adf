import { refuseInput } from './input-kinds.ts';

const NO_CERTIFICATES = {
  effect: 'turns off the check of certificates, so no host can be trusted',
  instead: ', and set `NODE_EXTRA_CA_CERTS` to a file with the certificate of the proxy or host',
};

/** Variables with the values by which a secret gets out, what they do, and what to do in their place. */
const UNSAFE_VARIABLES = {
  NODE_TLS_REJECT_UNAUTHORIZED: { values: /^0$/, ...NO_CERTIFICATES },
  // Git turns it off for any value, even for an empty one.
  GIT_SSL_NO_VERIFY: { values: /^/, ...NO_CERTIFICATES },
  NODE_DEBUG: {
    // Names with `*` for anything, separated by commas.
    values: /(?:^|,)\s*(?:child_process|[a-z_]*\*[a-z_*]*)\s*(?:,|$)/i,
    effect: 'makes Node print the environment of each program that is started, and so the token for git',
    instead: ' or the name `child_process` from it',
  },
};

/** Refuses an environment in which anyone could read the token, or answer in place of a host. */
export function refuseUnsafeEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const [name, { values, effect, instead }] of Object.entries(UNSAFE_VARIABLES)) {
    const value = env[name];
    if (value === undefined || !values.test(value)) continue;
    refuseInput(`the environment variable ${name} ${effect}`, `remove ${name}${instead}`);
  }
}
