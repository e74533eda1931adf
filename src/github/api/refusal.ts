import { shortHostMessage } from '../../http/response.ts';

/** A call's answer that is not a success. */
export interface ApiRefusal {
  readonly status: number;
  /** GitHub's own message, in one line, shortened. */
  readonly message: string;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** `errors[].code` of a validation failure. */
  readonly codes: readonly string[];
}

/** The type of GraphQL's error for its rate limit. */
export const GRAPHQL_LIMIT = 'RATE_LIMITED';

/** The code of any error in an answer of GraphQL. */
export const GRAPHQL_FAULT = 'GRAPHQL_FAULT';

/** What was refused, where Octokit threw an answer of the host; `undefined` for any other error. */
export function parseRefusal(thrown: unknown): ApiRefusal | undefined {
  if (!(thrown instanceof Error) || !('response' in thrown)) return undefined;
  const response = thrown.response as
    | { status: number; data: unknown; headers: ApiRefusal['headers'] }
    | undefined;
  if (response === undefined) return undefined;
  return { status: response.status, headers: response.headers, ...parseErrorBody(response.data) };
}

/** The message and codes of an error body; empty where it is not GitHub's JSON. */
export function parseErrorBody(data: unknown): Pick<ApiRefusal, 'message' | 'codes'> {
  if (typeof data !== 'object' || data === null) return { message: '', codes: [] };
  const { message, errors } = data as { message?: unknown; errors?: unknown };
  const list: unknown[] = [errors ?? []].flat();
  const getAll = (field: 'code' | 'message'): string[] =>
    list.flatMap((error) => {
      if (typeof error === 'string') return field === 'message' ? [error] : [];
      const text = (error as Record<string, unknown> | null)?.[field];
      return text === undefined ? [] : [String(text)];
    });
  return {
    message: shortHostMessage([message, ...getAll('message')].join('; ')),
    codes: getAll('code'),
  };
}

/**
 * What a GraphQL answer refuses, which it does with HTTP 200. An answer with `errors` may have a part of its `data`,
 * in which what is missing is not absent: so none of it counts.
 *
 * @see https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
 */
export function findGraphqlRefusal(data: unknown): Pick<ApiRefusal, 'message' | 'codes'> | undefined {
  const { errors } = (data ?? {}) as { errors?: unknown };
  const list = (Array.isArray(errors) ? errors : []) as ({ type?: unknown; message?: unknown } | null)[];
  if (list.length === 0) return undefined;
  const isLimit = list.some(
    (error) => error?.type === GRAPHQL_LIMIT || /rate limit/i.test(String(error?.message)),
  );
  const types = list.flatMap((error) => (typeof error?.type === 'string' ? [error.type] : []));
  const messages = new Set(
    list.flatMap((error) => (error?.message === undefined ? [] : [String(error.message)])),
  );
  return {
    message: shortHostMessage([...messages].join('; ')),
    codes: [...types, ...(isLimit ? [GRAPHQL_LIMIT] : []), GRAPHQL_FAULT],
  };
}

/** Whether the body is a page: of a proxy on the way, or of a host that is not GitHub's API. */
export const isPage = ({ headers }: Pick<ApiRefusal, 'headers'>): boolean =>
  /\bhtml\b/i.test(String(headers['content-type'] ?? ''));
