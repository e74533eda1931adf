import { type HostReply, ReplyError, replyJson } from '../server/messages.ts';

const DOCUMENTATION = 'https://docs.github.com/rest';

export interface ValidationError {
  readonly resource: string;
  readonly code: string;
  readonly field?: string;
  readonly message?: string;
}

export function createErrorReply(
  status: number,
  message: string,
  { errors, headers = {} }: { errors?: readonly ValidationError[]; headers?: Record<string, string> } = {},
): HostReply {
  const extra = errors === undefined ? {} : { errors };
  const body = { message, ...extra, documentation_url: DOCUMENTATION, status: String(status) };
  return replyJson(status, body, headers);
}

export function fail(status: number, message: string): never {
  throw new ReplyError(createErrorReply(status, message));
}

export function failNotFound(): never {
  fail(404, 'Not Found');
}

export function failInvalid(...errors: ValidationError[]): never {
  throw new ReplyError(createErrorReply(422, 'Validation Failed', { errors }));
}

export function failMissing(field: string): never {
  fail(422, `Invalid request.\n\n"${field}" wasn't supplied.`);
}
