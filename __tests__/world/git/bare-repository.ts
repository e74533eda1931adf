import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { inflateSync } from 'node:zlib';
import { execGit, GitError, streamGitBlob } from './git.ts';

/** One line of a tree. */
export interface TreeEntry {
  readonly mode: string;
  readonly type: 'blob' | 'tree' | 'commit';
  readonly sha: string;
  /** Null for everything but blobs. */
  readonly size: number | null;
  readonly path: string;
}

/** A change to a tree; a null SHA removes the path. */
export interface TreeChange {
  readonly path: string;
  readonly mode: string;
  readonly sha: string | null;
}

/** Who made a commit. */
export interface CommitPerson {
  readonly name: string;
  readonly email: string;
  /** ISO 8601. */
  readonly date: string;
}

/** A commit as git knows it. */
export interface GitCommit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
  readonly message: string;
}

/** A commit to create. */
export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
}

const FIELDS = '%H%x1f%T%x1f%P%x1f%an%x1f%ae%x1f%aI%x1f%cn%x1f%ce%x1f%cI%x1f%B';
const FAST_CONFIGURATION =
  '[core]\n\tlooseCompression = 0\n\tcompression = 0\n[gc]\n\tauto = 0\n[http]\n\treceivepack = true\n[receive]\n\tunpackLimit = 100000\n[uploadpack]\n\tallowFilter = true\n';

/** Bytes of the largest file of an object that is read as a whole. */
const LARGEST_READ = 1_048_576;

/** The storage of a repository. */
export type GitStore = Pick<BareRepository, keyof BareRepository>;

