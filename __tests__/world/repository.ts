import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BRANCH_RULES, type BranchRule } from './branch-rules.ts';
import { DeploymentStore } from './deployment-store.ts';
import { type GitCommit, GitStore, type NewCommit, type TreeChange } from './git/git-store.ts';
import { GITHUB_COM, type GitHubInstance } from './instance.ts';
import { IssueTracker } from './issue-tracker.ts';
import { FakePages, type FakePagesOptions } from './pages/fake-pages.ts';
import { serveSite } from './pages/serve-site.ts';
import { ReleaseStore, type StoredRelease } from './release-store.ts';

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
  readonly empty?: boolean;
  /** How long a write takes, in which others may arrive. */
  readonly writeMs?: number;
  /** False: no site. By default the first commit is built and live from the start. */
  readonly pages?: FakePagesOptions | false;
}

export interface CommitSummary {
  readonly sha: string;
  readonly message: string;
  readonly files: string[];
}

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
  /** Without the site's deployments. */
  readonly deployments: DeploymentStore;
  site: FakePages | null;
  serveSite: ReturnType<typeof serveSite> | null;
  readonly #context: RepositoryDependencies;
  readonly #writeMs: number;
  /** The time that its commits have. */
  now = (): Date => new Date();
  /** How attempts of workflow runs ended, by `run/attempt`; GitHub has no word for one that still runs. */
  readonly runEnds = new Map<string, string | null>();
  /** What all its branches require. */
  rule: BranchRule | null = null;
  /** The commits that GitHub has signed: those that a bot made through the API. */
  readonly signedCommits = new Set<string>();
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(spec: RepositoryOptions, context: RepositoryDependencies) {
    this.id = context.nextId();
    this.instance = spec.instance ?? GITHUB_COM;
    this.owner = spec.owner;
    this.name = spec.name;
    this.fullName = `${spec.owner}/${spec.name}`;
    this.branch = spec.branch ?? 'main';
    this.isPrivate = spec.private ?? false;
    const where = spec.instance === undefined ? '' : `${spec.instance.host}--`;
    const folder = join(context.folder, `${where}${spec.owner}--${spec.name}.git`);
    this.git = new GitStore(folder, this.branch);
    this.releaseStore = new ReleaseStore(context.nextId);
    this.deployments = new DeploymentStore(context.nextId);
    this.issues = new IssueTracker(spec.owner, spec.name, this.id);
    const pages = spec.pages ?? {};
    this.#context = context;
    this.#writeMs = spec.writeMs ?? 0;
    this.site = null;
    this.serveSite = null;
    if (pages !== false) this.switchPagesOn(pages);
  }

  /** Gives the repository a site; nothing of it is built yet. */
  switchPagesOn(pages: FakePagesOptions): FakePages {
    const site = new FakePages(this, pages, this.#context);
    this.site = site;
    this.serveSite = serveSite(this.git, site);
    return site;
  }

  get isEmpty(): boolean {
    return this.git.branches().size === 0;
  }

  static create(spec: RepositoryOptions, context: RepositoryDependencies): TestRepository {
    const repository = new TestRepository(spec, context);
    if (spec.empty === true) return repository;
    const { pages = {}, files = { 'README.md': `# ${spec.name}\n` } } = spec;
    const changes = Object.entries(files).map(([path, bytes]) => repository.#writeFile(path, bytes));
    const commit = repository.#commitAsOwner(changes, 'Initial commit', repository.branch);
    if (pages !== false && pages.built !== false) repository.site?.publishImmediately(commit);
    return repository;
  }

  /** The site; throws if the repository has none. */
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
    const change = bytes === null ? { path, mode: '100644', sha: null } : this.#writeFile(path, bytes);
    return this.runExclusively(() => {
      const commit = this.#commitAsOwner([change], message, branch);
      this.site?.onPush(branch, commit);
      return commit;
    });
  }

  /** Commits a submodule as the owner. Returns the sha of the other repository's commit. */
  async addSubmodule(path: string, branch = this.branch): Promise<string> {
    const sha = '5b'.repeat(20);
    const settings = `[submodule "${path}"]\n\tpath = ${path}\n\turl = https://github.com/octo/other.git\n`;
    const changes = [this.#writeFile('.gitmodules', settings), { path, mode: '160000', sha }];
    await this.runExclusively(() => this.#commitAsOwner(changes, `Add submodule ${path}`, branch));
    return sha;
  }

  #entryAt(path: string, branch = this.branch) {
    const head = this.head(branch);
    return head === null ? null : this.git.entryAt(head, path);
  }

  /** The branch's entry at a path, as `mode sha`; null if missing. */
  entry(path: string): string | null {
    const entry = this.#entryAt(path);
    return entry && `${entry.mode} ${entry.sha}`;
  }

  read(path: string, branch = this.branch): Buffer | null {
    const entry = this.#entryAt(path, branch);
    return entry && this.git.readBlob(entry.sha);
  }

  #history(branch: string): GitCommit[] {
    const head = this.head(branch);
    return head === null ? [] : this.git.log(head);
  }

  /** The newest first. */
  log(branch = this.branch): CommitSummary[] {
    return this.#history(branch).map(({ sha, message, parents }) => {
      return { sha, message, files: this.git.changedFiles(parents[0] ?? null, sha) };
    });
  }

  /** Author and committer of each commit as `Name <address>`, the newest commit first. */
  authors(branch = this.branch): string[] {
    return this.#history(branch).map(({ author, committer }) =>
      [author, committer].map(({ name, email }) => `${name} <${email}>`).join(', '),
    );
  }

  merges(branch = this.branch): string[] {
    const merges = this.#history(branch).filter(({ parents }) => parents.length > 1);
    return merges.map(({ sha }) => sha);
  }

  head(branch = this.branch): string | null {
    return this.git.readRef(`refs/heads/${branch}`);
  }

  /** The newest first. */
  releases(): readonly StoredRelease[] {
    return this.releaseStore.releases;
  }

  /** Adds an asset whose upload never finished, in a new release if there is none; a draft counts. */
  async addUnfinishedAsset(tag: string, assetName: string, label: string | null = null): Promise<void> {
    this.releaseStore.attach(this.#ensureRelease(tag), assetName, { label });
  }

  /** Adds a number of small assets, in a new release if there is none. */
  addEarlierAssets(tag: string, count: number): void {
    const about = { state: 'uploaded', size: 1, digest: `sha256:${'0'.repeat(64)}` } as const;
    for (let number = 1; number <= count; number += 1) {
      this.releaseStore.attach(this.#ensureRelease(tag), `earlier-${number}.bin`, about);
    }
  }

  /** Sets a rule for all branches; true: only by pull request; false: none. */
  protect(rule: BranchRule | boolean): void {
    this.rule = typeof rule === 'string' ? rule : rule ? 'pull-request' : null;
  }

  /** The rule that refuses to move a branch to a commit; null when it may move. */
  findBrokenRule(to: string, from: string | null): BranchRule | null {
    const { rule } = this;
    if (rule === null || !BRANCH_RULES[rule].unsignedOnly) return rule;
    const added = this.git.log(to, { not: from ?? '' });
    return added.every(({ sha }) => this.signedCommits.has(sha)) ? null : rule;
  }

  /** Whether releases are frozen when they are published; those published before stay as they are. */
  immutableReleases(on: boolean): void {
    this.releaseStore.freezesPublished = on;
  }

  /** Runs writes to the repository one after the other. */
  runExclusively<Result>(write: () => Promise<Result> | Result): Promise<Result> {
    const result = this.#writing
      .then(() => (this.#writeMs === 0 ? undefined : sleep(this.#writeMs)))
      .then(write);
    this.#writing = result.catch(() => {});
    return result;
  }

  /** Moves a branch, if it still points to `from`, and notifies Pages of the push and its author. */
  moveBranch(branch: string, to: string, from: string | null, login: string | null): boolean {
    const moved = this.git.updateRef(`refs/heads/${branch}`, to, from);
    if (moved) this.site?.onPush(branch, to, login ?? this.owner);
    return moved;
  }

  /** A commit on top of a branch's head; doesn't move the branch. */
  writeCommit(
    head: string | null,
    changes: readonly TreeChange[],
    about: Pick<NewCommit, 'message' | 'author' | 'committer'>,
  ): string {
    const tree = this.git.writeTree(head, changes);
    return this.git.writeCommit({ ...about, tree, parents: head === null ? [] : [head] });
  }

  #writeFile(path: string, bytes: string | Buffer): TreeChange {
    return { path, mode: '100644', sha: this.git.writeBlob(Buffer.from(bytes)) };
  }

  #ensureRelease(tag: string): StoredRelease {
    const plain = { target: this.branch, name: tag, body: null, draft: false, prerelease: false };
    const existing = this.releaseStore.releases.find((release) => release.tag === tag);
    return existing ?? this.releaseStore.add({ tag, ...plain });
  }

  /** A commit by the repository's owner, not by a workflow. Starts no build. */
  #commitAsOwner(changes: readonly TreeChange[], message: string, branch: string): string {
    const owner = {
      name: this.owner,
      email: `${this.owner}@users.noreply.github.com`,
      date: this.now().toISOString(),
    };
    const head = this.head(branch);
    const base = head ?? this.head();
    const commit = this.writeCommit(base, changes, { message, author: owner, committer: owner });
    this.git.updateRef(`refs/heads/${branch}`, commit, head);
    return commit;
  }
}

export interface RepositoryDependencies {
  readonly folder: string;
  readonly nextId: () => number;
  readonly stopped: AbortSignal;
}
