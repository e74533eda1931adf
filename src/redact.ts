const BLOT = '***';

/** Knows the secrets of a delivery, and blots them out of any text. */
export interface Redactor {
  /** From now on the secret stands in no text that passed `redact`. */
  addSecret(secret: string): void;
  redact(text: string): string;
}

/** Blots secrets out also where they stand encoded as base64, in a URL or in JSON. */
export function createRedactor(): Redactor {
  let forms: string[] = [];
  return {
    addSecret(secret) {
      forms = [...forms, ...encodedForms(secret)];
      // The longest first: a secret that holds another one is blotted out whole.
      forms.sort((one, other) => other.length - one.length);
    },
    redact: (text) => forms.reduce((clean, form) => clean.replaceAll(form, BLOT), text),
  };
}

/** A secret as it may stand in a text: as it is, and encoded. */
export function encodedForms(secret: string): string[] {
  if (secret === '') return [];
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64])];
}
