import { createHash } from 'node:crypto';

/** The fields of a pull request that tests and workflow events use. */
export interface PullRequestPayload {
  readonly number: number;
  readonly state: 'open' | 'closed';
  readonly head: {
    readonly ref: string;
    readonly sha: string;
    readonly user: { readonly login: string };
    readonly repo: {
      readonly full_name: string;
      readonly fork: boolean;
      readonly owner: { readonly login: string };
    };
  };
  readonly base: { readonly repo: { readonly id: number; readonly full_name: string } };
}

export interface StoredComment {
  readonly id: number;
  readonly user: { readonly login: string };
  body: string;
}

/** An issue, or a pull request if it has a head. */
export interface StoredIssue {
  readonly number: number;
  readonly author: string;
  title: string;
  body: string | null;
  state: 'open' | 'closed';
  closedAt: string | null;
  readonly comments: StoredComment[];
  readonly head: { readonly owner: string; readonly ref: string; sha: string } | null;
}

/** Issues, pull requests and comments of one repository, in memory. */
export class IssueTracker {
  readonly #owner: string;
  readonly #name: string;
  readonly #repositoryId: number;
  readonly #items: StoredIssue[] = [];
  #lastId = 0;

  constructor(owner: string, name: string, repositoryId: number) {
    this.#owner = owner;
    this.#name = name;
    this.#repositoryId = repositoryId;
  }

  /** All issues and pull requests, the newest first. */
  get all(): readonly StoredIssue[] {
    return this.#items.toReversed();
  }

  find(number: number): StoredIssue | undefined {
    return this.#items[number - 1];
  }

  /** The comment with this id, and the issue it is on. */
  findComment(id: number): { readonly comment: StoredComment; readonly issue: StoredIssue } | undefined {
    const all = this.#items.flatMap((issue) => issue.comments.map((comment) => ({ comment, issue })));
    return all.find(({ comment }) => comment.id === id);
  }

  /** Opens an issue, or with a head a pull request. */
  open(title: string, body: string | null, author: string, head: StoredIssue['head'] = null): StoredIssue {
    const issue: StoredIssue = {
      number: this.#items.length + 1,
      author,
      title,
      body,
      state: 'open',
      closedAt: null,
      comments: [],
      head,
    };
    this.#items.push(issue);
    return issue;
  }

  /** Opens a pull request from a branch, or from `human:branch` of a fork, and returns its number. */
  openPullRequest(title: string, head: string): number {
    const [ref = '', owner = this.#owner] = head.split(':').reverse();
    return this.open(title, null, owner, { owner, ref, sha: this.#createSha() }).number;
  }

  pullRequest(number: number): PullRequestPayload {
    const { state, head } = this.#get(number);
    if (head === null) throw new Error(`${number} is an issue.`);
    const { owner, ref, sha } = head;
    const user = { login: owner };
    const repo = { full_name: `${owner}/${this.#name}`, fork: owner !== this.#owner, owner: user };
    const base = { repo: { id: this.#repositoryId, full_name: `${this.#owner}/${this.#name}` } };
    return { number, state, head: { ref, sha, user, repo }, base };
  }

  /** Whether a commit is at the head of a pull request. */
  hasHead(sha: string): boolean {
    return this.#items.some(({ head }) => head?.sha === sha);
  }

  push(number: number): PullRequestPayload {
    const { head } = this.#get(number);
    if (head !== null) head.sha = this.#createSha();
    return this.pullRequest(number);
  }

  /** Closes it, by default after all that a test delivers. */
  closePullRequest(number: number, closedAt = '2099-01-01T00:00:00Z'): PullRequestPayload {
    Object.assign(this.#get(number), { state: 'closed', closedAt });
    return this.pullRequest(number);
  }

  comments(number: number): readonly StoredComment[] {
    return this.#get(number).comments;
  }

  /** The open and closed issues without pull requests, oldest first. */
  list(): readonly StoredIssue[] {
    return this.#items.filter(({ head }) => head === null);
  }

  /** Adds a comment, by default as the owner. */
  comment(number: number, body: string, login: string = this.#owner): StoredComment {
    this.#lastId += 1;
    const comment = { id: this.#lastId, user: { login }, body };
    this.#get(number).comments.push(comment);
    return comment;
  }

  #get(number: number): StoredIssue {
    const found = this.find(number);
    if (found === undefined) throw new Error(`There is no issue ${number}.`);
    return found;
  }

  /** A commit of a pull request is in no repository. */
  #createSha(): string {
    this.#lastId += 1;
    return createHash('sha1').update(`${this.#owner}/${this.#name} ${this.#lastId}`).digest('hex');
  }
}
