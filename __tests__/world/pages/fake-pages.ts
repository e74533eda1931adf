import { setTimeout as sleep } from 'node:timers/promises';
import { DeploymentStore, type StoredDeployment } from '../deployment-store.ts';
import { computeBlobSha, type GitStore } from '../git/git-store.ts';
import type { RepositoryDependencies, TestRepository } from '../repository.ts';
import { LOGINS } from '../tokens.ts';
import { buildSiteVersion, type SiteFile, type SiteVersion } from './site-version.ts';

/**
 * The outcome of a build.
 * - `normal`: built, and its content goes live
 * - `errored`: ends with `errorMessage`, nothing goes live
 * - `stuck`: stays `building` forever, but its content goes live
 * - `never`: no build at all
 */
export type BuildMode = 'normal' | 'errored' | 'stuck' | 'never';

/** How a run of the site's workflow ends before it publishes anything. */
type RunFailure = 'failure' | 'cancelled' | 'skipped' | 'timed_out' | 'startup_failure';

/**
 * What becomes of a run of the site's workflow.
 * - `published`: what the build's mode says
 * - `approval`: it waits for a person; `timer`: it waits for a timer, and then publishes
 * - `queued`: no runner takes it; `pending`: another run of its concurrency group goes on for ever
 * - `absent`: no run appears, although the start was accepted
 */
export type RunOutcome = 'published' | RunFailure | 'approval' | 'timer' | 'queued' | 'pending' | 'absent';

/** Settings that a test may change at any time; read when a build starts or a request arrives. */
class PagesBehavior {
  /** One mode for all builds, or one a build (the last stays). */
  builds: BuildMode | BuildMode[] = 'normal';
  errorMessage = 'Page build failed.';
  buildMs = 40;
  /** How long a build takes. */
  pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal });
  /** Whether a push starts a build or the site's workflow; otherwise only a request does. */
  startsBuilds = true;
  /** One outcome for all runs of the site's workflow, or one a run (the last stays). */
  runOutcomes: RunOutcome | RunOutcome[] = 'published';
  /** GitHub's final states of deployments of artifacts, one each (the last stays). */
  deploymentEnds: string | string[] = 'succeed';
  /** The refusals of the next requests for a deployment. */
  deploymentRefusals: [status: number, message: string][] = [];
  /** False: no later build goes live. */
  live = true;
  /** After a build went live, this many requests of each URL still get the old content. */
  liveAfterRequests = 0;
  /** Whether the CDN keeps 404s too, not only found files. */
  caches404 = false;
  /** Awaited before the site answers, and before the API answers about builds. */
  beforeAnswer = async (): Promise<void> => undefined;
  /** Whether a new live build clears the CDN's cache; otherwise old copies stay until they expire. */
  purges = true;

  /** The next value of a setting that changes each time. */
  takeNext<Name extends 'builds' | 'runOutcomes' | 'deploymentEnds'>(
    name: Name,
  ): Exclude<PagesBehavior[Name], readonly unknown[]> {
    const given = [this[name]].flat();
    if (given.length > 1) Object.assign(this, { [name]: given.slice(1) });
    return given[0] as Exclude<PagesBehavior[Name], readonly unknown[]>;
  }
}

/** Where and how a site is published, and its first settings. */
export interface FakePagesOptions extends Partial<Omit<PagesBehavior, 'takeNext'>> {
  readonly branch?: string;
  readonly path?: '/' | '/docs';
  readonly buildType?: 'legacy' | 'workflow';
  readonly cname?: string;
  /** The file name of the workflow that publishes the site; `pages.yml` by default. */
  readonly workflow?: string;
  /** False: just switched on, nothing of the first commit is built yet. */
  readonly built?: boolean;
}

export interface PagesBuild {
  readonly id: number;
  readonly commit: string;
  status: 'queued' | 'building' | 'built' | 'errored';
  error: string | null;
  readonly createdAt: Date;
}

export interface SiteWorkflowRun {
  readonly id: number;
  readonly branch: string;
  readonly commit: string;
  status: 'queued' | 'pending' | 'waiting' | 'in_progress' | 'completed';
  conclusion: 'success' | RunFailure | null;
  readonly outcome: RunOutcome;
}

type SiteSource = Pick<TestRepository, 'git' | 'owner' | 'name' | 'branch' | 'instance'>;
type SiteDependencies = Pick<RepositoryDependencies, 'nextId' | 'stopped'>;

