import type { FakeActionsService } from '../hosts/actions-service.ts';
import { type CountedRequest, RATE_LIMIT_EXCEEDED, type RateLimits } from '../rate-limits.ts';
import type { TestRepository } from '../repository.ts';
import {
  decodeComponent,
  type HostHandler,
  type HostReply,
  type HostRequest,
  ReplyError,
  readJsonBody,
  replyJson,
} from '../server/messages.ts';
import type { TokenPermissions, TokenStore } from '../tokens.ts';
import { ACTIONS_ROUTES } from './actions.ts';
import { type ApiRoute, assertPermission, matchPath } from './call.ts';
import { CONTENTS_ROUTES } from './contents.ts';
import { DEPLOYMENT_ROUTES } from './deployments.ts';
import { fail, failNotFound } from './errors.ts';
import { COMMIT_ROUTES, GIT_DATA_ROUTES } from './git-data.ts';
import { answerGraphql } from './graphql.ts';
import { ISSUE_ROUTES } from './issues.ts';
import { createPagesDeploymentRoutes, PAGES_ROUTES } from './pages.ts';
import { RELEASE_ROUTES } from './releases.ts';
import { REPOSITORY_ROUTES } from './repository.ts';

const ROUTES: readonly ApiRoute[] = [
  ...REPOSITORY_ROUTES,
  ...CONTENTS_ROUTES,
  ...COMMIT_ROUTES,
  ...GIT_DATA_ROUTES,
  ...ACTIONS_ROUTES,
  ...PAGES_ROUTES,
  ...DEPLOYMENT_ROUTES,
  ...RELEASE_ROUTES,
  ...ISSUE_ROUTES,
];

export type FindRepository = (owner: string, name: string) => TestRepository | undefined;

export interface ApiHostParts {
  readonly find: FindRepository;
  readonly tokens: TokenStore;
  readonly rateLimits: RateLimits;
  /** The services of jobs; an Enterprise Server has none. */
  readonly actions?: FakeActionsService;
}

/** Simulates api.github.com. */
export function createApiHost(parts: ApiHostParts): HostHandler {
  const routes =
    parts.actions === undefined ? ROUTES : [...ROUTES, ...createPagesDeploymentRoutes(parts.actions)];
  return async (request) => {
    const reply = await handleRequest(request, parts, routes).catch((error) => {
      if (error instanceof ReplyError) return error.reply;
      throw error;
    });
    return addLimits(request, reply, parts);
  };
}

/** The rate limit that a request counts for. */
function countFor(request: HostRequest, tokens: TokenStore): CountedRequest {
  const [root, owner = '', name = ''] = request.path.split('/').slice(1);
  const repository = root === 'repos' ? `${request.host}/${owner}/${name}` : '';
  const resource = root === 'graphql' ? 'graphql' : 'core';
  return { login: tokens.getLogin(parseToken(request)) ?? null, repository, resource };
}

/** The permissions of the request's token; null without a token. A bad token ends the request. */
export function authenticate(request: HostRequest, tokens: TokenStore): TokenPermissions | null {
  if (request.headers.authorization === undefined) return null;
  return tokens.getPermissions(parseToken(request)) ?? fail(401, 'Bad credentials');
}

function parseToken({ headers }: HostRequest): string {
  return /^(?:bearer|token) (\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}

async function handleRequest(
  request: HostRequest,
  { find, tokens, rateLimits }: ApiHostParts,
  routes: readonly ApiRoute[],
): Promise<HostReply> {
  const permissions = authenticate(request, tokens);
  const counted = countFor(request, tokens);
  const { login } = counted;
  if (!rateLimits.take(counted)) fail(403, RATE_LIMIT_EXCEEDED);
  const [root, owner = '', name = '', ...rest] = request.path.split('/').slice(1);
  const readBody = async () => (await readJsonBody(request)) ?? fail(400, 'Problems parsing JSON');
  if (root === 'graphql') {
    if (login === null) fail(401, 'Requires authentication');
    return replyJson(200, answerGraphql(await readBody(), login, find));
  }
  if (root !== 'repos') failNotFound();
  const repository = find(decodeComponent(owner), decodeComponent(name)) ?? failNotFound();
  if (repository.isPrivate && permissions === null) failNotFound();
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  for (const { method, pattern, permissions: need, handle } of routes) {
    const parameters = method === (isRead ? 'GET' : request.method) ? matchPath(pattern, rest) : null;
    if (parameters === null) continue;
    // Public files, commits, releases and workflow runs can be read without permissions; Pages and deployments can't.
    const readsPublic = isRead && !repository.isPrivate && (need.contents ?? need.actions) !== undefined;
    assertPermission(permissions, need, readsPublic, login);
    const body = isRead ? {} : await readBody();
    return handle({ request, body, repository, parameters, permissions, login });
  }
  return failNotFound();
}

/** The rate limit headers of every answer. */
function addLimits(request: HostRequest, reply: HostReply, { tokens, rateLimits }: ApiHostParts): HostReply {
  const { limit, used, resetAt } = rateLimits.get(countFor(request, tokens));
  const headers = {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(Math.max(0, limit - used)),
    'x-ratelimit-used': String(used),
    'x-ratelimit-reset': String(Math.ceil(resetAt / 1000)),
    ...reply.headers,
  };
  return { ...reply, headers };
}
