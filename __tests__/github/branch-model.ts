import type { Scripted, Seen } from '../support/ports.ts';
import { computeBlobSha } from '../world/git/bare-repository.ts';

/** A tree: paths and their blobs. */
export type Files = ReadonlyMap<string, string>;

/** A commit as the model keeps it. */
export interface ModelCommit {
  readonly sha: string;
  readonly parent: ModelCommit | null;
  readonly by: 'us' | 'others';
  readonly message: string;
  readonly files: Files;
}

/** A change of others on the branch; `null` deletes the file. */
export interface Change {
  readonly path: string;
  readonly blob: string | null;
}

const REPO = '/repos/octo/site';

/**
 * One branch of the contents and the git data API, with the host's optimistic concurrency: a write made for
 * another state of the branch is refused. Keeps the names of blobs, not their bytes.
 *
 * @see https://docs.github.com/en/rest/repos/contents, https://docs.github.com/en/rest/git
 */
export class BranchModel {
  head: ModelCommit;
  readonly #commits = new Map<string, ModelCommit>();
  readonly #trees = new Map<string, Files>();
  /** All commits of others, on the branch or not. */
  readonly others: ModelCommit[] = [];

  constructor(first: Pick<ModelCommit, 'by' | 'message' | 'files'>) {
    this.head = this.#commit({ ...first, parent: null });
  }

  /** The branch's commits, the newest first. */
  get history(): readonly ModelCommit[] {
    return this.#historyOf(this.head);
  }