/** A Pages site: builds its branch after each push, one build at a time. */
export class FakePages extends PagesBehavior {
  /** Its public URL, with a slash at the end. */
  readonly url: string;
  readonly branch: string;
  readonly path: '/' | '/docs';
  readonly buildType: 'legacy' | 'workflow';
  readonly cname: string | null;
  /** Builds that the API shows, the newest first. */
  readonly history: PagesBuild[] = [];
  /** Those of its workflow. */
  readonly deployments: DeploymentStore;
  /** Those of artifacts, the newest first. */
  readonly artifactDeployments: { readonly commit: string; status: string }[] = [];
  readonly workflow: string;
  /** Runs of the workflow that publishes the site, the newest first. */
  readonly runs: SiteWorkflowRun[] = [];

  readonly #git: GitStore;
  readonly #stopped: AbortSignal;
  readonly #nextId: () => number;
  readonly #owner: string;
  readonly #runsUrl: string;
  #queue: Promise<void> = Promise.resolve();
  liveVersion: SiteVersion | null = null;
  #previous: SiteVersion | null = null;
  /** Requests of each address since the last version went live. */
  #requestCounts = new Map<string, number>();

  constructor(source: SiteSource, spec: FakePagesOptions, { nextId, stopped }: SiteDependencies) {
    super();
    const { branch = source.branch, path = '/', buildType = 'legacy', cname = null, ...more } = spec;
    const { workflow = 'pages.yml', built: _, ...behavior } = more;
    this.#git = source.git;
    this.#stopped = stopped;
    this.#nextId = nextId;
    this.deployments = new DeploymentStore(nextId);
    this.branch = branch;
    this.path = path;
    this.buildType = buildType;
    this.cname = cname;
    this.workflow = workflow;
    this.#owner = source.owner;
    this.#runsUrl = `https://${source.instance.host}/${source.owner}/${source.name}/actions/runs`;
    this.url = cname === null ? source.instance.site(source.owner, source.name) : `https://${cname}/`;
    Object.assign(this, behavior);
  }

  get liveCommit(): string | null {
    return this.liveVersion?.commit ?? null;
  }

  readLive(path: string): Buffer | null {
    const file = this.liveVersion?.files.get(path);
    return file === undefined ? null : (file.bytes ?? this.#git.readBlob(file.sha));
  }

  /** Handles a moved branch. Reports differ on whether a job's own push starts a build, so `startsBuilds` decides. */
  onPush(branch: string, commit: string, actor: string = this.#owner): void {
    if (branch !== this.branch || !this.startsBuilds) return;
    if (this.buildType === 'legacy') this.requestBuild(commit);
    else if (actor !== LOGINS.workflow) this.startWorkflow(commit, branch);
  }

  /** Requests a build of a branch, as `POST /pages/builds` does. */
  requestBuild(commit: string): void {
    const mode = this.takeNext('builds');
    if (mode !== 'never') this.#enqueue(this.#build(commit, mode));
  }

  /** Starts the workflow that publishes the site. In mode `never` its run publishes nothing. */
  startWorkflow(commit: string, branch: string): void {
    const outcome = this.takeNext('runOutcomes');
    const state = { status: 'queued', conclusion: null } as const;
    const run: SiteWorkflowRun = { ...state, id: this.#nextId(), branch, commit, outcome };
    if (outcome !== 'absent') this.runs.unshift(run);
    if (outcome === 'published') this.#enqueue(this.#runWorkflow(run, this.takeNext('builds')));
    else this.#enqueue(() => this.#endUnpublished(run, outcome));
  }

  /** Replaces the whole site by an artifact, or `null` for none; never by a commit whose deployment was cancelled. */
  deployArtifact(commit: string, files: ReadonlyMap<string, Buffer> | null): void {
    const earlier = this.artifactDeployments.find((one) => one.commit === commit)?.status;
    const end = this.takeNext('deploymentEnds');
    const deployment = { commit, status: 'deployment_in_progress' };
    this.artifactDeployments.unshift(deployment);
    this.#enqueue(async () => {
      await this.#pause();
      deployment.status = earlier === 'deployment_cancelled' ? earlier : end;
      if (deployment.status !== 'succeed' || files === null) return;
      const all = [...files].map(([path, bytes]): [string, SiteFile] => [
        path,
        { sha: computeBlobSha(bytes), bytes, source: path, isRendered: false },
      ]);
      this.#putLive({ commit, builtAt: new Date(), files: new Map(all) });
    });
  }

