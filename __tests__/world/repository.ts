import { join } from 'node:path';
import { BareRepository, type GitStore, type NewCommit, type TreeChange } from './git/bare-repository.ts';
import { MemoryRepository } from './git/memory-repository.ts';
import { GITHUB_COM, type Instance } from './instance.ts';
import { IssueTracker } from './issues.ts';
import { serveSite } from './pages/serving.ts';
import { PagesSite, type PagesSpec } from './pages/site.ts';
import { type Release, ReleaseShelf } from './releases.ts';

/** A repository to be made. */
export interface RepositorySpec {
  /** The GitHub that it is on; github.com unless told. */
  readonly instance?: Instance;
  readonly owner: string;
  readonly name: string;
  readonly private?: boolean;
  /** The default branch; `main` unless told. */
  readonly branch?: string;
  /** The first commit; a README.md unless told. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** No commit at all. */
  readonly empty?: boolean;
  /** Kept in memory: quick to make and to ask, but nothing that git itself could clone or push to. */
  readonly inMemory?: boolean;
  /** False: no site. What the first commit holds is built and live from the start. */
  readonly pages?: PagesSpec | false;
}

/** One line of a repository's history. */
export interface LogEntry {
  readonly sha: string;
  readonly message: string;
  readonly files: string[];
}

/** A repository of the world: what a test may do and look at. */
export interface Repository {
  readonly instance: Instance;
  readonly owner: string;
  readonly name: string;
  readonly fullName: string;
  readonly branch: string;
  /** The site and its behaviour; throws when the repository has none. */
  readonly pages: PagesSite;
  readonly issues: IssueTracker;
  /** Somebody else's commit; null takes the file away. Answers the commit's sha. */
  commit(path: string, bytes: string | Buffer | null, message?: string, branch?: string): Promise<string>;
  read(path: string, branch?: string): Promise<Buffer | null>;
  /** The newest first. */
  log(branch?: string): Promise<LogEntry[]>;
  /** The commits of the history with more than one parent. */
  merges(branch?: string): Promise<string[]>;
  head(branch?: string): Promise<string | null>;
  /** The newest first. */
  releases(): readonly Release[];
  /** Makes a release with an asset that never finished uploading. */
  plantStarter(tag: string, assetName: string): Promise<void>;
  /** Changes of branches must come through a pull request. */
  protect(on: boolean): void;
  immutableReleases(on: boolean): void;
}

/** A repository as the hosts see it. */
export class WorldRepository implements Repository {
  readonly id: number;
  readonly instance: Instance;
  readonly owner: string;
  readonly name: string;
  readonly fullName: string;
  readonly branch: string;
  readonly isPrivate: boolean;
  readonly createdAt = new Date();
  readonly git: GitStore;
  readonly shelf: ReleaseShelf;
  readonly issues: IssueTracker;
  readonly site: PagesSite | null;
  readonly serveSite: ReturnType<typeof serveSite> | null;
  isProtected = false;
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(spec: RepositorySpec, git: GitStore, context: Context) {
    this.id = context.nextId();
    this.instance = spec.instance ?? GITHUB_COM;
    this.owner = spec.owner;
    this.name = spec.name;
    this.fullName = `${spec.owner}/${spec.name}`;
    this.branch = spec.branch ?? 'main';
    this.isPrivate = spec.private ?? false;
    this.git = git;
    this.shelf = new ReleaseShelf(context.nextId);
    this.issues = new IssueTracker(spec.owner, spec.name, this.branch);
    const pages = spec.pages ?? {};
    this.site = pages === false ? null : new PagesSite(git, this, pages, context.stopped);
    this.serveSite = this.site === null ? null : serveSite(git, this.site);
  }

  static async create(spec: RepositorySpec, context: Context): Promise<WorldRepository> {
    const where = spec.instance === undefined ? '' : `${spec.instance.host}--`;
    const folder = join(context.folder, `${where}${spec.owner}--${spec.name}.git`);
    const git = spec.inMemory
      ? new MemoryRepository()
      : await BareRepository.create(folder, spec.branch ?? 'main');
    const repository = new WorldRepository(spec, git, context);
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
    if (pages !== false && pages.built !== false) await repository.site?.settle(commit);
    return repository;
  }

  get pages(): PagesSite {
    if (this.site === null) throw new Error(`${this.fullName} has no Pages site.`);
    return this.site;
  }

  async commit(
    path: string,
    bytes: string | Buffer | null,
    message = `${bytes === null ? 'Delete' : 'Update'} ${path}`,
    branch = this.branch,
  ): Promise<string> {
    const sha = bytes === null ? null : await this.git.writeBlob(Buffer.from(bytes));
    return this.exclusively(async () => {
      const commit = await this.#commitAsOwner([{ path, mode: '100644', sha }], message, branch);
      this.site?.pushed(branch, commit);
      return commit;
    });
  }

  async read(path: string, branch = this.branch): Promise<Buffer | null> {
    const head = await this.head(branch);
    const entry = head === null ? null : await this.git.entryAt(head, path);
    return entry === null ? null : this.git.readBlob(entry.sha);
  }

  async log(branch = this.branch): Promise<LogEntry[]> {
    const head = await this.head(branch);
    const commits = head === null ? [] : await this.git.log(head);
    const entries = commits.map(async ({ sha, message, parents }) => {
      const changed = await this.git.changedFiles(parents[0] ?? null, sha);
      return { sha, message, files: changed.map(({ path }) => path) };
    });
    return Promise.all(entries);
  }

  async merges(branch = this.branch): Promise<string[]> {
    const head = await this.head(branch);
    const commits = head === null ? [] : await this.git.log(head);
    return commits.filter(({ parents }) => parents.length > 1).map(({ sha }) => sha);
  }

  head(branch = this.branch): Promise<string | null> {
    return this.git.readRef(`refs/heads/${branch}`);
  }

  releases(): readonly Release[] {
    return this.shelf.releases;
  }

  async plantStarter(tag: string, assetName: string): Promise<void> {
    const plain = { target: this.branch, name: tag, body: null, draft: false, prerelease: false };
    const release = this.shelf.byTag(tag) ?? this.shelf.add({ tag, ...plain });
    this.shelf.attachStarter(release, assetName);
  }

  protect(on: boolean): void {
    this.isProtected = on;
  }

  immutableReleases(on: boolean): void {
    this.shelf.immutable = on;
  }

  /** Runs writes to the repository one after the other. */
  exclusively<Result>(write: () => Promise<Result>): Promise<Result> {
    const result = this.#writing.then(write);
    this.#writing = result.catch(() => {});
    return result;
  }

  /** Moves a branch, if it still stands where it was seen, and tells Pages. */
  async moveBranch(branch: string, to: string, from: string | null): Promise<boolean> {
    const moved = await this.git.updateRef(`refs/heads/${branch}`, to, from);
    if (moved) this.site?.pushed(branch, to);
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

  /** Somebody else's commit: in nobody's name that a workflow could have. Starts no build. */
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

/** What a repository needs of its world. */
export interface Context {
  readonly folder: string;
  readonly nextId: () => number;
  readonly stopped: AbortSignal;
}
