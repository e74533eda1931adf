import { decodeComponent, type HostReply, ReplyError } from '../server/messages.ts';
import { hasPermission, type TokenPermissions } from '../tokens.ts';
import type { ApiCall } from './call.ts';
import { createErrorReply, fail } from './errors.ts';

/** The permissions of which a token needs at least one. */
export type RequiredPermissions = Partial<Record<keyof TokenPermissions, 'read' | 'write'>>;

export interface ApiRoute {
  readonly method: string;
  readonly pattern: readonly string[];
  readonly permissions: RequiredPermissions;
  readonly handle: (call: ApiCall) => HostReply | Promise<HostReply>;
}

/**
 * A route below `/repos/{owner}/{repo}`. In the pattern `:name` matches one part of the path and
 * `*name` for all the rest of it, slashes included.
 */
export function createRoute(
  operation: string,
  need: RequiredPermissions,
  handle: ApiRoute['handle'],
): ApiRoute {
  const [method = '', path = ''] = operation.split(' ');
  return { method, pattern: path.split('/').slice(1), permissions: need, handle };
}

/** The parameters of a path that fits the pattern, decoded; null when it doesn't fit. */
export function matchPath(
  pattern: readonly string[],
  path: readonly string[],
): Record<string, string> | null {
  const parameters: Record<string, string> = {};
  for (const [at, expected] of pattern.entries()) {
    if (expected.startsWith('*')) {
      parameters[expected.slice(1)] = decodeComponent(path.slice(at).join('/'));
      return parameters;
    }
    const part = path[at];
    if (part === undefined) return null;
    if (expected.startsWith(':')) parameters[expected.slice(1)] = decodeComponent(part);
    else if (expected !== part) return null;
  }
  return path.length === pattern.length ? parameters : null;
}

/** Ends the request unless its token covers one of the needs. */
export function assertPermission(
  permissions: TokenPermissions | null,
  need: RequiredPermissions,
  readsPublic: boolean,
): void {
  const needs = Object.entries(need) as [keyof TokenPermissions, 'read' | 'write'][];
  if (needs.length === 0) return;
  if (permissions === null) {
    if (readsPublic) return;
    fail(401, 'Requires authentication');
  }
  const isCovered = needs.some(([name, level]) => hasPermission(permissions[name], level));
  if (isCovered || readsPublic) return;
  const accepted = needs.map(([name, level]) => `${name}=${level}`).join('; ');
  throw new ReplyError(
    createErrorReply(403, 'Resource not accessible by integration', {
      headers: { 'x-accepted-github-permissions': accepted },
    }),
  );
}
