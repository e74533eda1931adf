import { createHash } from 'node:crypto';
import type { Scripted, Seen } from '../../../support/ports.ts';
import { computeBlobSha } from '../../../world/git/git-store.ts';

export interface HeldFile {
  readonly sha: string;
  readonly mode: string;
}

export type HeldFiles = ReadonlyMap<string, HeldFile>;

/** A commit of the branch; its history is a line. */
export interface HeldCommit {
  readonly sha: string;
  readonly parent: HeldCommit | null;
  readonly message: string;
  readonly files: HeldFiles;
}

const REPO = '/repos/octo/site';

export const shaOf = (content: string): string => computeBlobSha(Buffer.from(content));

export const held = (content: string, mode = '100644'): HeldFile => ({ sha: shaOf(content), mode });

export const heldFiles = (contents: Readonly<Record<string, string>>): HeldFiles =>
  new Map(Object.entries(contents).map(([path, content]) => [path, held(content)]));

/**
 * One branch in memory, answered by the contents API, the git data API and GraphQL as far as channel K1 asks them.
 * Its trees have git's own ids.
 *
 * @see https://docs.github.com/en/rest/git
 */
export class MemoryBranch {
  head: HeldCommit;
  /** Called before each write of ours moves the branch, so that somebody else can be first. */
  beforeMove: () => void = () => undefined;
  /** Whether all commits are of one second. */
  isOfOneSecond = false;
  /** Bytes of blobs with another size than 1. */
  readonly sizes = new Map<string, number>();
  readonly #commits = new Map<string, HeldCommit>();
  readonly #trees = new Map<string, HeldFiles>();

  constructor(files: HeldFiles = new Map(), message = 'First') {
    this.head = this.#create({ message, files, parent: null });
  }

  /** The commits of the branch, the newest first. */
  get history(): readonly HeldCommit[] {
    return listHistory(this.head);
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
    this.head = this.#create({ message, files, parent });
    return this.head;
  }

  /** Git's id of a folder; that of everything for an empty path. */
  treeSha(path: string, commit = this.head): string | null {
    return listTree(commit.files).get(path)?.sha ?? null;
  }

