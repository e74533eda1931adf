import { join } from 'node:path';
import { BRANCH_RULES, type BranchRule, BranchRules } from './branch-rules.ts';
import { DeploymentStore } from './deployment-store.ts';
import { BareRepository, type GitStore, type NewCommit, type TreeChange } from './git/bare-repository.ts';
import { MemoryRepository } from './git/memory-repository.ts';
import { GITHUB_COM, type GitHubInstance } from './instance.ts';
import { IssueTracker } from './issue-tracker.ts';
import { FakePages, type FakePagesOptions } from './pages/fake-pages.ts';
import { serveSite } from './pages/serve-site.ts';
import { ReleaseStore, type StoredRelease } from './release-store.ts';

/** A repository to be made. */
export interface RepositoryOptions {
  /** The GitHub instance; github.com by default. */
  readonly instance?: GitHubInstance;
  readonly owner: string;
  readonly name: string;
  readonly private?: boolean;
  /** The default branch; `main` by default. */
  readonly branch?: string;
  /** The files of the first commit; a README.md by default. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** No commit at all. */
  readonly empty?: boolean;
  /** Stored in memory: fast, but git can't clone it or push to it. */
  readonly inMemory?: boolean;
  /** False: no site. By default the first commit is built and live from the start. */
  readonly pages?: FakePagesOptions | false;
}

/** One line of a repository's history. */
export interface CommitSummary {
  readonly sha: string;
  readonly message: string;
  readonly files: string[];
}

/** A repository of the local GitHub. */
export class TestRepository {
  readonly id: number;
  readonly instance: GitHubInstance;
  readonly owner: string;
  readonly name: string;
  readonly fullName: string;
  readonly branch: string;
  readonly isPrivate: boolean;
  readonly createdAt = new Date();
  readonly git: GitStore;
  readonly releaseStore: ReleaseStore;
  readonly issues: IssueTracker;
  /** Apart from those of the site. */
  readonly deployments: DeploymentStore;
  /** The site; null when the repository has none. */
  site: FakePages | null;
  serveSite: ReturnType<typeof serveSite> | null;
  readonly #stopped: AbortSignal;
  readonly rules = new BranchRules();
  /** The commits that GitHub has signed: those that a bot made through the API. */
  readonly signedCommits = new Set<string>();
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(spec: RepositoryOptions, git: GitStore, context: RepositoryDependencies) {
    this.id = context.nextId();
    this.instance = spec.instance ?? GITHUB_COM;
    this.owner = spec.owner;
    this.name = spec.name;
    this.fullName = `${spec.owner}/${spec.name}`;
    this.branch = spec.branch ?? 'main';
    this.isPrivate = spec.private ?? false;
    this.git = git;
    this.releaseStore = new ReleaseStore(context.nextId);
    this.deployments = new DeploymentStore(context.nextId);
    this.issues = new IssueTracker(spec.owner, spec.name, this.id);
    const pages = spec.pages ?? {};
    this.#stopped = context.stopped;
    this.site = null;
    this.serveSite = null;
    if (pages !== false) this.switchPagesOn(pages);
  }

  /** Gives the repository a site; nothing of it is built yet. */
  switchPagesOn(pages: FakePagesOptions): FakePages {
    const site = new FakePages(this.git, this, pages, this.#stopped);
    this.site = site;
    this.serveSite = serveSite(this.git, site);
    return site;
  }

  /** Whether it has no commit on any branch. */
  async isEmpty(): Promise<boolean> {
    return (await this.git.branches()).size === 0;
  }

  static async create(spec: RepositoryOptions, context: RepositoryDependencies): Promise<TestRepository> {
    const where = spec.instance === undefined ? '' : `${spec.instance.host}--`;
    const folder = join(context.folder, `${where}${spec.owner}--${spec.name}.git`);
    const git = spec.inMemory
      ? new MemoryRepository()
      : await BareRepository.create(folder, spec.branch ?? 'main');
    const repository = new TestRepository(spec, git, context);
    if (spec.empty === true) return repository;
    const { pages = {} } = spec;
    const files = Object.entries(spec.files ?? { 'README.md': `# ${spec.name}\n` });
    const changes = files.map(async ([path, bytes]) => ({
      path,
      mode: '100644',
      sha: await git.writeBlob(Buffer.from(bytes)),
    }));
    const commit = await repository.#commitAsOwner(
      await Promise.all(changes),
      'Initial commit',
      repository.branch,
    );
    if (pages !== false && pages.built !== false) await repository.site?.publishImmediately(commit);
    return repository;
  }

  /** The site; throws when the repository has none. */
  get pages(): FakePages {
    if (this.site === null) throw new Error(`${this.fullName} has no Pages site.`);
    return this.site;
  }

  /** Commits as the owner; null removes the file. Returns the commit's SHA. */
  async commit(
    path: string,
    bytes: string | Buffer | null,
    message = `${bytes === null ? 'Delete' : 'Update'} ${path}`,
    branch = this.branch,
  ): Promise<string> {
    const sha = bytes === null ? null : await this.git.writeBlob(Buffer.from(bytes));
    return this.runExclusively(async () => {
      const commit = await this.#commitAsOwner([{ path, mode: '100644', sha }], message, branch);
      this.site?.onPush(branch, commit);
      return commit;
    });
  }

