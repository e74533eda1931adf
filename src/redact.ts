import type { Redact } from './ports.ts';

const BLOT = '***';

/**
 * Blots secrets out of any text, also where they stand encoded as base64, in a URL or in JSON.
 *
 * @param secrets credentials of this delivery; empty ones are passed over
 */
export function createRedactor(secrets: readonly (string | undefined)[]): Redact {
  const forms = secrets
    .filter((secret): secret is string => secret !== undefined && secret !== '')
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    ])
    // The longest first: a secret that holds another one is blotted out whole.
    .sort((one, other) => other.length - one.length);
  return (text) => forms.reduce((clean, form) => clean.replaceAll(form, BLOT), text);
}
