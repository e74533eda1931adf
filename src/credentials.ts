import { createSecretPattern } from './secret-pattern.ts';

/** The shortest value of unknown form that counts as a credential, and how many different characters it has. */
const SHORTEST = { length: 16, characters: 8, mixedCase: 24 } as const;

/** The prefixes by which GitHub marks its tokens; with one, a short value counts as well. */
const GITHUB_TOKEN = /^(?:gh[opsur]_|github_pat_)[\w.-]{5,}$/;

/** Whether it is an app's, as that of a job is, and no person's. */
export const isAppToken = (token: string): boolean => token.startsWith('ghs_');

/** Whether it can be a credential: long, mixed and without spaces. Anything else occurs in texts by chance. */
export function isCredential(value: string): boolean {
  if (GITHUB_TOKEN.test(value)) return true;
  if (/[\p{Cc}\p{Z}]/u.test(value) || value.includes('://') || value.length < SHORTEST.length) return false;
  return isMixed(value);
}

/** Whether a text has many different characters: letters and digits, or, in a long one, both cases. */
export function isMixed(text: string): boolean {
  if (new Set(text).size < SHORTEST.characters) return false;
  if (/\d/.test(text)) return /\p{L}/u.test(text);
  return text.length >= SHORTEST.mixedCase && /\p{Ll}/u.test(text) && /\p{Lu}/u.test(text);
}

/** A credential of this environment, and the variable that has it: only its name is ever told. */
export interface OwnCredential {
  readonly name: string;
  readonly value: string;
}

/** What a variable is called whose value is secret. */
const SECRET_NAME = /TOKEN|SECRET|PASSWORD|PRIVATE_KEY|^(?:GITHUB|GH)_PAT$/i;

/** A build puts these into pages on purpose; what a runner makes of inputs is checked as inputs. */
const PUBLIC_NAME = /^(?:NEXT_PUBLIC|VITE|REACT_APP|PUBLIC|NUXT_PUBLIC|GATSBY|EXPO_PUBLIC|INPUT)_/;

/** The path of a file; a relative one may be known by its ending alone. */
const PATH = /^(?:~|\.{1,2}|[a-z]:)[\\/]|^\/[a-z]{2,}\/|\.[a-z][a-z\d]{1,4}$/i;

/** Such as `prod`, `myVault`, `DB2` or `2026`. */
const WORD = /^(?:[A-Za-z]?[a-z]*(?:[A-Z][a-z]+)*|[A-Z]+)\d{0,4}$|^\d+$/;

/** Whether a value names something, such as a file or a secret of a vault, and is no secret itself. */
const isName = (value: string): boolean =>
  !GITHUB_TOKEN.test(value) &&
  (PATH.test(value) || (/[-_./:@]/.test(value) && value.split(/[-_./:@]/).every((part) => WORD.test(part))));

/**
 * The credentials in the environment: the longest part without spaces of each variable with a name that says so, if it is
 * long and random enough. @see SECURITY.md
 *
 * @param further name of one more variable that has one
 */
export function readCredentials(env: NodeJS.ProcessEnv, further?: string): readonly OwnCredential[] {
  const found = new Map<string, OwnCredential>();
  for (const [name, text = ''] of Object.entries(env)) {
    const isNamed = SECRET_NAME.test(name) && !PUBLIC_NAME.test(name);
    const [value] = secretsIn(text)
      .filter((part) => name === further || (isNamed && !isName(part)))
      .sort((part, other) => other.length - part.length);
    if (value !== undefined && !found.has(value)) found.set(value, { name, value });
  }
  return [...found.values()];
}

/** All of a run: the token first, so that it is called that. */
export const withToken = (token: string | undefined, others: readonly OwnCredential[]) => {
  const all = [{ name: 'the token', value: token ?? '' }, ...others.filter(({ value }) => value !== token)];
  return all.filter(({ value }) => isCredential(value));
};

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
      patterns = [...new Map([...patterns, ...added])].sort(
        ([secret], [other]) => other.length - secret.length,
      );
    },
    redact: (text) => patterns.reduce((clean, [, regex]) => clean.replaceAll(regex, REPLACEMENT), text),
  };
}

/** The parts of a value that are secrets: of one with line breaks, each line. */
export function secretsIn(given: string): string[] {
  return given.split(/\s+/).filter(isCredential);
}
