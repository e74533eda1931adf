import { decoded, type Reply } from '../front/http.ts';
import type { Permissions } from '../tokens.ts';
import type { Call } from './call.ts';

/** What a token must be allowed: any one of these. */
export type Need = Partial<Record<keyof Permissions, 'read' | 'write'>>;

/** One operation of the API. */
export interface Route {
  readonly method: string;
  readonly pattern: readonly string[];
  readonly need: Need;
  readonly handle: (call: Call) => Reply | Promise<Reply>;
}

/**
 * A route below `/repos/{owner}/{repo}`. In the pattern `:name` stands for one part of the path and
 * `*name` for all the rest of it, slashes included.
 */
export function route(operation: string, need: Need, handle: Route['handle']): Route {
  const [method = '', path = ''] = operation.split(' ');
  return { method, pattern: path.split('/').slice(1), need, handle };
}

/** The parameters of a path that fits the pattern, decoded; null when it doesn't fit. */
export function parametersOf(
  pattern: readonly string[],
  path: readonly string[],
): Record<string, string> | null {
  const parameters: Record<string, string> = {};
  for (const [at, expected] of pattern.entries()) {
    if (expected.startsWith('*')) {
      parameters[expected.slice(1)] = decoded(path.slice(at).join('/'));
      return parameters;
    }
    const part = path[at];
    if (part === undefined) return null;
    if (expected.startsWith(':')) parameters[expected.slice(1)] = decoded(part);
    else if (expected !== part) return null;
  }
  return path.length === pattern.length ? parameters : null;
}