  answer({ method, url, body }: Seen): Scripted {
    const { pathname, searchParams } = new URL(url);
    if (pathname === '/graphql') return this.#query(JSON.parse(body));
    const path = decodeURIComponent(pathname.slice(REPO.length));
    const [, kind = '', name = ''] =
      /^\/(contents|git\/commits|git\/trees|git\/ref\/heads|rules\/branches)\/?(.*)$/.exec(path) ?? [];
    if (method === 'PUT') return this.#put(name, JSON.parse(body));
    if (method === 'PATCH') return this.#move(JSON.parse(body));
    if (method === 'POST') return this.#post(path, JSON.parse(body));
    if (kind === 'rules/branches') return { body: [{ type: 'required_signatures' }] };
    if (kind === 'git/ref/heads') return { body: { object: { sha: this.head.sha } } };
    if (kind === 'git/commits') {
      const { files, parent } = this.#at(name);
      return {
        body: { tree: { sha: this.#keep(files) }, parents: parent === null ? [] : [{ sha: parent.sha }] },
      };
    }
    if (kind === 'git/trees') return { body: { sha: name, truncated: false, tree: this.#list(name) } };
    if (kind === 'contents') return this.#show(name, searchParams.get('ref') ?? '');
    if (path === '/commits') {
      const limit = Number(searchParams.get('per_page'));
      const skipped = (Number(searchParams.get('page') ?? 1) - 1) * limit;
      const found = this.touching(searchParams.get('sha') ?? '', searchParams.get('path') ?? '');
      return { body: found.slice(skipped, skipped + limit).map((commit) => this.#describe(commit)) };
    }
    throw new Error(`the branch in memory has no ${method} ${path}`);
  }

  /** The commits that changed something at or below a path, the newest first. */
  touching(from: string, path: string): readonly HeldCommit[] {
    return listHistory(this.#at(from)).filter((commit) => {
      const [now, before] = [commit, commit.parent].map((one) =>
        one === null ? undefined : listTree(one.files).get(path),
      );
      return now?.sha !== before?.sha || now?.mode !== before?.mode;
    });
  }

  #at(sha: string): HeldCommit {
    const commit = this.#commits.get(sha);
    if (commit === undefined) throw new Error(`there is no commit ${sha}`);
    return commit;
  }

  /** Each commit is an hour younger than the one before. */
  #describe({ sha, message, parent }: HeldCommit): object {
    const hours = [...this.#commits.keys()].indexOf(sha);
    const date = new Date(Date.UTC(2026, 0, 1, this.isOfOneSecond ? 0 : hours)).toISOString();
    const parents = parent === null ? [] : [{ sha: parent.sha }];
    return { sha, parents, commit: { message, committer: { date } } };
  }

  #list(sha: string): readonly object[] {
    const files = this.#trees.get(sha);
    if (files === undefined) throw new Error(`there is no tree ${sha}`);
    return [...listTree(files)].flatMap(([path, { sha: id, mode, type }]) => {
      const size = type === 'blob' ? { size: this.sizes.get(id) ?? 1 } : {};
      return path === '' ? [] : [{ path, mode, type, sha: id, ...size }];
    });
  }

  #show(path: string, ref: string): Scripted {
    const { files } = ref === 'main' ? this.head : this.#at(ref);
    const entry = listTree(files).get(path);
    if (entry === undefined) return refusal(404, 'Not Found');
    return { body: { type: entry.type === 'tree' ? 'dir' : 'file', sha: entry.sha } };
  }

  #query({ query, variables }: { query: string; variables: Readonly<Record<string, string>> }): Scripted {
    const fields = [...query.matchAll(/(\w+): history\(first: (\d+)/g)];
    const pages = fields.map(([, name = '', first]) => {
      const path = variables[name] ?? '';
      const fileIn = (one: HeldCommit | null) => {
        const entry = one && listTree(one.files).get(path);
        return { file: entry ? { oid: entry.sha, size: this.sizes.get(entry.sha) ?? 1 } : null };
      };
      const nodes = this.touching(variables.head ?? '', path)
        .slice(0, Number(first))
        .map((one) => {
          const { sha: oid, commit } = this.#describe(one) as {
            sha: string;
            commit: { message: string; committer: { date: string } };
          };
          const { message, committer } = commit;
          const parents = { nodes: [fileIn(one.parent)] };
          return { oid, message, committedDate: committer.date, ...fileIn(one), parents };
        });
      return [name, { nodes }];
    });
    return { body: { data: { repository: { object: Object.fromEntries(pages) } } } };
  }

  #put(path: string, sent: Readonly<Record<string, string>>): Scripted {
    this.beforeMove();
    const existing = this.head.files.get(path)?.sha;
    if (existing !== sent.sha) return refusal(409, `${path} does not match`);
    const sha = computeBlobSha(Buffer.from(sent.content ?? '', 'base64'));
    const files = new Map([...this.head.files, [path, { sha, mode: '100644' }]]);
    if (hasClash(files)) return refusal(422, `${path} is a directory`);
    this.commit(files, sent.message ?? '');
    return { status: existing === undefined ? 201 : 200, body: { commit: { sha: this.head.sha } } };
  }

