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
import {
  type ActiveInterception,
  type InterceptedReply,
  InterceptionRules,
  type RequestMatch,
} from './server/interceptions.ts';
import type { HostHandler, HostReply, HostRequest } from './server/messages.ts';
import { TrafficLog } from './server/traffic-log.ts';
import { SignedStorage } from './signed-storage.ts';
import { type TokenPermissions, TokenStore } from './tokens.ts';

const RELEASE_STORAGE = 'release-assets.githubusercontent.com';
const FILEBIN_STORAGE = 'situla.filebin-storage.com';
const SIGNATURE_SECONDS = { release: 3600, filebin: 60 };

/** A local GitHub (and file-bin), reached through a proxy at the real addresses. */
export interface GitHubWorld {
  /** The environment variables that lead programs to the local GitHub. */
  readonly env: Readonly<Record<string, string>>;
  /** The proxy's certificate authority in PEM, for clients in the test's own process. */
  readonly ca: string;
  readonly proxyUrl: string;
  /** A temporary folder that `stop` removes. */
  readonly folder: string;
  readonly traffic: TrafficLog;
  readonly filebin: FakeFilebin;
  readonly deviceUser: FakeDeviceFlow;
  /** What the runner of a job offers to an action. */
  readonly actions: FakeActionsService;
  /** The API's requests an hour. */
  readonly rateLimits: RateLimits;
  repository(spec: RepositoryOptions): Promise<TestRepository>;
  /** Another GitHub: an Enterprise Server, or at a host below ghe.com one with data residency. */
  addEnterprise(host: string, isolated?: boolean): EnterpriseInstance;
  /** Adds another file-bin at an address without a slash at the end; it has no warning page. */
  addFilebin(address: string): FakeFilebin;
  /** A way to a host that leads not through the proxy: an address on `localhost`. */
  openDirectAddress(host: string): Promise<string>;
  /** Issues a token, by default of the workflow: contents, pages and pull_requests write, deployments read. */
  token(permissions?: Partial<TokenPermissions>, login?: string): string;
  /** Adds any other host; hosts without a handler can't be reached. */
  host(name: string, handler: HostHandler): void;
  /** Removes a repository that no test needs any more. */
  forget(repository: TestRepository): void;
  /** Calls a host directly: without sockets, traffic log and interceptions. */
  ask(request: HostRequest): Promise<HostReply>;
  /** Replaces the reply to matching requests; newer rules take precedence. */
  intercept(match: RequestMatch, answer: InterceptedReply): ActiveInterception;
  stop(): Promise<void>;
}

/** Starts a local GitHub with its own ports and its own temporary folder. */
export async function startWorld(): Promise<GitHubWorld> {
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
  const find = findOn(GITHUB_COM);

  const assets = new SignedStorage(RELEASE_STORAGE, SIGNATURE_SECONDS.release);
  const binStorage = new SignedStorage(FILEBIN_STORAGE, SIGNATURE_SECONDS.filebin);
  const filebin = new FakeFilebin(folder, binStorage, nextId);
  const deviceUser = new FakeDeviceFlow(tokens);
  const git = createGitServer(find, tokens);
  const actions = new FakeActionsService(nextId);
  const hosts = new Map<string, HostHandler>([
    ['api.github.com', createApiHost({ find, tokens, rateLimits, actions })],
    ...actions.hosts,
    ['codeload.github.com', createCodeloadHost(find)],
    ['uploads.github.com', createUploadsHost(find, tokens, folder, nextId)],
    ['github.com', createGithubHost({ find, storage: assets, device: deviceUser, git })],
    ['raw.githubusercontent.com', createRawHost(find, tokens)],
    ['filebin.net', filebin.handler],
    [assets.host, assets.handler],
    [binStorage.host, binStorage.handler],
  ]);
  const findHandler = (host: string) => hosts.get(host) ?? createPagesHost(host, repositories.values());
  const proxy = await startHostServer({ traffic, interceptions, findHandler }, folder);

  return {
    env: { ...proxy.env, ...WITHOUT_BROWSER },
    ca: proxy.ca,
    proxyUrl: proxy.url,
    folder,
    traffic: traffic,
    filebin,
    deviceUser,
    actions,
    rateLimits,
    async repository(spec) {
      const repository = await TestRepository.create(spec, { folder, nextId, stopped: stopping.signal });
      repositories.set(key(repository.instance, repository.fullName), repository);
      return repository;
    },
    forget: ({ fullName }) => void repositories.delete(key(GITHUB_COM, fullName)),
    addEnterprise(host, isolated) {
      const instance = createEnterprise(host, isolated);
      const found = findOn(instance);
      const played = createEnterpriseHosts(instance, {
        api: createApiHost({ find: found, tokens, rateLimits }),
        uploads: createUploadsHost(found, tokens, folder, nextId),
        raw: createRawHost(found, tokens),
        website: createGithubHost({
          find: found,
          storage: assets,
          device: deviceUser,
          git: createGitServer(found, tokens),
        }),
        repositories: () => [...repositories.values()],
      });
      for (const [name, handler] of played) hosts.set(name, handler);
      return instance;
    },
    addFilebin(address) {
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
    openDirectAddress: (host) => proxy.openDirectAddress(host),
    token: (permissions, login) => tokens.issue(permissions, login),
    host: (name, handler) => void hosts.set(name, handler),
    ask: (request) => callHandler(findHandler(request.host), request),
    intercept: (match, answer) => interceptions.add(match, answer),
    async stop() {
      stopping.abort();
      await proxy.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
