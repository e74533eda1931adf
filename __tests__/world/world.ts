import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiHost } from './api/host.ts';
import { ask, startFront } from './front/front.ts';
import type { Handler, Incoming, Reply } from './front/http.ts';
import { type Answer, type Interception, Interceptions, type Match } from './front/interceptions.ts';
import { startProxy } from './front/proxy.ts';
import { Wire } from './front/wire.ts';
import { DeviceFlow, type DeviceHuman } from './hosts/device-flow.ts';
import { enterpriseHosts } from './hosts/enterprise.ts';
import { Filebin, type FilebinControls } from './hosts/filebin.ts';
import { gitServer } from './hosts/git-server.ts';
import { githubHost } from './hosts/github.ts';
import { pagesHost } from './hosts/pages.ts';
import { rawHost } from './hosts/raw.ts';
import { uploadsHost } from './hosts/uploads.ts';
import { type Enterprise, enterprise, GITHUB_COM, type Instance } from './instance.ts';
import { type Repository, type RepositorySpec, WorldRepository } from './repository.ts';
import { SignedStorage } from './signed-storage.ts';
import { type Permissions, Tokens } from './tokens.ts';

const RELEASE_STORAGE = 'release-assets.githubusercontent.com';
const FILEBIN_STORAGE = 'situla.filebin-storage.com';
const SIGNATURE_SECONDS = { release: 3600, filebin: 60 };

/** GitHub and its neighbours on this machine, reached through a proxy under their real addresses. */
export interface World {
  /** What a runner's environment needs so that programs reach this world. */
  readonly env: Readonly<Record<string, string>>;
  /** The proxy's certificate authority in PEM, for clients in the test's own process. */
  readonly ca: string;
  readonly proxyUrl: string;
  /** A temporary folder that goes away with the world. */
  readonly folder: string;
  readonly wire: Wire;
  readonly filebin: FilebinControls;
  readonly human: DeviceHuman;
  repository(spec: RepositorySpec): Promise<Repository>;
  /** Another GitHub: an Enterprise Server, or at a host below ghe.com one with data residency. */
  enterprise(host: string, isolated?: boolean): Enterprise;
  /** A file-bin of one's own below an address without a slash at its end; it asks for no cookie. */
  bin(address: string): FilebinControls;
  /** A way to a host that leads not through the proxy: an address on `localhost`. */
  door(host: string): Promise<string>;
  /** A new token of the workflow's, unless told: contents, pages and pull_requests write, deployments read. */
  token(permissions?: Partial<Permissions>, login?: string): string;
  /** Plays any other host; hosts that nobody plays can't be reached. */
  host(name: string, handler: Handler): void;
  /** What the host of a request answers: without a socket, the wire or the interceptions. */
  ask(request: Incoming): Promise<Reply>;
  /** Answers matching requests differently; the newest rule first. */
  intercept(match: Match, answer: Answer): Interception;
  stop(): Promise<void>;
}

/** Starts a world of its own: own ports, own temporary folder, nothing shared. */
export async function startWorld(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'world-'));
  const stopping = new AbortController();
  const wire = new Wire();
  const interceptions = new Interceptions();
  const tokens = new Tokens();
  const repositories = new Map<string, WorldRepository>();
  let lastId = 1000;
  const nextId = () => ++lastId;
  const key = (instance: Instance, fullName: string) => `${instance.host}/${fullName}`.toLowerCase();
  const findOn = (instance: Instance) => (owner: string, name: string) =>
    repositories.get(key(instance, `${owner}/${name}`));
  const find = findOn(GITHUB_COM);

  const assets = new SignedStorage(RELEASE_STORAGE, SIGNATURE_SECONDS.release);
  const binStorage = new SignedStorage(FILEBIN_STORAGE, SIGNATURE_SECONDS.filebin);
  const filebin = new Filebin(folder, binStorage, nextId);
  const human = new DeviceFlow(tokens);
  const git = gitServer(find, tokens);
  const hosts = new Map<string, Handler>([
    ['api.github.com', apiHost(find, tokens)],
    ['uploads.github.com', uploadsHost(find, tokens, folder, nextId)],
    ['github.com', githubHost({ find, storage: assets, device: human, git })],
    ['raw.githubusercontent.com', rawHost(find, tokens)],
    ['filebin.net', filebin.handler],
    [assets.host, assets.handler],
    [binStorage.host, binStorage.handler],
  ]);
  const lookUp = (host: string) => hosts.get(host) ?? pagesHost(host, repositories.values());
  const front = await startFront({ wire, interceptions, lookUp });
  const proxy = await startProxy(front.port, folder);

  return {
    env: proxy.env,
    ca: proxy.ca,
    proxyUrl: proxy.url,
    folder,
    wire,
    filebin,
    human,
    async repository(spec) {
      const repository = await WorldRepository.create(spec, { folder, nextId, stopped: stopping.signal });
      repositories.set(key(repository.instance, repository.fullName), repository);
      return repository;
    },
    enterprise(host, isolated) {
      const instance = enterprise(host, isolated);
      const found = findOn(instance);
      const played = enterpriseHosts(instance, {
        api: apiHost(found, tokens),
        uploads: uploadsHost(found, tokens, folder, nextId),
        raw: rawHost(found, tokens),
        people: githubHost({ find: found, storage: assets, device: human, git: gitServer(found, tokens) }),
        repositories: () => [...repositories.values()],
      });
      for (const [name, handler] of played) hosts.set(name, handler);
      return instance;
    },
    bin(address) {
      const { host } = new URL(address);
      const prefix = address.slice(`https://${host}`.length);
      const own = new Filebin(folder, binStorage, nextId);
      own.cookieCheck = false;
      hosts.set(host, (request) =>
        request.path.startsWith(`${prefix}/`)
          ? own.handler({ ...request, path: request.path.slice(prefix.length) })
          : { status: 404 },
      );
      return own;
    },
    door: (host) => proxy.openDoor(host),
    token: (permissions, login) => tokens.issue(permissions, login),
    host: (name, handler) => void hosts.set(name, handler),
    ask: (request) => ask(lookUp(request.host), request),
    intercept: (match, answer) => interceptions.add(match, answer),
    async stop() {
      stopping.abort();
      await proxy.close();
      await front.close();
      for (const repository of repositories.values()) await repository.issues.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
