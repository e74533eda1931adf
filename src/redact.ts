import { isCredential } from './credentials.ts';
import { createSecretMatcher, type SecretMatcher } from './secret-pattern.ts';

const REPLACEMENT = '***';

/** Knows the secrets of a run and replaces them in any text. */
export interface Redactor {
  /** From now on `redact` replaces this secret; a value that is too short or too common is no secret. */
  addSecret(secret: string): void;
  redact(text: string): string;
}

/** Creates a redactor that also finds secrets in every usual encoding. */
export function createRedactor(): Redactor {
  let secrets: { readonly secret: string; readonly matcher: SecretMatcher }[] = [];
  return {
    addSecret(given) {
      for (const secret of secretsIn(given)) {
        if (secrets.some((known) => known.secret === secret)) continue;
        secrets = [...secrets, { secret, matcher: createSecretMatcher(secret) }];
      }
      // The longest first, so that a secret that contains another one is replaced completely.
      secrets.sort((one, other) => other.secret.length - one.secret.length);
    },
    redact: (text) => secrets.reduce((clean, { matcher }) => matcher.replaceIn(clean, REPLACEMENT), text),
  };
}

/** The parts of a value that are secrets: of one with line breaks, each line. */
export function secretsIn(given: string): string[] {
  return given.split(/\s+/).filter(isCredential);
}
