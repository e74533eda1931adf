import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { hashTree } from '../../../src/github/api/tree-id.ts';
import {
  computeBlobSha,
  formatGithubDate,
  type GitCommit,
  type GitStore,
  type NewCommit,
  type TreeChange,
  type TreeEntry,
} from './bare-repository.ts';

/** A tree with everything below it: blobs by their whole paths. */
type FlatTree = ReadonlyMap<string, { readonly mode: string; readonly sha: string }>;

/**
 * A repository in memory, for tests that need hundreds: it behaves like the one on disk, but git
 * itself can't clone it. Blobs have git's own shas; those of trees and commits are merely unique.
 */
export class MemoryRepository implements GitStore {
  readonly directory = '/nowhere';
  readonly #blobs = new Map<string, Buffer>();
  readonly #trees = new Map<string, FlatTree>();
  readonly #commits = new Map<string, GitCommit>();
  readonly #refs = new Map<string, string>();

  async resolve(name: string): Promise<string | null> {
    const candidates = [this.#refs.get(`refs/heads/${name}`), this.#refs.get(`refs/tags/${name}`), name];
    return candidates.find((sha) => sha !== undefined && this.#commits.has(sha)) ?? null;
  }

  async readRef(ref: string): Promise<string | null> {
    return this.#refs.get(ref) ?? null;
  }

  async updateRef(ref: string, to: string, from: string | null): Promise<boolean> {
    if ((this.#refs.get(ref) ?? null) !== from) return false;
    if (to === '0'.repeat(40)) this.#refs.delete(ref);
    else this.#refs.set(ref, to);
    return true;
  }

  async getType(sha: string): Promise<string | null> {
    if (this.#blobs.has(sha)) return 'blob';
    if (this.#trees.has(sha)) return 'tree';
    return this.#commits.has(sha) ? 'commit' : null;
  }

  async isAncestor(older: string, newer: string): Promise<boolean> {
    return this.#history(newer).some(({ sha }) => sha === older);
  }

  async mergeBase(one: string, other: string): Promise<string | null> {
    const known = new Set(this.#history(other).map(({ sha }) => sha));
    return this.#history(one).find(({ sha }) => known.has(sha))?.sha ?? null;
  }

  async countDifferentCommits(one: string, other: string): Promise<{ left: number; right: number }> {
    const [left, right] = [await this.log(one, { not: other }), await this.log(other, { not: one })];
    return { left: left.length, right: right.length };
  }

  async writeBlob(bytes: Buffer): Promise<string> {
    const sha = computeBlobSha(bytes);
    this.#blobs.set(sha, bytes);
    return sha;
  }

  async readBlob(sha: string): Promise<Buffer> {
    return this.#blobs.get(sha) ?? Buffer.alloc(0);
  }

  streamBlob(sha: string): Readable {
    return Readable.from([this.#blobs.get(sha) ?? Buffer.alloc(0)]);
  }

  async listTree(treeish: string, { recursive = false } = {}): Promise<TreeEntry[]> {
    const tree = this.#tree(treeish);
    const paths = [...tree.keys()].flatMap((path) => {
      const parts = path.split('/');
      const depth = recursive ? parts.length : 1;
      return Array.from({ length: depth }, (_, nth) => parts.slice(0, nth + 1).join('/'));
    });
    const entries = [...new Set(paths)].map((path) => this.#entry(tree, path));
    return entries.filter((entry) => entry !== null);
  }

  async entryAt(treeish: string, path: string): Promise<TreeEntry | null> {
    return this.#entry(this.#tree(treeish), path);
  }

  async writeTree(base: string | null, changes: readonly TreeChange[]): Promise<string> {
    const tree = new Map(base === null ? [] : this.#tree(base));
    for (const { path, mode, sha } of changes) {
      if (sha === null) tree.delete(path);
      else tree.set(path, { mode, sha });
    }
    return this.#keepTree(tree);
  }

  async writeCommit({ tree, parents, message, author, committer }: NewCommit): Promise<string> {
    const sha = computeSha('commit', [tree, parents, message, author, committer, this.#commits.size]);
    // git keeps seconds; a page that is built in the same second must not look older.
    const dated = (person: NewCommit['author']) => ({ ...person, date: formatGithubDate(person.date) });
    this.#commits.set(sha, {
      sha,
      tree,
      parents,
      message,
      author: dated(author),
      committer: dated(committer),
    });
    return sha;
  }

  async log(from: string, { path = '', skip = 0, limit = 0, not = '' } = {}): Promise<GitCommit[]> {
    const left = new Set(not === '' ? [] : this.#history(not).map(({ sha }) => sha));
    const touching = this.#history(from).filter(
      (commit) => !left.has(commit.sha) && (path === '' || this.#touches(commit, path)),
    );
    return touching.slice(skip, limit === 0 ? undefined : skip + limit);
  }

  async branches(): Promise<Map<string, string>> {
    const heads = [...this.#refs].filter(([ref]) => ref.startsWith('refs/heads/'));
    return new Map(heads.map(([ref, sha]) => [ref.slice('refs/heads/'.length), sha]));
  }

  async commit(sha: string): Promise<GitCommit> {
    return this.#commits.get(sha) as GitCommit;
  }

  async changedFiles(
    before: string | null,
    after: string,
  ): Promise<{ path: string; status: string; sha: string }[]> {
    const [old, now] = [before === null ? new Map() : this.#tree(before), this.#tree(after)];
    const written = [...now]
      .filter(([path, { sha }]) => old.get(path)?.sha !== sha)
      .map(([path, { sha }]) => ({ path, status: old.has(path) ? 'M' : 'A', sha }));
    const gone = [...old.keys()].filter((path) => !now.has(path));
    return [...written, ...gone.map((path) => ({ path, status: 'D', sha: '0'.repeat(40) }))];
  }

  #touches({ parents: [parent], tree }: GitCommit, path: string): boolean {
    const now = this.#tree(tree);
    const before: FlatTree = parent === undefined ? new Map() : this.#tree(parent);
    if (now.get(path)?.sha !== before.get(path)?.sha) return true;
    const below = (all: FlatTree): string =>
      [...all].flatMap(([one, { sha }]) => (one.startsWith(`${path}/`) ? `${one} ${sha}` : [])).join('\n');
    return below(now) !== below(before);
  }

  /** A commit and all before it, the newest first; every test's history is a line. */
  #history(from: string): GitCommit[] {
    const commits: GitCommit[] = [];
    for (let sha: string | undefined = from; sha !== undefined; ) {
      const commit = this.#commits.get(sha);
      if (commit === undefined) break;
      commits.push(commit);
      sha = commit.parents[0];
    }
    return commits;
  }

  #tree(treeish: string): FlatTree {
    const commit = this.#commits.get(treeish);
    return this.#trees.get(commit?.tree ?? treeish) ?? new Map();
  }

  #entry(tree: FlatTree, path: string): TreeEntry | null {
    const file = tree.get(path);
    if (file !== undefined) {
      if (file.mode === '160000') return { ...file, type: 'commit', size: null, path };
      const size = this.#blobs.get(file.sha)?.length ?? 0;
      return { ...file, type: 'blob', size, path };
    }
    const below = [...tree].filter(([other]) => other.startsWith(`${path}/`));
    if (below.length === 0) return null;
    const sha = this.#keepTree(new Map(below.map(([other, one]) => [other.slice(path.length + 1), one])));
    return { mode: '040000', type: 'tree', sha, size: null, path };
  }

  #keepTree(tree: FlatTree): string {
    const files = [...tree].map(([path, { sha }]) => ({ path, sha }));
    // Git's own id, by which a folder is known as a delivered one.
    const isPlain = [...tree.values()].every(({ mode }) => mode === '100644');
    const sha = isPlain ? hashTree(files) : computeSha('tree', [...tree].sort());
    this.#trees.set(sha, tree);
    return sha;
  }
}

const computeSha = (kind: string, value: unknown): string =>
  createHash('sha1')
    .update(`${kind} ${JSON.stringify(value)}`)
    .digest('hex');