/** The SHA-1 of a git blob. */
export function computeBlobSha(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** A full object id: what git says of it is always the same. */
const OBJECT_ID = /^[0-9a-f]{40}$/;
/** The most answers that are kept, and the bytes of the longest one. */
const KEPT = { answers: 500, length: 262_144 };

/**
 * A real git repository on disk: objects, refs and history, reached by git's own plumbing. What git says of an object
 * is kept, because a process for each of the many requests is slow.
 */
export class BareRepository {
  readonly directory: string;
  readonly #kept = new Map<string, Buffer>();

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async create(directory: string, branch: string): Promise<BareRepository> {
    await mkdir(directory, { recursive: true });
    await execGit(directory, ['init', '--bare', '--quiet', '--template=', `--initial-branch=${branch}`]);
    // Speed matters here, disk does not: nothing is compressed or packed.
    await appendFile(join(directory, 'config'), FAST_CONFIGURATION);
    return new BareRepository(directory);
  }

  /** The commit that a branch, tag or sha (possibly shortened) names; null when there is none. */
  async resolve(name: string): Promise<string | null> {
    if (name.startsWith('-') || name === '') return null;
    const branch = await this.readRef(`refs/heads/${name}`);
    if (branch !== null) return branch;
    const tag = await this.readRef(`refs/tags/${name}`);
    for (const candidate of tag === null ? [name] : [tag, name]) {
      const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${candidate}^{commit}`];
      const sha = await orNull(this.#ask([candidate], args));
      if (sha !== null) return sha.toString().trim();
    }
    return null;
  }

  /** Where a full ref (`refs/heads/main`) points; null when it does not exist. */
  async readRef(ref: string): Promise<string | null> {
    const loose = await readFile(join(this.directory, ref), 'utf8').catch(() => '');
    if (OBJECT_ID.test(loose.trim())) return loose.trim();
    if (!existsSync(join(this.directory, 'packed-refs'))) return null;
    return this.#tryText(['show-ref', '--verify', '--hash', '--', ref]);
  }

  /** Sets a full ref if it still points to `from` (null: does not exist); otherwise returns false. */
  async updateRef(ref: string, to: string, from: string | null): Promise<boolean> {
    const done = await this.#tryText(['update-ref', ref, to, from ?? '0'.repeat(40)]);
    return done !== null;
  }

  async getType(sha: string): Promise<string | null> {
    return (await orNull(this.#ask([sha], ['cat-file', '-t', sha])))?.toString().trim() ?? null;
  }

  async isAncestor(older: string, newer: string): Promise<boolean> {
    return (await this.#tryText(['merge-base', '--is-ancestor', older, newer])) !== null;
  }

  async mergeBase(one: string, other: string): Promise<string | null> {
    return this.#tryText(['merge-base', one, other]);
  }

  /** Counts the commits that only the first, and only the second, contains. */
  async countDifferentCommits(one: string, other: string): Promise<{ left: number; right: number }> {
    const out = await this.#text(['rev-list', '--left-right', '--count', `${one}...${other}`]);
    const [left = 0, right = 0] = out.split(/\s+/).map(Number);
    return { left, right };
  }

  async writeBlob(bytes: Buffer): Promise<string> {
    return this.#text(['hash-object', '-w', '--stdin'], { input: bytes });
  }

  async readBlob(sha: string): Promise<Buffer> {
    return (await this.#readLoose(sha)) ?? execGit(this.directory, ['cat-file', 'blob', sha]);
  }

  /** A blob from its own file, without a process; null where it is large or in a pack, and where there is none. */
  async #readLoose(sha: string): Promise<Buffer | null> {
    const path = join(this.directory, 'objects', sha.slice(0, 2), sha.slice(2));
    const size = await stat(path).then(
      (file) => file.size,
      () => LARGEST_READ + 1,
    );
    if (size > LARGEST_READ) return null;
    const bytes = inflateSync(await readFile(path));
    return bytes.subarray(0, 5).equals(Buffer.from('blob ')) ? bytes.subarray(bytes.indexOf(0) + 1) : null;
  }

  streamBlob(sha: string): Readable {
    return Readable.from(this.#streamPieces(sha), { objectMode: false });
  }

  async *#streamPieces(sha: string): AsyncGenerator<Buffer> {
    const whole = await this.#readLoose(sha);
    if (whole === null) yield* streamGitBlob(this.directory, sha) as AsyncIterable<Buffer>;
    else if (whole.length > 0) yield whole;
  }

  /** A tree's (or commit's) direct entries, or everything below it, folders included, as GitHub lists it. */
  async listTree(treeish: string, { recursive = false } = {}): Promise<TreeEntry[]> {
    return this.#entries(treeish, [...(recursive ? ['-r', '-t'] : []), treeish]);
  }

  /** The entry at a path; null when there is none. */
  async entryAt(treeish: string, path: string): Promise<TreeEntry | null> {
    const [entry] = await this.#entries(treeish, [treeish, '--', path]);
    return entry ?? null;
  }

  /** A new tree: the base one (none: empty) with the changes applied. */
  async writeTree(base: string | null, changes: readonly TreeChange[]): Promise<string> {
    const index = join(this.directory, `index-${randomUUID()}`);
    const env = { GIT_INDEX_FILE: index };
    const lines = changes.map(({ path, mode, sha }) =>
      sha === null ? `0 ${'0'.repeat(40)}\t${path}\0` : `${mode} ${sha}\t${path}\0`,
    );
    try {
      if (base !== null) await execGit(this.directory, ['read-tree', base], { env });
      await execGit(this.directory, ['update-index', '-z', '--index-info'], { env, input: lines.join('') });
      return await this.#text(['write-tree'], { env });
    } finally {
      await rm(index, { force: true });
    }
  }

  async writeCommit({ tree, parents, message, author, committer }: NewCommit): Promise<string> {
    const env = {
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_AUTHOR_DATE: author.date,
      GIT_COMMITTER_NAME: committer.name,
      GIT_COMMITTER_EMAIL: committer.email,
      GIT_COMMITTER_DATE: committer.date,
    };
    const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])];
    return this.#text(args, { env, input: message });
  }

  /** The newest commits first; with a path, those that touched it. */
  async log(from: string, { path = '', skip = 0, limit = 0, not = '' } = {}): Promise<GitCommit[]> {
    const args = ['log', '-z', `--format=${FIELDS}`, `--skip=${skip}`];
    if (limit > 0) args.push(`--max-count=${limit}`);
    const out = await this.#ask(not === '' ? [from] : [from, not], [
      ...args,
      from,
      ...(not === '' ? [] : [`^${not}`]),
      '--',
      ...(path === '' ? [] : [`:(literal)${path}`]),
    ]);
    return out.toString().split('\0').filter(Boolean).map(parseCommit);
  }

  /** All branches and their heads. */
  async branches(): Promise<Map<string, string>> {
    const out = await this.#text([
      'for-each-ref',
      '--format=%(refname:lstrip=2) %(objectname)',
      'refs/heads',
    ]);
    const lines = out.split('\n').filter(Boolean);
    return new Map(lines.map((line) => line.split(' ') as [string, string]));
  }

  async commit(sha: string): Promise<GitCommit> {
    const [commit] = await this.log(sha, { limit: 1 });
    return commit as GitCommit;
  }

  /** The files in which two trees differ, with git's status letter (A, M, D). */
  async changedFiles(
    before: string | null,
    after: string,
  ): Promise<{ path: string; status: string; sha: string }[]> {
    // A first commit is compared with git's empty tree.
    const from = before ?? '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
    const out = await this.#ask([from, after], ['diff-tree', '-r', '-z', '--no-renames', from, after]);
    const parts = out.toString().split('\0').filter(Boolean);
    const files = [];
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const [, , , sha = '', status = ''] = (parts[at] as string).split(' ');
      files.push({ path: parts[at + 1] as string, status, sha });
    }
    return files;
  }

  async #entries(treeish: string, args: readonly string[]): Promise<TreeEntry[]> {
    const out = await this.#ask([treeish], ['ls-tree', '-z', '-l', ...args]);
    return out.toString().split('\0').filter(Boolean).map(parseEntry);
  }

  /** Runs a command that only reads. Where it names objects alone, its answer is kept. */
  async #ask(names: readonly string[], args: readonly string[]): Promise<Buffer> {
    const key = args.join('\0');
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const answer = await execGit(this.directory, args);
    if (names.every((name) => OBJECT_ID.test(name))) this.#keep(key, answer);
    return answer;
  }

  #keep(key: string, answer: Buffer): void {
    if (answer.length <= KEPT.length && this.#kept.size < KEPT.answers) this.#kept.set(key, answer);
  }

  async #text(args: readonly string[], options = {}): Promise<string> {
    return (await execGit(this.directory, args, options)).toString().trim();
  }

  async #tryText(args: readonly string[]): Promise<string | null> {
    const out = await orNull(execGit(this.directory, args));
    return out === null ? null : out.toString().trim();
  }
}

/** Null where git says no. */
async function orNull(answer: Promise<Buffer>): Promise<Buffer | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof GitError) return null;
    throw error;
  }
}

function parseEntry(line: string): TreeEntry {
  const tab = line.indexOf('\t');
  const [mode = '', type = '', sha = '', size = '-'] = line.slice(0, tab).split(/ +/);
  return {
    mode,
    type: type as TreeEntry['type'],
    sha,
    size: size === '-' ? null : Number(size),
    path: line.slice(tab + 1),
  };
}

function parseCommit(record: string): GitCommit {
  const [
    sha = '',
    tree = '',
    parents = '',
    an = '',
    ae = '',
    ad = '',
    cn = '',
    ce = '',
    cd = '',
    message = '',
  ] = record.split('\x1f');
  return {
    sha,
    tree,
    parents: parents === '' ? [] : parents.split(' '),
    author: { name: an, email: ae, date: formatGithubDate(ad) },
    committer: { name: cn, email: ce, date: formatGithubDate(cd) },
    message: message.trimEnd(),
  };
}

/** GitHub writes UTC times with a Z. */
export function formatGithubDate(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19)}Z`;
}
