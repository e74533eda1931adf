import { json, Refusal, type Reply } from '../front/http.ts';

const DOCUMENTATION = 'https://docs.github.com/rest';

/** One entry of a validation error. */
export interface Flaw {
  readonly resource: string;
  readonly code: string;
  readonly field?: string;
  readonly message?: string;
}

/** GitHub's error body. */
export function errorReply(
  status: number,
  message: string,
  { errors, headers = {} }: { errors?: readonly Flaw[]; headers?: Record<string, string> } = {},
): Reply {
  const extra = errors === undefined ? {} : { errors };
  const body = { message, ...extra, documentation_url: DOCUMENTATION, status: String(status) };
  return json(status, body, headers);
}

/** Ends the handling of a request with GitHub's error body. */
export function fail(status: number, message: string): never {
  throw new Refusal(errorReply(status, message));
}

export function notFound(): never {
  fail(404, 'Not Found');
}

/** A broken rule of a model: 422 with its flaws. */
export function invalid(...errors: Flaw[]): never {
  throw new Refusal(errorReply(422, 'Validation Failed', { errors }));
}

/** A missing field of the request's body. */
export function missing(field: string): never {
  fail(422, `Invalid request.\n\n"${field}" wasn't supplied.`);
}
