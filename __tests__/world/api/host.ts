import { createHash, randomUUID } from 'node:crypto';
import type { FakeActionsService } from '../hosts/actions-service.ts';
import { completeAnswer } from '../openapi/description.ts';
import { type CountedRequest, describeExcess, type RateLimits } from '../rate-limits.ts';
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
/** The versions of the API, the newest first, and what is used where none is asked for. */
const API_VERSIONS = ['2026-03-10', '2022-11-28'] as const;
const DEFAULT_VERSION = '2022-11-28';

export type FindRepository = (owner: string, name: string) => TestRepository | undefined;

export interface ApiHostParts {
  readonly find: FindRepository;
  readonly tokens: TokenStore;
  readonly rateLimits: RateLimits;
  /** The services of jobs; on an Enterprise Server there are none. */
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
    return addApiHeaders(request, completeReply(request, reply), parts);
  };
}

/** A handler answers what matters; the rest is filled in as GitHub's description requires it. */
export function completeReply({ method, url, headers }: HostRequest, reply: HostReply): HostReply {
  if (typeof reply.body !== 'string' || reply.status >= 400) return reply;
  const asked = { method, url, accept: headers.accept };
  return { ...reply, body: JSON.stringify(completeAnswer(asked, reply.status, JSON.parse(reply.body))) };
}

/** What a request is counted for. */
function countFor(request: HostRequest, tokens: TokenStore): CountedRequest {
  const [root, owner = '', name = ''] = request.path.split('/').slice(1);
  const repository = root === 'repos' ? `${request.host}/${owner}/${name}` : '';
  const resource = root === 'graphql' ? 'graphql' : 'core';
  return { login: tokens.getLogin(parseToken(request)) ?? null, repository, resource };
}

function assertKnownVersion({ headers }: HostRequest): void {
  const asked = headers['x-github-api-version'];
  if (asked === undefined || API_VERSIONS.some((version) => version === asked)) return;
  const supported = API_VERSIONS.map((version, at) => `"${version}"${at === 0 ? ' (most recent)' : ''}`);
  fail(
    400,
    `Bad Request: The version you specified in the "X-GitHub-API-Version" request header, "${asked}", is not a supported version. The following versions are currently supported: ${supported.join(', ')}.`,
  );
}

/** The permissions of the request's token; null without one. A bad one ends the request. */
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
  if (request.headers['user-agent'] === undefined) {
    fail(
      403,
      'Request forbidden by administrative rules. Please make sure your request has a User-Agent header',
    );
  }
  assertKnownVersion(request);
  const permissions = authenticate(request, tokens);
  const counted = countFor(request, tokens);
  const { login } = counted;
  if (!rateLimits.take(counted)) fail(403, describeExcess(login));
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
    assertPermission(permissions, need, readsPublic);
    const body = isRead ? {} : await readBody();
    return handle({ request, body, repository, parameters, permissions, login });
  }
  return failNotFound();
}

function addApiHeaders(
  request: HostRequest,
  reply: HostReply,
  { tokens, rateLimits }: ApiHostParts,
): HostReply {
  const counted = countFor(request, tokens);
  const state = rateLimits.get(counted);
  const headers = (): Record<string, string> => ({
    server: 'github.com',
    'x-github-request-id': randomUUID().toUpperCase(),
    'x-github-media-type': 'github.v3; format=json',
    'x-github-api-version-selected': String(request.headers['x-github-api-version'] ?? DEFAULT_VERSION),
    'x-ratelimit-limit': String(state.limit),
    'x-ratelimit-remaining': String(Math.max(0, state.limit - state.used)),
    'x-ratelimit-used': String(state.used),
    'x-ratelimit-reset': String(Math.ceil(state.resetAt / 1000)),
    'x-ratelimit-resource': counted.resource,
    ...reply.headers,
  });
  if (request.method !== 'GET' || reply.status !== 200 || typeof reply.body !== 'string') {
    return { ...reply, headers: headers() };
  }
  const etag = `W/"${createHash('sha256').update(reply.body).digest('hex')}"`;
  if (request.headers['if-none-match'] !== etag) return { ...reply, headers: { ...headers(), etag } };
  // An answer that has not changed is free.
  state.used -= 1;
  return { status: 304, headers: { ...headers(), etag } };
}
