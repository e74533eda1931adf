import { Readable } from 'node:stream';
import type { Scripted, Seen } from '../../../support/ports.ts';
import { createApiHost } from '../../../world/api/host.ts';
import type { GitStore } from '../../../world/git/git-store.ts';
import { RateLimits } from '../../../world/rate-limits.ts';
import { TestRepository } from '../../../world/repository.ts';
import { TokenStore } from '../../../world/tokens.ts';
import { shaOf } from './memory-files.ts';

export interface HeldFile {
  readonly sha: string;
  readonly mode: string;
  /** Its text, if the branch doesn't have it yet. */
  readonly content?: string;
}

export type HeldFiles = ReadonlyMap<string, HeldFile>;

/** A commit of the branch; its history is a line. */
export interface HeldCommit {
  readonly sha: string;
  readonly parent: HeldCommit | null;
  readonly message: string;
  readonly files: HeldFiles;
}

export const held = (content: string, mode = '100644'): HeldFile => ({ sha: shaOf(content), mode, content });

export const heldFiles = (contents: Readonly<Record<string, string>>): HeldFiles =>
  new Map(Object.entries(contents).map(([path, content]) => [path, held(content)]));

/** One branch of the local GitHub, without sockets; what a bot commits through the API is signed, as its rule demands. */
export class MemoryBranch {
  /** Called before each write of ours moves the branch, so that somebody else can be first. */
  beforeMove: () => void = () => undefined;
  /** Bytes that a list names for a blob in place of its own. */
  readonly sizes = new Map<string, number>();
  /** Between two commits. */
  hours = 1;
  readonly token: string;
  readonly #git: GitStore;
  readonly #api: ReturnType<typeof createApiHost>;
  readonly #commits = new Map<string, HeldCommit>();
  readonly #now: () => Date;

  constructor(files: HeldFiles = new Map(), message = 'First') {
    const spec = { owner: 'octo', name: 'site', empty: true, pages: false } as const;
    const { signal: stopped } = new AbortController();
    const repository = TestRepository.create(spec, { folder: '/nowhere', nextId: () => 1, stopped });
    repository.protect('signatures');
    let hour = 0;
    this.#now = () => {
      hour += this.hours;
      return new Date(Date.UTC(2026, 0, 1, hour));
    };
    repository.now = this.#now;
    this.#git = repository.git;
    const [tokens, rateLimits] = [new TokenStore(), new RateLimits()];
    rateLimits.enforced = false;
    this.token = tokens.issue();
    this.#api = createApiHost({ find: () => repository, tokens, rateLimits });
    this.commit(files, message, null);
  }

  get head(): HeldCommit {
    return this.#at(this.#git.readRef('refs/heads/main') ?? '');
  }

  /** The commits of the branch, the newest first. */
  get history(): readonly HeldCommit[] {
    return this.touching(this.head.sha, '');
  }

  /** The contents' ids by path. */
  get now(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.head.files].map(([path, { sha }]) => [path, sha]));
  }

  /** A commit of somebody else that changes some paths; `null` removes one. */
  change(
    changes: Readonly<Record<string, HeldFile | string | null>>,
    message = 'A change by a person',
  ): HeldCommit {
    const files = new Map(this.head.files);
    for (const [path, file] of Object.entries(changes)) {
      if (file === null) files.delete(path);
      else files.set(path, typeof file === 'string' ? held(file) : file);
    }
    return this.commit(files, message);
  }

  commit(files: HeldFiles, message: string, parent: HeldCommit | null = this.head): HeldCommit {
    const git = this.#git;
    const changes = Array.from(files, ([path, { sha, mode, content }]) => {
      if (content !== undefined) git.writeBlob(Buffer.from(content));
      return { path, sha, mode };
    });
    const by = { name: 'A person', email: 'person@example.org', date: this.#now().toISOString() };
    const about = { message, author: by, committer: by, parents: parent === null ? [] : [parent.sha] };
    const commit = git.writeCommit({ ...about, tree: git.writeTree(null, changes) });
    git.updateRef('refs/heads/main', commit, git.readRef('refs/heads/main'));
    return this.head;
  }

  /** Git's id of a folder; an empty path means the whole branch. */
  treeSha(path: string, commit = this.head): string | null {
    return this.#git.entryAt(commit.sha, path)?.sha ?? null;
  }

  async answer({ method, url, headers: given, body: sent }: Seen): Promise<Scripted> {
    if (method === 'PUT' || method === 'PATCH') this.beforeMove();
    const { host, pathname: path, searchParams: query } = new URL(url);
    const headers = { 'user-agent': 'screen-delivery', ...given };
    const asked = {
      method,
      url,
      host,
      path,
      query,
      headers,
      body: Readable.from([Buffer.from(sent)]),
      connection: 0,
    };
    const { status, body } = await this.#api(asked);
    const answer = JSON.parse(String(body));
    if (this.sizes.size === 0 || !Array.isArray(answer.tree)) return { status, body: answer };
    const resize = ({ size, ...one }: { sha: string; size: number }) => ({
      ...one,
      size: this.sizes.get(one.sha) ?? size,
    });
    return { status, body: { ...answer, tree: answer.tree.map(resize) } };
  }

  /** The commits that changed something at or below a path, the newest first. */
  touching(from: string, path: string): readonly HeldCommit[] {
    return this.#git.log(from, { path }).map(({ sha }) => this.#at(sha));
  }

  #at(sha: string): HeldCommit {
    const known = this.#commits.get(sha);
    if (known !== undefined) return known;
    const { message, parents } = this.#git.commit(sha);
    const files = this.#git.listTree(sha, { recursive: true }).filter(({ type }) => type !== 'tree');
    const commit = {
      sha,
      message,
      parent: parents[0] === undefined ? null : this.#at(parents[0]),
      files: new Map(files.map(({ path, mode, sha: id }) => [path, { mode, sha: id }])),
    };
    this.#commits.set(sha, commit);
    return commit;
  }
}
