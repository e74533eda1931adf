const BLOT = '***';

/** Knows the secrets of a delivery, and blots them out of any text. */
export interface Redactor {
  /** From now on the secret stands in no text that passed `redact`. */
  keep(secret: string): void;
  redact(text: string): string;
}

/** Blots secrets out also where they stand encoded as base64, in a URL or in JSON. */
export function createRedactor(): Redactor {
  let forms: string[] = [];
  return {
    keep(secret) {
      if (secret === '') return;
      const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
      forms = [...forms, secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64];
      // The longest first: a secret that holds another one is blotted out whole.
      forms.sort((one, other) => other.length - one.length);
    },
    redact: (text) => forms.reduce((clean, form) => clean.replaceAll(form, BLOT), text),
  };
}
