import type { TestRepository } from '../repository.ts';
import {
  decodeComponent,
  type HostReply,
  type HostRequest,
  ReplyError,
  replyJson,
} from '../server/messages.ts';
import { hasPermission, type TokenPermissions } from '../tokens.ts';
import { createErrorReply, fail, failMissing } from './errors.ts';

/** A request to the API whose route is known and whose credentials are good. */
export interface ApiCall {
  readonly request: HostRequest;
  readonly repository: TestRepository;
  /** The JSON of a write; empty for a read. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The named parts of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Null: a request without credentials. */
  readonly permissions: TokenPermissions | null;
  /** The token's owner; null without a token. */
  readonly login: string | null;
}

/** A text field; absent unless it is a string. */
export function getText(body: ApiCall['body'], name: string): string | undefined {
  const value = body[name];
  return typeof value === 'string' ? value : undefined;
}

export function requireText(body: ApiCall['body'], name: string): string {
  return getText(body, name) ?? failMissing(name);
}

export function getId({ parameters }: ApiCall, name: string): number {
  return Number(parameters[name]);
}

/** One page of a list, with its Link header. @param wrap what is around the page; by default nothing */
export function replyPage<Item>(
  { request }: ApiCall,
  items: readonly Item[],
  format: (item: Item) => object,
  wrap: (page: readonly object[]) => object = (page) => page,
): HostReply {
  const size = Math.min(Number(request.query.get('per_page') ?? 30) || 30, 100);
  const number = Number(request.query.get('page') ?? 1) || 1;
  const last = Math.max(1, Math.ceil(items.length / size));
  const links: string[] = [];
  const link = (page: number, rel: string) => {
    const url = new URL(request.url);
    url.searchParams.set('page', String(page));
    links.push(`<${url.href}>; rel="${rel}"`);
  };
  if (number > 1) link(number - 1, 'prev');
  if (number < last) {
    link(number + 1, 'next');
    link(last, 'last');
  }
  if (number > 1) link(1, 'first');
  const page = items.slice((number - 1) * size, number * size).map(format);
  return replyJson(200, wrap(page), links.length === 0 ? {} : { link: links.join(', ') });
}

/** A token needs at least one of these permissions. */
export type RequiredPermissions = Partial<Record<keyof TokenPermissions, 'read' | 'write'>>;

export interface ApiRoute {
  readonly method: string;
  readonly pattern: readonly string[];
  readonly permissions: RequiredPermissions;
  readonly handle: (call: ApiCall) => HostReply | Promise<HostReply>;
}

/** A route below `/repos/{owner}/{repo}`: `:name` matches one part of the path and `*name` all the rest of it. */
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

/**
 * Refuses the request unless its token has one of the needed permissions.
 * @param login the token's owner
 */
export function assertPermission(
  permissions: TokenPermissions | null,
  need: RequiredPermissions,
  readsPublic: boolean,
  login: string | null = null,
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
  const isPerson = login !== null && !login.endsWith('[bot]');
  throw new ReplyError(
    createErrorReply(
      403,
      `Resource not accessible by ${isPerson ? 'personal access token' : 'integration'}`,
      {
        headers: { 'x-accepted-github-permissions': accepted },
      },
    ),
  );
}