  #historyOf(from: ModelCommit): readonly ModelCommit[] {
    const history: ModelCommit[] = [];
    for (let at: ModelCommit | null = from; at !== null; at = at.parent) history.push(at);
    return history;
  }

  /** A commit of others, if it changes anything. As in git, a name is a file or a folder. */
  change({ path, blob }: Change): void {
    const { files } = this.head;
    if ((files.get(path) ?? null) === blob) return;
    const others = [...files].filter(([other]) => other !== path && (blob === null || !clash(other, path)));
    const after = new Map(blob === null ? others : [...others, [path, blob]]);
    this.head = this.#commit({ by: 'others', message: `Change ${path}`, files: after, parent: this.head });
    this.others.push(this.head);
  }

  /**
   * Answers one request.
   *
   * @param during changes of others while the request is answered: they only matter to a write that moves the branch
   */
  answer({ method, url, body }: Seen, during: readonly Change[] = []): Scripted {
    const { pathname, searchParams } = new URL(url);
    if (pathname === '/graphql') return this.#lastChanges(JSON.parse(body).variables);
    const path = decodeURIComponent(pathname.slice(REPO.length));
    const [, kind = '', name = ''] = /^\/(contents|git\/commits|git\/ref\/heads)\/(.*)$/.exec(path) ?? [];
    // The bodies are those of our own calls.
    const sent = body === '' ? {} : (JSON.parse(body) as Record<string, string>);
    if (method === 'PUT' && kind === 'contents') return this.#put(name, sent, during);
    if (method === 'PATCH') return this.#moveBranch(sent);
    if (method === 'POST') return this.#create(path, JSON.parse(body));
    if (kind === 'contents') return this.#show(name, searchParams.get('ref') ?? '');
    if (kind === 'git/commits') return { body: { tree: { sha: this.#treeOf(this.#commits.get(name)) } } };
    if (kind === 'git/ref/heads') return { body: { object: { sha: this.head.sha } } };
    throw new Error(`the model has no ${method} ${path}`);
  }

  #show(path: string, ref: string): Scripted {
    const { files } = ref === 'main' ? this.head : (this.#commits.get(ref) ?? this.head);
    const sha = files.get(path);
    if (sha !== undefined) return { body: { type: 'file', sha } };
    return isFolder(files, path) ? { body: { type: 'dir', sha: 'tree' } } : refusal(404, 'Not Found');
  }

  /** The last commit of each path of a query: its variables are the commit to begin with, and the paths. */
  #lastChanges({ owner, repo, head = '', ...paths }: Readonly<Record<string, string>>): Scripted {
    const history = this.#historyOf(this.#commits.get(head) ?? this.head);
    const pages = Object.entries(paths).map(([name, path]) => {
      const last = history.find(({ files, parent }) => files.get(path) !== parent?.files.get(path));
      const nodes = last === undefined ? [] : [{ oid: last.sha, message: last.message, committedDate: '' }];
      return [name, { nodes }];
    });
    return { body: { data: { repository: { object: Object.fromEntries(pages) } } } };
  }

  #put(path: string, sent: Record<string, string>, during: readonly Change[]): Scripted {
    const { message = '', content = '', sha } = sent;
    const expected = this.head;
    for (const change of during) this.change(change);
    const { head } = this;
    if (head !== expected) return refusal(409, `is at ${head.sha} but expected ${expected.sha}`);
    const existing = head.files.get(path);
    if (existing !== undefined && sha === undefined) {
      return refusal(422, 'Invalid request.\n\n"sha" wasn\'t supplied.');
    }
    if (existing !== undefined && sha !== existing) return refusal(409, `${path} does not match ${sha}`);
    const files = withFile(head.files, path, computeBlobSha(Buffer.from(content, 'base64')));
    if (files === null) return refusal(422, `${path} is a directory`);
    this.head = this.#commit({ by: 'us', message, files, parent: head });
    return { status: existing === undefined ? 201 : 200, body: { commit: { sha: this.head.sha } } };
  }

  #create(path: string, sent: Created): Scripted {
    if (path === '/git/blobs') {
      return { status: 201, body: { sha: computeBlobSha(Buffer.from(sent.content ?? '', 'base64')) } };
    }
    if (path === '/git/trees') {
      const base = this.#trees.get(sent.base_tree ?? '');
      if (base === undefined) return refusal(422, 'base_tree is not a valid tree oid');
      let files: Files | null = base;
      for (const { path: name, sha } of sent.tree as readonly { path: string; sha: string }[]) {
        files = files === null ? null : withFile(files, name, sha);
      }
      if (files === null) return refusal(422, 'tree.path contains a malformed path component');
      const tree = `tree-${this.#trees.size}`;
      this.#trees.set(tree, files);
      return { status: 201, body: { sha: tree } };
    }
    const files = this.#trees.get(String(sent.tree));
    const parent = this.#commits.get(sent.parents?.[0] ?? '');
    if (files === undefined || parent === undefined) return refusal(422, 'Tree SHA does not exist');
    const commit = this.#commit({ by: 'us', message: sent.message ?? '', files, parent });
    return { status: 201, body: { sha: commit.sha } };
  }

  #moveBranch({ sha = '', force }: Record<string, unknown>): Scripted {
    const to = this.#commits.get(String(sha));
    if (to === undefined) return refusal(422, 'Object does not exist');
    let ancestor: ModelCommit | null = to;
    while (ancestor !== null && ancestor !== this.head) ancestor = ancestor.parent;
    if (ancestor === null && force !== true) return refusal(422, 'Update is not a fast forward');
    this.head = to;
    return { body: { object: { sha: to.sha } } };
  }

  #commit(commit: Omit<ModelCommit, 'sha'>): ModelCommit {
    const made = { ...commit, sha: `commit-${this.#commits.size}` };
    this.#commits.set(made.sha, made);
    this.#trees.set(this.#treeOf(made), made.files);
    return made;
  }

  #treeOf(commit: ModelCommit | undefined): string {
    return `tree of ${commit?.sha}`;
  }
}

/** The body of a POST. */
interface Created {
  readonly content?: string;
  readonly base_tree?: string;
  readonly tree?: unknown;
  readonly message?: string;
  readonly parents?: readonly string[];
}

/** Whether one of the paths would be a folder of the other. */
const clash = (one: string, other: string): boolean =>
  one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

const isFolder = (files: Files, path: string): boolean =>
  [...files.keys()].some((other) => other.startsWith(`${path}/`));

/** The files with one more, or another; `null` where a folder and a file would have one name. */
function withFile(files: Files, path: string, blob: string): Files | null {
  if ([...files.keys()].some((other) => clash(other, path))) return null;
  return new Map([...files, [path, blob]]);
}

const refusal = (status: number, message: string): Scripted => ({
  status,
  body: { message, status: String(status) },
});
