import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiHost } from './api/host.ts';
import { WITHOUT_BROWSER } from './chromium.ts';
import { FakeActionsService } from './hosts/actions-service.ts';
import { createCodeloadHost } from './hosts/codeload.ts';
import { FakeDeviceFlow } from './hosts/device-flow.ts';
import { createEnterpriseHosts } from './hosts/enterprise.ts';
import { FakeFilebin } from './hosts/filebin.ts';
import { createGitServer } from './hosts/git-server.ts';
import { createGithubHost } from './hosts/github.ts';
import { createPagesHost } from './hosts/pages.ts';
import { createRawHost } from './hosts/raw.ts';
import { createUploadsHost } from './hosts/uploads.ts';
import { createEnterprise, type EnterpriseInstance, GITHUB_COM, type GitHubInstance } from './instance.ts';
import { RateLimits } from './rate-limits.ts';
import { type RepositoryOptions, TestRepository } from './repository.ts';
import { callHandler, startHostServer } from './server/host-server.ts';
import { type InterceptedReply, InterceptionRules, type RequestMatch } from './server/interceptions.ts';
import type { HostHandler, HostRequest } from './server/messages.ts';
import { TrafficLog } from './server/traffic-log.ts';
import { SignedStorage } from './signed-storage.ts';
import { type TokenPermissions, TokenStore } from './tokens.ts';

const RELEASE_STORAGE = 'release-assets.githubusercontent.com';
const FILEBIN_STORAGE = 'situla.filebin-storage.com';
const SIGNATURE_SECONDS = { release: 3600, filebin: 60 };

/** A local GitHub (and file-bin), reached through a proxy at the real addresses. */
export type GitHubWorld = Awaited<ReturnType<typeof startWorld>>;

/** Starts a local GitHub with its own ports and its own temporary folder. */
export async function startWorld() {
  const folder = await mkdtemp(join(tmpdir(), 'world-'));
  const stopping = new AbortController();
  const traffic = new TrafficLog();
  const interceptions = new InterceptionRules();
  const tokens = new TokenStore();
  const rateLimits = new RateLimits();
  const repositories = new Map<string, TestRepository>();
  let lastId = 1000;
  const nextId = () => ++lastId;
  const key = (instance: GitHubInstance, fullName: string) => `${instance.host}/${fullName}`.toLowerCase();
  const findOn = (instance: GitHubInstance) => (owner: string, name: string) =>
    repositories.get(key(instance, `${owner}/${name}`));

  const storage = new SignedStorage(RELEASE_STORAGE, SIGNATURE_SECONDS.release);
  const binStorage = new SignedStorage(FILEBIN_STORAGE, SIGNATURE_SECONDS.filebin);
  const filebin = new FakeFilebin(folder, binStorage, nextId);
  const deviceUser = new FakeDeviceFlow(tokens);
  const actions = new FakeActionsService(nextId);
  const createHosts = (instance: GitHubInstance) => {
    const find = findOn(instance);
    const git = createGitServer(find, tokens);
    return {
      api: createApiHost({ find, tokens, rateLimits, ...(instance === GITHUB_COM && { actions }) }),
      uploads: createUploadsHost(find, tokens, folder, nextId),
      raw: createRawHost(find, tokens),
      website: createGithubHost({ find, storage, device: deviceUser, git }),
    };
  };
  const github = createHosts(GITHUB_COM);
  const hosts = new Map<string, HostHandler>([
    ['api.github.com', github.api],
    ['uploads.github.com', github.uploads],
    ['raw.githubusercontent.com', github.raw],
    ['github.com', github.website],
    ['codeload.github.com', createCodeloadHost(findOn(GITHUB_COM))],
    ...actions.hosts,
    ['filebin.net', filebin.handler],
    [storage.host, storage.handler],
    [binStorage.host, binStorage.handler],
  ]);
  const findHandler = (host: string) => hosts.get(host) ?? createPagesHost(host, repositories.values());
  const proxy = await startHostServer({ traffic, interceptions, findHandler }, folder);

  return {
    /** The environment variables that lead programs to the local GitHub. */
    env: { ...proxy.env, ...WITHOUT_BROWSER } as Readonly<Record<string, string>>,
    /** The proxy's certificate authority in PEM, for clients in the test's own process. */
    ca: proxy.ca,
    proxyUrl: proxy.url,
    proxy,
    /** A temporary folder that `stop` removes. */
    folder,
    traffic,
    filebin,
    deviceUser,
    /** The services that a job's runner offers to an action. */
    actions,
    /** The API's hourly limits. */
    rateLimits,
    async repository(spec: RepositoryOptions): Promise<TestRepository> {
      const repository = TestRepository.create(spec, { folder, nextId, stopped: stopping.signal });
      repositories.set(key(repository.instance, repository.fullName), repository);
      return repository;
    },
    /** Removes a repository that no test needs any more. */
    forget: ({ fullName }: TestRepository) => void repositories.delete(key(GITHUB_COM, fullName)),
    /** Another GitHub: an Enterprise Server, or at a host below ghe.com one with data residency. */
    addEnterprise(host: string, isolated?: boolean): EnterpriseInstance {
      const instance = createEnterprise(host, isolated);
      const parts = { ...createHosts(instance), repositories: () => [...repositories.values()] };
      for (const [name, handler] of createEnterpriseHosts(instance, parts)) hosts.set(name, handler);
      return instance;
    },
    /** Adds another file-bin at an address without a slash at the end; it has no warning page. */
    addFilebin(address: string): FakeFilebin {
      const { host } = new URL(address);
      const prefix = address.slice(`https://${host}`.length);
      const own = new FakeFilebin(folder, binStorage, nextId);
      own.cookieCheck = false;
      hosts.set(host, (request) =>
        request.path.startsWith(`${prefix}/`)
          ? own.handler({ ...request, path: request.path.slice(prefix.length) })
          : { status: 404 },
      );
      return own;
    },
    /** An address on `localhost` that reaches a host without the proxy. */
    openDirectAddress: proxy.openDirectAddress,
    /** Issues a token, by default of the workflow: contents, pages and pull_requests write, deployments read. */
    token: (permissions?: Partial<TokenPermissions>, login?: string) => tokens.issue(permissions, login),
    /** Adds any other host; hosts without a handler can't be reached. */
    host: (name: string, handler: HostHandler) => void hosts.set(name, handler),
    /** Calls a host directly: without sockets, traffic log and interceptions. */
    ask: (request: HostRequest) => callHandler(findHandler(request.host), request),
    /** Replaces the reply to matching requests; newer rules take precedence. */
    intercept: (match: RequestMatch, answer: InterceptedReply) => interceptions.add(match, answer),
    async stop(): Promise<void> {
      stopping.abort();
      await proxy.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/**
 * Cleans up if the program gets a signal to end.
 * @returns the function that ends it
 */
export function stopOnSignal(world: GitHubWorld, exitCode = 130): () => Promise<void> {
  const stop = async (): Promise<void> => {
    await world.stop();
    process.exit(exitCode);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  return stop;
}
