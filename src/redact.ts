const REPLACEMENT = '***';

/** Knows the secrets of a run and replaces them in any text. */
export interface Redactor {
  /** From now on `redact` replaces this secret. */
  addSecret(secret: string): void;
  redact(text: string): string;
}

/** Creates a redactor that also finds secrets encoded as base64, in a URL or in JSON. */
export function createRedactor(): Redactor {
  let forms: string[] = [];
  return {
    addSecret(secret) {
      forms = [...forms, ...encodedForms(secret)];
      // The longest first, so that a secret that contains another one is replaced completely.
      forms.sort((one, other) => other.length - one.length);
    },
    redact: (text) => forms.reduce((clean, form) => clean.replaceAll(form, REPLACEMENT), text),
  };
}

/** A secret in every form in which it may appear in a text: plain and encoded. */
export function encodedForms(secret: string): string[] {
  if (secret === '') return [];
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64])];
}