  #enqueue(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work).catch((error) => {
      if (!this.#stopped.aborted) throw error;
    });
  }

  /** Builds and publishes a commit at once, independent of the settings for later builds. */
  publishImmediately(commit: string): void {
    const version = buildSiteVersion(this.#git, commit, this.path);
    this.liveVersion = version;
    this.#previous = version;
    if (this.buildType === 'workflow') this.#tell(this.#newDeployment(commit), this.#nextId(), 'success');
    else this.history.unshift(this.#newBuild(commit, 'built'));
  }

  /** Resolves when no build is waiting or running. */
  async whenBuilt(): Promise<void> {
    let seen: Promise<void> | undefined;
    while (seen !== this.#queue) {
      seen = this.#queue;
      await seen;
    }
  }

  /** The version that answers a request for this URL. `fresh` false: an edge is lagging. */
  getVersion(address: string): { version: SiteVersion | null; fresh: boolean } {
    const count = (this.#requestCounts.get(address) ?? 0) + 1;
    this.#requestCounts.set(address, count);
    const fresh = count > this.liveAfterRequests;
    return { version: fresh ? this.liveVersion : this.#previous, fresh };
  }

  /** A run that publishes nothing, or only after a timer. */
  async #endUnpublished(run: SiteWorkflowRun, outcome: Exclude<RunOutcome, 'published'>): Promise<void> {
    switch (outcome) {
      case 'queued':
      case 'absent':
        return;
      case 'pending':
        run.status = 'pending';
        return;
      case 'approval':
        run.status = 'waiting';
        return;
      case 'timer':
        run.status = 'waiting';
        await this.#pause();
        return this.#runWorkflow(run, this.takeNext('builds'))();
      default:
        run.status = 'in_progress';
        await this.#pause();
        endRun(run, outcome);
    }
  }

  #build(commit: string, mode: BuildMode): () => Promise<void> {
    const build = this.#newBuild(commit, 'queued');
    this.history.unshift(build);
    return () =>
      this.#publish(commit, mode, (status) => {
        const error = status === 'errored' ? this.errorMessage : null;
        Object.assign(build, { status, error });
      });
  }

  #runWorkflow(run: SiteWorkflowRun, mode: BuildMode): () => Promise<void> {
    const deployment = mode === 'never' ? null : this.#newDeployment(run.commit);
    if (deployment !== null) this.#tell(deployment, run.id, 'queued');
    return async () => {
      run.status = 'in_progress';
      if (deployment === null) await this.#pause();
      else {
        await this.#publish(run.commit, mode, (status) => {
          const state = { building: 'in_progress', built: 'success', errored: 'failure' }[status];
          this.#tell(deployment, run.id, state, status === 'errored' ? this.errorMessage : '');
        });
      }
      if (mode !== 'stuck') endRun(run, mode === 'errored' ? 'failure' : 'success');
    };
  }

  /** Publishes a commit by its mode, and reports the progress; a stuck build never reports its end. */
  async #publish(
    commit: string,
    mode: BuildMode,
    tell: (status: 'building' | 'built' | 'errored') => void,
  ): Promise<void> {
    tell('building');
    await this.#pause();
    if (mode !== 'errored') this.#putLive(buildSiteVersion(this.#git, commit, this.path));
    if (mode !== 'stuck') tell(mode === 'errored' ? 'errored' : 'built');
  }

  #newBuild(commit: string, status: PagesBuild['status']): PagesBuild {
    return { id: this.#nextId(), commit, status, error: null, createdAt: new Date() };
  }

  #newDeployment(sha: string): StoredDeployment {
    const about = { environment: 'github-pages', task: 'deploy', payload: {}, creator: LOGINS.workflow };
    const kind = { transientEnvironment: false, productionEnvironment: false };
    return this.deployments.add({ ...about, ...kind, sha, ref: this.branch });
  }

  #tell(deployment: StoredDeployment, run: number, state: string, description = ''): void {
    const addresses = { logUrl: `${this.#runsUrl}/${run}`, environmentUrl: this.url };
    const status = { state, description: description.slice(0, 140), creator: LOGINS.workflow };
    this.deployments.addStatus(deployment, { ...status, ...addresses });
  }

  #putLive(version: SiteVersion): void {
    if (!this.live) return;
    this.#previous = this.liveVersion;
    this.liveVersion = version;
    this.#requestCounts = new Map();
  }

  async #pause(): Promise<void> {
    await this.pause(this.buildMs, this.#stopped);
  }
}

function endRun(run: SiteWorkflowRun, conclusion: NonNullable<SiteWorkflowRun['conclusion']>): void {
  Object.assign(run, { status: 'completed', conclusion });
}
