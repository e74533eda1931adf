import { isCredential } from './credentials.ts';
import { createSecretPattern } from './secret-pattern.ts';

const REPLACEMENT = '***';

/** Knows the secrets of a run and replaces them in any text. */
export interface Redactor {
  /** From now on `redact` replaces this secret; a value that is too short or too common is no secret. */
  addSecret(secret: string): void;
  redact(text: string): string;
}

/** Creates a redactor that also finds what ordinary programs make of a secret. */
export function createRedactor(): Redactor {
  const secrets = new Set<string>();
  let patterns: readonly RegExp[] = [];
  return {
    addSecret(given) {
      for (const secret of secretsIn(given)) secrets.add(secret);
      // The longest first, so that a secret that contains another one is replaced completely.
      const sorted = [...secrets].sort((one, other) => other.length - one.length);
      patterns = sorted.map((secret) => createSecretPattern(secret).regex);
    },
    redact: (text) => patterns.reduce((clean, regex) => clean.replaceAll(regex, REPLACEMENT), text),
  };
}

/** The parts of a value that are secrets: of one with line breaks, each line. */
export function secretsIn(given: string): string[] {
  return given.split(/\s+/).filter(isCredential);
}
