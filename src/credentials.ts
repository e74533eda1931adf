import { createSecretPattern } from './secret-pattern.ts';

/** The least length and variety of a credential of unknown form. */
const SHORTEST = { length: 16, characters: 8, mixedCase: 24 } as const;

/** GitHub's token prefixes: with a prefix, a short value counts too. */
const GITHUB_TOKEN = /^(?:gh[opsur]_|github_pat_)[\w.-]{5,}$/;

/** Whether the token belongs to an app, like a job's token, and not to a person. */
export const isAppToken = (token: string): boolean => token.startsWith('ghs_');

/** Whether the value is long, mixed and without spaces. Other values occur in texts by chance. */
export function isCredential(value: string): boolean {
  if (GITHUB_TOKEN.test(value)) return true;
  if (/[\p{Cc}\p{Z}]/u.test(value) || value.includes('://') || value.length < SHORTEST.length) return false;
  return isMixed(value);
}

/** Whether a text mixes letters and digits, or both cases in a long text. */
export function isMixed(text: string): boolean {
  if (new Set(text).size < SHORTEST.characters) return false;
  if (/\d/.test(text)) return /\p{L}/u.test(text);
  return text.length >= SHORTEST.mixedCase && /\p{Ll}/u.test(text) && /\p{Lu}/u.test(text);
}

/** A credential of this environment. Only the variable's name is ever reported. */
export interface OwnCredential {
  readonly name: string;
  readonly value: string;
}

/** Names of variables with secret values. */
const SECRET_NAME = /TOKEN|SECRET|PASSWORD|PRIVATE_KEY|^(?:GITHUB|GH)_PAT$/i;

/** Builds put these into pages on purpose. A runner's `INPUT_` variables are checked as inputs. */
const PUBLIC_NAME = /^(?:NEXT_PUBLIC|VITE|REACT_APP|PUBLIC|NUXT_PUBLIC|GATSBY|EXPO_PUBLIC|INPUT)_/;

/** A path, by its start or its file extension. */
const PATH = /^(?:~|\.{1,2}|[a-z]:)[\\/]|^\/[a-z]{2,}\/|\.[a-z][a-z\d]{1,4}$/i;

/** Such as `prod`, `myVault`, `DB2` or `2026`. */
const WORD = /^(?:[A-Za-z]?[a-z]*(?:[A-Z][a-z]+)*|[A-Z]+)\d{0,4}$|^\d+$/;

/** Whether a value names a file or a vault's secret rather than being secret itself. */
const isName = (value: string): boolean =>
  !GITHUB_TOKEN.test(value) &&
  (PATH.test(value) || (/[-_./:@]/.test(value) && value.split(/[-_./:@]/).every((part) => WORD.test(part))));

/**
 * Reads credentials from variables with a telling name: the longest part without spaces, if it is random enough.
 * @param further name of one more variable @see SECURITY.md
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

/** All credentials of a run, with the token first, so that messages call it so. */
export const withToken = (token: string | undefined, others: readonly OwnCredential[]) => {
  const all = [{ name: 'the token', value: token ?? '' }, ...others.filter(({ value }) => value !== token)];
  return all.filter(({ value }) => isCredential(value));
};

const REPLACEMENT = '***';

/** Knows the secrets of a run and replaces them in any text. */
export interface Redactor {
  /** From now on `redact` replaces this secret, unless it is too short or too common. */
  addSecret(secret: string): void;
  redact(text: string): string;
}

/** Creates a redactor that also finds common encodings of a secret. */
export function createRedactor(): Redactor {
  let patterns: readonly (readonly [secret: string, regex: RegExp])[] = [];
  return {
    addSecret(given) {
      const added = secretsIn(given).map((secret) => [secret, createSecretPattern(secret).regex] as const);
      // Longest first, because a secret may contain another secret.
      patterns = [...new Map([...patterns, ...added])].sort(
        ([secret], [other]) => other.length - secret.length,
      );
    },
    redact: (text) => patterns.reduce((clean, [, regex]) => clean.replaceAll(regex, REPLACEMENT), text),
  };
}

/** The secret parts of a value, such as its lines. */
export function secretsIn(given: string): string[] {
  return given.split(/\s+/).filter(isCredential);
}
