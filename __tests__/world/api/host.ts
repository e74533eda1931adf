import { createHash, randomUUID } from 'node:crypto';
import { decoded, type Handler, type Incoming, json, jsonBody, Refusal, type Reply } from '../front/http.ts';
import type { WorldRepository } from '../repository.ts';
import { covers, type Permissions, type Tokens } from '../tokens.ts';
import { commitRoutes } from './commits.ts';
import { contentsRoutes } from './contents.ts';
import { errorReply, fail, notFound } from './errors.ts';
import { gitDataRoutes } from './git-data.ts';
import { pagesRoutes } from './pages.ts';
import { releaseRoutes } from './releases.ts';
import { repositoryRoutes, userView } from './repository.ts';
import { type Need, parametersOf, type Route } from './routes.ts';

const ROUTES: readonly Route[] = [
  ...repositoryRoutes,
  ...contentsRoutes,
  ...commitRoutes,
  ...gitDataRoutes,
  ...pagesRoutes,
  ...releaseRoutes,
];
/** Left to the emulator, with what a token needs for it. */
const TRACKER_PATHS = /^(issues|pulls|labels|milestones|comments)$/;
const ISSUES_OR_PULLS = ['issues', 'pull_requests'] as const;
const HOURLY_LIMIT = 5000;

export type FindRepository = (owner: string, name: string) => WorldRepository | undefined;

/** Plays api.github.com. */
export function apiHost(find: FindRepository, tokens: Tokens): Handler {
  let used = 0;
  return async (request) => {
    used += 1;
    const reply = await answer(request, find, tokens);
    return withEnvelope(request, reply, used);
  };
}

/** The permissions of the request's token; null without one. A bad one ends the request. */
export function authenticate(request: Incoming, tokens: Tokens): Permissions | null {
  if (request.headers.authorization === undefined) return null;
  return tokens.permissionsOf(tokenOf(request)) ?? fail(401, 'Bad credentials');
}

function tokenOf({ headers }: Incoming): string {
  return /^(?:bearer|token) (\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}

/** Ends the request unless its token covers one of the needs. */
export function authorize(permissions: Permissions | null, need: Need, readsPublic: boolean): void {
  const needs = Object.entries(need) as [keyof Permissions, 'read' | 'write'][];
  if (needs.length === 0) return;
  if (permissions === null) {
    if (readsPublic) return;
    fail(401, 'Requires authentication');
  }
  const isCovered = needs.some(([name, level]) => covers(permissions[name], level));
  if (isCovered || readsPublic) return;
  const accepted = needs.map(([name, level]) => `${name}=${level}`).join('; ');
  throw new Refusal(
    errorReply(403, 'Resource not accessible by integration', {
      headers: { 'x-accepted-github-permissions': accepted },
    }),
  );
}

async function answer(request: Incoming, find: FindRepository, tokens: Tokens): Promise<Reply> {
  try {
    if (request.headers['user-agent'] === undefined) {
      fail(
        403,
        'Request forbidden by administrative rules. Please make sure your request has a User-Agent header',
      );
    }
    const permissions = authenticate(request, tokens);
    const [root, owner = '', name = '', ...rest] = request.path.split('/').slice(1);
    const login = tokens.loginOf(tokenOf(request)) ?? null;
    if (root !== 'repos') return await outsideRepositories(root, request, login);
    const repository = find(decoded(owner), decoded(name)) ?? notFound();
    if (repository.isPrivate && permissions === null) notFound();
    return await dispatch({ request, repository, permissions, login }, rest);
  } catch (error) {
    if (error instanceof Refusal) return error.reply;
    throw error;
  }
}

interface Addressed {
  readonly request: Incoming;
  readonly repository: WorldRepository;
  readonly permissions: Permissions | null;
  /** Whose token it is; null without one. */
  readonly login: string | null;
}

async function dispatch(
  { request, repository, permissions, login }: Addressed,
  rest: string[],
): Promise<Reply> {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  for (const { method, pattern, need, handle } of ROUTES) {
    if (method !== (request.method === 'HEAD' ? 'GET' : request.method)) continue;
    const parameters = parametersOf(pattern, rest);
    if (parameters === null) continue;
    // Public files, commits and releases are for everybody to read; Pages and deployments are not.
    const readsPublic = isRead && !repository.isPrivate && need.contents !== undefined;
    authorize(permissions, need, readsPublic);
    return handle({ request, repository, parameters, permissions });
  }
  if (!TRACKER_PATHS.test(rest[0] ?? '')) notFound();
  const level = isRead ? 'read' : 'write';
  const need = await trackerNeed(repository, rest, level);
  authorize(permissions, need, isRead && !repository.isPrivate);
  return repository.issues.handle(request, login);
}

/** A comment on a pull request needs pull_requests: `issues: write` alone has been refused by the real host. */
async function trackerNeed(
  { issues }: WorldRepository,
  rest: readonly string[],
  level: 'read' | 'write',
): Promise<Need> {
  const isPull = rest[0] === 'pulls' || (await issues.isAboutPull(rest));
  const names = isPull ? (['pull_requests'] as const) : ISSUES_OR_PULLS;
  return Object.fromEntries(names.map((name) => [name, level]));
}

/** REST names the owner of a person's token alone; GraphQL names that of any. */
async function outsideRepositories(
  root: string | undefined,
  request: Incoming,
  login: string | null,
): Promise<Reply> {
  if (root !== 'user' && root !== 'graphql') return errorReply(404, 'Not Found');
  if (login === null) return errorReply(401, 'Requires authentication');
  if (root === 'user') {
    if (login.endsWith('[bot]')) return errorReply(403, 'Resource not accessible by integration');
    return json(200, userView(login));
  }
  const { query } = (await jsonBody(request)) ?? {};
  if (!/^\s*(query\s*)?\{\s*viewer\s*\{\s*login\s*\}\s*\}\s*$/.test(String(query))) {
    return json(200, { errors: [{ message: 'Only the viewer is known here' }] });
  }
  return json(200, { data: { viewer: { login } } });
}

function withEnvelope(request: Incoming, reply: Reply, used: number): Reply {
  const headers: Record<string, string> = {
    server: 'github.com',
    'x-github-request-id': randomUUID().toUpperCase(),
    'x-github-media-type': 'github.v3; format=json',
    'x-ratelimit-limit': String(HOURLY_LIMIT),
    'x-ratelimit-remaining': String(Math.max(0, HOURLY_LIMIT - used)),
    'x-ratelimit-used': String(used),
    'x-ratelimit-reset': String(Math.ceil(Date.now() / 3_600_000) * 3600),
    'x-ratelimit-resource': 'core',
    ...reply.headers,
  };
  if (request.method !== 'GET' || reply.status !== 200 || typeof reply.body !== 'string') {
    return { ...reply, headers };
  }
  const etag = `W/"${createHash('sha256').update(reply.body).digest('hex')}"`;
  if (request.headers['if-none-match'] === etag) return { status: 304, headers: { ...headers, etag } };
  return { ...reply, headers: { ...headers, etag } };
}
