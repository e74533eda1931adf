import { createSecretPattern } from './secret-pattern.ts';

/** The shortest value of unknown form that counts as a credential, and how many different characters it has. */
const SHORTEST = { length: 16, characters: 8, mixedCase: 24 } as const;

/** The prefixes by which GitHub marks its tokens; with one, a short value counts as well. */
const GITHUB_TOKEN = /^(?:gh[opsur]_|github_pat_)[\w.-]{5,}$/;

/** Whether it can be a credential: long, mixed and without spaces. Anything else occurs in texts by chance. */
export function isCredential(value: string): boolean {
  if (GITHUB_TOKEN.test(value)) return true;
  if (!/^[!-~]+$/.test(value) || value.includes('://') || value.length < SHORTEST.length) return false;
  return isMixed(value);
}

/** Whether a text has many different characters: letters and digits, or, in a long one, both cases. */
export function isMixed(text: string): boolean {
  if (new Set(text).size < SHORTEST.characters) return false;
  if (/\d/.test(text)) return /[a-z]/i.test(text);
  return text.length >= SHORTEST.mixedCase && /[a-z]/.test(text) && /[A-Z]/.test(text);
}

const CREDENTIAL_VARIABLES = [
  ...['GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_ENTERPRISE_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_PAT', 'GH_PAT'],
  ...['ACTIONS_RUNTIME_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN', 'NODE_AUTH_TOKEN', 'NPM_TOKEN'],
];

/** The credentials in the environment. @param further names of more variables that may hold one */
export function readCredentials(
  env: Readonly<Record<string, string | undefined>>,
  further: readonly string[] = [],
): string[] {
  const values = [...CREDENTIAL_VARIABLES, ...further].map((name) => env[name]?.trim() ?? '');
  return [...new Set(values)].filter(isCredential);
}

const REPLACEMENT = '***';

/** Knows the secrets of a run and replaces them in any text. */
export interface Redactor {
  /** From now on `redact` replaces this secret; a value that is too short or too common is no secret. */
  addSecret(secret: string): void;
  redact(text: string): string;
}

/** Creates a redactor that also finds what ordinary programs make of a secret. */
export function createRedactor(): Redactor {
  let patterns: readonly (readonly [secret: string, regex: RegExp])[] = [];
  return {
    addSecret(given) {
      const added = secretsIn(given).map((secret) => [secret, createSecretPattern(secret).regex] as const);
      // The longest first, so that a secret that contains another one is replaced completely.
      patterns = [...new Map([...patterns, ...added])].sort(([one], [other]) => other.length - one.length);
    },
    redact: (text) => patterns.reduce((clean, [, regex]) => clean.replaceAll(regex, REPLACEMENT), text),
  };
}

/** The parts of a value that are secrets: of one with line breaks, each line. */
export function secretsIn(given: string): string[] {
  return given.split(/\s+/).filter(isCredential);
}