  #post(path: string, sent: SentObject): Scripted {
    if (path === '/git/blobs') {
      const bytes = Buffer.from(sent.content ?? '', 'base64');
      this.sizes.set(computeBlobSha(bytes), bytes.length);
      return { status: 201, body: { sha: computeBlobSha(bytes) } };
    }
    if (path === '/git/commits') {
      const parent = this.#at(sent.parents?.[0] ?? '');
      const files = this.#trees.get(String(sent.tree)) ?? new Map();
      return { status: 201, body: { sha: this.#create({ message: sent.message ?? '', files, parent }).sha } };
    }
    const files = new Map(this.#trees.get(sent.base_tree ?? ''));
    for (const { path: name, sha, mode } of sent.tree as readonly (HeldFile & { path: string })[]) {
      if (sha === null && !files.delete(name)) return refusal(422, 'BadObjectState');
      if (sha !== null) files.set(name, { sha, mode });
    }
    if (hasClash(files)) return refusal(422, 'tree.path contains a malformed path component');
    return { status: 201, body: { sha: this.#keep(files) } };
  }

  #move({ sha }: { readonly sha: string }): Scripted {
    this.beforeMove();
    const to = this.#at(sha);
    if (!listHistory(to).includes(this.head)) return refusal(422, 'Update is not a fast forward');
    this.head = to;
    return { body: { object: { sha } } };
  }

  #keep(files: HeldFiles): string {
    const sha = listTree(files).get('')?.sha ?? '';
    this.#trees.set(sha, files);
    return sha;
  }

  #create(commit: Omit<HeldCommit, 'sha'>): HeldCommit {
    const sha = createHash('sha1').update(`commit ${this.#commits.size}`).digest('hex');
    const made = { ...commit, sha };
    this.#commits.set(sha, made);
    return made;
  }
}

interface SentObject {
  readonly content?: string;
  readonly base_tree?: string;
  readonly tree?: unknown;
  readonly message?: string;
  readonly parents?: readonly string[];
}

function listHistory(from: HeldCommit): readonly HeldCommit[] {
  const history: HeldCommit[] = [];
  for (let at: HeldCommit | null = from; at !== null; at = at.parent) history.push(at);
  return history;
}

/** Whether a file has the name of a folder. */
const hasClash = (files: HeldFiles): boolean =>
  [...files.keys()].some((path) => [...files.keys()].some((other) => other.startsWith(`${path}/`)));

interface ListedObject extends HeldFile {
  readonly type: 'blob' | 'tree' | 'commit';
}

const LISTS = new WeakMap<HeldFiles, ReadonlyMap<string, ListedObject>>();

/** Every file and folder by path, the folders with git's ids; the whole has an empty path. */
export function listTree(files: HeldFiles): ReadonlyMap<string, ListedObject> {
  const known = LISTS.get(files);
  if (known !== undefined) return known;
  const list = new Map<string, ListedObject>();
  const names = new Map<string, Set<string>>([['', new Set()]]);
  for (const [path, file] of files) {
    list.set(path, { ...file, type: file.mode === '160000' ? 'commit' : 'blob' });
    const parts = path.split('/');
    for (let depth = parts.length; depth > 0; depth -= 1) {
      const parent = parts.slice(0, depth - 1).join('/');
      names.set(parent, (names.get(parent) ?? new Set()).add(parts.slice(0, depth).join('/')));
    }
  }
  // The deepest folders first, because a tree names those in it.
  const depth = (path: string): number => (path === '' ? 0 : path.split('/').length);
  for (const [folder, inside] of [...names].sort(([one], [other]) => depth(other) - depth(one))) {
    const entries = [...inside].flatMap((path) => {
      const entry = list.get(path);
      return entry === undefined ? [] : [{ name: path.slice(path.lastIndexOf('/') + 1), ...entry }];
    });
    list.set(folder, { sha: hashEntries(entries), mode: '040000', type: 'tree' });
  }
  LISTS.set(files, list);
  return list;
}

/** @see https://git-scm.com/docs/gitformat-pack (trees are sorted as if a folder's name ended in a slash) */
function hashEntries(entries: readonly (ListedObject & { readonly name: string })[]): string {
  const key = ({ name, type }: (typeof entries)[number]): Buffer =>
    Buffer.from(type === 'tree' ? `${name}/` : name);
  const sorted = [...entries].sort((one, other) => Buffer.compare(key(one), key(other)));
  const lines = sorted.flatMap(({ name, mode, sha }) => [
    Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`),
    Buffer.from(sha, 'hex'),
  ]);
  const body = Buffer.concat(lines);
  return createHash('sha1').update(`tree ${body.length}\0`).update(body).digest('hex');
}

const refusal = (status: number, message: string): Scripted => ({
  status,
  body: { message, status: String(status) },
});