  /** Commits a submodule as the owner. Returns the sha of the other repository's commit. */
  async addSubmodule(path: string): Promise<string> {
    const sha = '5b'.repeat(20);
    const settings = `[submodule "${path}"]\n\tpath = ${path}\n\turl = https://github.com/octo/other.git\n`;
    const changes = [
      { path: '.gitmodules', mode: '100644', sha: await this.git.writeBlob(Buffer.from(settings)) },
      { path, mode: '160000', sha },
    ];
    await this.runExclusively(() => this.#commitAsOwner(changes, `Add submodule ${path}`, this.branch));
    return sha;
  }

  /** What the branch has at a path, as `mode sha`; null for nothing. */
  async entry(path: string): Promise<string | null> {
    const head = await this.head();
    const entry = head === null ? null : await this.git.entryAt(head, path);
    return entry && `${entry.mode} ${entry.sha}`;
  }

  async read(path: string, branch = this.branch): Promise<Buffer | null> {
    const head = await this.head(branch);
    const entry = head === null ? null : await this.git.entryAt(head, path);
    return entry === null ? null : this.git.readBlob(entry.sha);
  }

  /** The newest first. */
  async log(branch = this.branch): Promise<CommitSummary[]> {
    const head = await this.head(branch);
    const commits = head === null ? [] : await this.git.log(head);
    const entries = commits.map(async ({ sha, message, parents }) => {
      const changed = await this.git.changedFiles(parents[0] ?? null, sha);
      return { sha, message, files: changed.map(({ path }) => path) };
    });
    return Promise.all(entries);
  }

  /** Author and committer of each commit as `Name <address>`, the newest commit first. */
  async authors(branch = this.branch): Promise<string[]> {
    const head = await this.head(branch);
    const commits = head === null ? [] : await this.git.log(head);
    return commits.map(({ author, committer }) =>
      [author, committer].map(({ name, email }) => `${name} <${email}>`).join(', '),
    );
  }

  /** The commits of the history with more than one parent. */
  async merges(branch = this.branch): Promise<string[]> {
    const head = await this.head(branch);
    const commits = head === null ? [] : await this.git.log(head);
    return commits.filter(({ parents }) => parents.length > 1).map(({ sha }) => sha);
  }

  head(branch = this.branch): Promise<string | null> {
    return this.git.readRef(`refs/heads/${branch}`);
  }

  /** The newest first. */
  releases(): readonly StoredRelease[] {
    return this.releaseStore.releases;
  }

  /** Adds an asset whose upload never finished, in a new release if there is none; a draft counts. */
  async addUnfinishedAsset(tag: string, assetName: string): Promise<void> {
    this.releaseStore.attachStarter(this.#ensureRelease(tag), assetName);
  }

  /** Adds a number of small assets, in a new release if there is none. */
  addEarlierAssets(tag: string, count: number): void {
    this.releaseStore.attachEarlier(this.#ensureRelease(tag), count);
  }

  /** Sets a rule for some branches, or for all where `branches` is absent; true: only by pull request; false: none. */
  protect(rule: BranchRule | boolean, branches?: readonly string[]): void {
    const chosen = typeof rule === 'string' ? rule : rule ? 'pull-request' : null;
    this.rules.set(chosen, branches ?? null);
  }

  /** The rule that refuses to move a branch to a commit; null when it may move. */
  async findBrokenRule(branch: string, to: string, from: string | null): Promise<BranchRule | null> {
    const rule = this.rules.get(branch);
    if (rule === null || !BRANCH_RULES[rule].unsignedOnly) return rule;
    const added = await this.git.log(to, { not: from ?? '' });
    return added.every(({ sha }) => this.signedCommits.has(sha)) ? null : rule;
  }

  /** Whether releases are frozen when they are published; those published before stay as they are. */
  immutableReleases(on: boolean): void {
    this.releaseStore.freezesPublished = on;
  }

  /** Runs writes to the repository one after the other. */
  runExclusively<Result>(write: () => Promise<Result>): Promise<Result> {
    const result = this.#writing.then(write);
    this.#writing = result.catch(() => {});
    return result;
  }

  /** Moves a branch, if it still points to `from`, and notifies Pages of the push and its author. */
  async moveBranch(branch: string, to: string, from: string | null, login: string | null): Promise<boolean> {
    const moved = await this.git.updateRef(`refs/heads/${branch}`, to, from);
    if (moved) this.site?.onPush(branch, to, login ?? this.owner);
    return moved;
  }

  /** A commit on top of a branch's head; doesn't move the branch. */
  async writeCommit(
    head: string | null,
    changes: readonly TreeChange[],
    about: Pick<NewCommit, 'message' | 'author' | 'committer'>,
  ): Promise<string> {
    const tree = await this.git.writeTree(head, changes);
    return this.git.writeCommit({ ...about, tree, parents: head === null ? [] : [head] });
  }

  #ensureRelease(tag: string): StoredRelease {
    const plain = { target: this.branch, name: tag, body: null, draft: false, prerelease: false };
    const existing = this.releaseStore.releases.find((release) => release.tag === tag);
    return existing ?? this.releaseStore.add({ tag, ...plain });
  }

  /** A commit by the repository's owner, not by a workflow. Starts no build. */
  async #commitAsOwner(changes: readonly TreeChange[], message: string, branch: string): Promise<string> {
    const owner = {
      name: this.owner,
      email: `${this.owner}@users.noreply.github.com`,
      date: new Date().toISOString(),
    };
    const head = await this.head(branch);
    const base = head ?? (await this.head());
    const commit = await this.writeCommit(base, changes, { message, author: owner, committer: owner });
    await this.git.updateRef(`refs/heads/${branch}`, commit, head);
    return commit;
  }
}

/** What a repository needs from the local GitHub. */
export interface RepositoryDependencies {
  readonly folder: string;
  readonly nextId: () => number;
  readonly stopped: AbortSignal;
}
