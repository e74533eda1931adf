import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

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

export interface CommitPerson {
  readonly name: string;
  readonly email: string;
  /** ISO 8601. */
  readonly date: string;
}

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: CommitPerson;
  readonly committer: CommitPerson;
}

export interface GitCommit extends NewCommit {
  readonly sha: string;
}

interface GitObject {
  readonly type: 'blob' | 'tree' | 'commit';
  readonly bytes: Buffer;
}

type Folder = ReadonlyMap<string, { readonly mode: string; readonly sha: string }>;

const FOLDER_MODE = '40000';
/** Speed matters here, disk does not: nothing is compressed or packed. */
const CONFIGURATION =
  '[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tlooseCompression = 0\n\tcompression = 0\n[gc]\n\tauto = 0\n[http]\n\treceivepack = true\n[receive]\n\tunpackLimit = 100000\n[uploadpack]\n\tallowFilter = true\n';
/** What no name of a ref may hold. @see https://git-scm.com/docs/git-check-ref-format */
const BAD_REF = /\.\.|[\0- \x7f~^:?*[\\]|\/\/|\/\.|@\{|\.lock(?:\/|$)|[/.]$/;

const hashObject = ({ type, bytes }: GitObject): string =>
  createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');

export const computeBlobSha = (bytes: Buffer): string => hashObject({ type: 'blob', bytes });

/** A repository in memory, with git's own ids, and in a folder as soon as git itself has to serve it. */
export class GitStore {
  readonly directory: string;
  readonly #head: string;
  readonly #objects = new Map<string, GitObject>();
  readonly #folders = new Map<string, Folder>();
  readonly #commits = new Map<string, GitCommit>();
  readonly #refs = new Map<string, string>();

  constructor(directory: string, branch: string) {
    this.directory = directory;
    this.#head = `ref: refs/heads/${branch}\n`;
  }

  /** The commit of a branch, tag or sha; null if it does not exist. */
  resolve(name: string): string | null {
    const candidates = [this.#refs.get(`refs/heads/${name}`), this.#refs.get(`refs/tags/${name}`), name];
    return candidates.find((sha) => sha !== undefined && this.getType(sha) === 'commit') ?? null;
  }

  /** Where a full ref (`refs/heads/main`) points; null when it does not exist. */
  readRef(ref: string): string | null {
    return this.#refs.get(ref) ?? null;
  }

  /** Sets a full ref if it still points to `from` (null: does not exist); otherwise returns false. */
  updateRef(ref: string, to: string, from: string | null): boolean {
    if (this.readRef(ref) !== from || BAD_REF.test(ref)) return false;
    const hasClash = [...this.#refs.keys()].some(
      (other) => other.startsWith(`${ref}/`) || ref.startsWith(`${other}/`),
    );
    if (!hasClash) this.#refs.set(ref, to);
    return !hasClash;
  }

  branches(): Map<string, string> {
    const heads = [...this.#refs].filter(([ref]) => ref.startsWith('refs/heads/'));
    return new Map(heads.map(([ref, sha]) => [ref.slice('refs/heads/'.length), sha]));
  }

  getType(sha: string): GitObject['type'] | null {
    return this.#find(sha)?.type ?? null;
  }

  writeBlob(bytes: Buffer): string {
    return this.#put({ type: 'blob', bytes });
  }

  readBlob(sha: string): Buffer {
    return this.#read(sha, 'blob');
  }

  /** A tree's (or commit's) direct entries, or everything below it, folders included, as GitHub lists it. */
  listTree(treeish: string, { recursive = false } = {}): TreeEntry[] {
    return [...this.#folder(treeish)].flatMap(([name, { mode, sha }]) => {
      const entry = this.#describe(name, mode, sha);
      const below = recursive && entry.type === 'tree' ? this.listTree(sha, { recursive }) : [];
      return [entry, ...below.map((one) => ({ ...one, path: `${name}/${one.path}` }))];
    });
  }

  entryAt(treeish: string, path: string): TreeEntry | null {
    let found = { mode: FOLDER_MODE, sha: this.#tree(treeish) };
    for (const name of path === '' ? [] : path.split('/')) {
      const inside = found.mode === FOLDER_MODE ? this.#folder(found.sha).get(name) : undefined;
      if (inside === undefined) return null;
      found = inside;
    }
    return this.#describe(path, found.mode, found.sha);
  }

  /** A new tree: the base tree, or an empty one, with the changes. */
  writeTree(base: string | null, changes: readonly TreeChange[]): string {
    const entries = new Map(base === null ? [] : this.#folder(base));
    for (const [name, inside] of Map.groupBy(changes, ({ path }) => path.split('/', 1)[0] ?? '')) {
      for (const { path, mode, sha } of inside) {
        if (path !== name) continue;
        if (sha === null) entries.delete(name);
        else entries.set(name, { mode: mode.replace(/^0+/, ''), sha });
      }
      const deeper = inside
        .filter(({ path }) => path !== name)
        .map((one) => ({ ...one, path: one.path.slice(name.length + 1) }));
      const isFile = inside.some(({ path, sha }) => path === name && sha !== null);
      if (deeper.length === 0 || isFile) continue;
      const { mode, sha } = entries.get(name) ?? {};
      const tree = this.writeTree(mode === FOLDER_MODE ? (sha ?? null) : null, deeper);
      if (this.#folder(tree).size === 0) entries.delete(name);
      else entries.set(name, { mode: FOLDER_MODE, sha: tree });
    }
    // Git sorts names by their bytes, and a folder's name as if it ended in a slash.
    const sorted = [...entries]
      .map(([name, { mode, sha }]) => ({ name: Buffer.from(name), mode, sha }))
      .map((one) => ({
        ...one,
        key: Buffer.concat([one.name, Buffer.from(one.mode === FOLDER_MODE ? '/' : '')]),
      }))
      .sort((one, other) => one.key.compare(other.key));
    const lines = sorted.flatMap(({ name, mode, sha }) => [
      Buffer.from(`${mode} `),
      name,
      Buffer.from([0]),
      Buffer.from(sha, 'hex'),
    ]);
    const tree = this.#put({ type: 'tree', bytes: Buffer.concat(lines) });
    this.#folders.set(tree, new Map(sorted.map(({ name, mode, sha }) => [String(name), { mode, sha }])));
    return tree;
  }

  writeCommit({ tree, parents, message, author, committer }: NewCommit): string {
    const lines = [
      `tree ${tree}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${formatPerson(author)}`,
      `committer ${formatPerson(committer)}`,
    ];
    return this.#put({ type: 'commit', bytes: Buffer.from(`${lines.join('\n')}\n\n${message}`) });
  }

  commit(sha: string): GitCommit {
    const known = this.#commits.get(sha) ?? this.#parseCommit(sha);
    this.#commits.set(sha, known);
    return known;
  }

  #parseCommit(sha: string): GitCommit {
    const text = this.#read(sha, 'commit').toString();
    const end = text.indexOf('\n\n');
    const fields = text
      .slice(0, end)
      .split('\n')
      .map((line) => /^(\w+) (.*)$/.exec(line)?.slice(1) ?? []);
    const all = (name: string): string[] =>
      fields.flatMap(([field, value = '']) => (field === name ? value : []));
    return {
      sha,
      tree: all('tree')[0] ?? '',
      parents: all('parent'),
      author: parsePerson(all('author')[0]),
      committer: parsePerson(all('committer')[0]),
      message: text.slice(end + 2).trimEnd(),
    };
  }

  /** A commit and its ancestors that another commit lacks, newest first; with a path, only those that touched it. */
  log(from: string, { path = '', not = '' } = {}): GitCommit[] {
    const known = new Set(not === '' ? [] : this.log(not).map(({ sha }) => sha));
    const found: GitCommit[] = [];
    const waiting = [from];
    while (waiting.length > 0) {
      const next = waiting.map((sha) => this.commit(sha)).sort((one, other) => newerFirst(one, other))[0];
      if (next === undefined) break;
      waiting.splice(waiting.indexOf(next.sha), 1);
      if (known.has(next.sha)) continue;
      known.add(next.sha);
      found.push(next);
      waiting.push(...next.parents);
    }
    return path === '' ? found : found.filter((commit) => this.#touches(commit, path));
  }

  isAncestor(older: string, newer: string): boolean {
    return this.log(newer).some(({ sha }) => sha === older);
  }

  /** The paths of the files in which two trees differ, in order. */
  changedFiles(before: string | null, after: string): string[] {
    const list = (treeish: string) => {
      const files = this.listTree(treeish, { recursive: true }).filter(({ type }) => type !== 'tree');
      return new Map(files.map(({ path, mode, sha }) => [path, `${mode} ${sha}`]));
    };
    const [old, now] = [before === null ? new Map<string, string>() : list(before), list(after)];
    return [...new Set([...old.keys(), ...now.keys()])]
      .filter((path) => old.get(path) !== now.get(path))
      .sort();
  }

  /** Writes to disk what git needs to serve. */
  writeToDisk(): void {
    this.#write('HEAD', this.#head);
    this.#write('config', CONFIGURATION);
    for (const folder of ['objects', 'refs/heads', 'refs/tags']) {
      mkdirSync(join(this.directory, folder), { recursive: true });
    }
    for (const [sha, { type, bytes }] of this.#objects) {
      const path = getObjectPath(sha);
      if (existsSync(join(this.directory, path))) continue;
      this.#write(
        path,
        deflateSync(Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]), { level: 0 }),
      );
    }
    for (const [ref, sha] of this.#refs) this.#write(ref, `${sha}\n`);
  }

  /** Reads the refs as git has left them after a push. */
  readRefsFromDisk(): void {
    const files = readdirSync(join(this.directory, 'refs'), { recursive: true, withFileTypes: true });
    this.#refs.clear();
    for (const file of files.filter((one) => one.isFile())) {
      const path = join(file.parentPath, file.name);
      this.#refs.set(path.slice(this.directory.length + 1), readFileSync(path, 'utf8').trim());
    }
  }

  /** Writes a file that git may read at the same time, unless it has the same text. */
  #write(name: string, content: string | Buffer): void {
    const path = join(this.directory, name);
    if (typeof content === 'string' && existsSync(path) && readFileSync(path, 'utf8') === content) return;
    mkdirSync(dirname(path), { recursive: true });
    const temporary = join(this.directory, 'new');
    writeFileSync(temporary, content);
    renameSync(temporary, path);
  }

  #touches({ parents, sha }: GitCommit, path: string): boolean {
    const now = this.entryAt(sha, path);
    const before = parents.map((parent) => this.entryAt(parent, path));
    const isSame = (one: TreeEntry | null): boolean => one?.sha === now?.sha && one?.mode === now?.mode;
    return before.length === 0 ? now !== null : !before.some(isSame);
  }

  #describe(path: string, mode: string, sha: string): TreeEntry {
    const type = mode === FOLDER_MODE ? 'tree' : mode === '160000' ? 'commit' : 'blob';
    const size = type === 'blob' ? (this.#find(sha)?.bytes.length ?? null) : null;
    return { mode: mode.padStart(6, '0'), type, sha, size, path };
  }

  /** The sha of a tree, or of a commit's. */
  #tree(treeish: string): string {
    return this.getType(treeish) === 'commit' ? this.commit(treeish).tree : treeish;
  }

  #folder(treeish: string): Folder {
    const sha = this.#tree(treeish);
    const known = this.#folders.get(sha) ?? parseFolder(this.#read(sha, 'tree'));
    this.#folders.set(sha, known);
    return known;
  }

  #put(object: GitObject): string {
    const sha = hashObject(object);
    this.#objects.set(sha, object);
    return sha;
  }

  #read(sha: string, type: GitObject['type']): Buffer {
    const found = this.#find(sha);
    if (found?.type !== type) throw new Error(`There is no ${type} ${sha}.`);
    return found.bytes;
  }

  /** An object that was written here, or that git has received. */
  #find(sha: string): GitObject | undefined {
    const known = this.#objects.get(sha);
    const path = join(this.directory, getObjectPath(sha));
    if (known !== undefined || !/^[0-9a-f]{40}$/.test(sha) || !existsSync(path)) return known;
    const content = inflateSync(readFileSync(path));
    const start = content.indexOf(0) + 1;
    const [type = ''] = content.toString('latin1', 0, start).split(' ');
    const object = { type: type as GitObject['type'], bytes: content.subarray(start) };
    this.#objects.set(sha, object);
    return object;
  }
}

const getObjectPath = (sha: string): string => join('objects', sha.slice(0, 2), sha.slice(2));

const newerFirst = (one: GitCommit, other: GitCommit): number =>
  Date.parse(other.committer.date) - Date.parse(one.committer.date);

function parseFolder(bytes: Buffer): Folder {
  const entries = new Map<string, { mode: string; sha: string }>();
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    const [, mode = '', name = ''] = /^(\d+) (.*)$/s.exec(bytes.toString('utf8', at, end)) ?? [];
    entries.set(name, { mode, sha: bytes.toString('hex', end + 1, end + 21) });
    at = end + 21;
  }
  return entries;
}

function formatPerson({ name, email, date }: CommitPerson): string {
  const clean = (text: string): string => text.replace(/[<>\n]/g, '');
  return `${clean(name)} <${clean(email)}> ${Math.floor(Date.parse(date) / 1000)} +0000`;
}

function parsePerson(line = ''): CommitPerson {
  const [, name = '', email = '', seconds = '0'] = /^(.*?) ?<(.*)> (\d+)/.exec(line) ?? [];
  // GitHub writes UTC times with a Z, without fractions.
  return { name, email, date: new Date(Number(seconds) * 1000).toISOString().replace('.000', '') };
}
