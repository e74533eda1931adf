import { createEmulator, type Emulator } from 'emulate';
import { formatUser } from './api/repository.ts';
import { collectBytes, type HostReply, type HostRequest, replyJson } from './server/messages.ts';
import { LOGINS } from './tokens.ts';

const API = 'https://api.github.com';
const COMMENT_LIMIT = 65_536;
const FORWARDED_HEADERS = ['accept', 'content-type', 'user-agent'] as const;

/** The fields of a pull request that tests use. */
export interface PullRequestPayload {
  readonly number: number;
  readonly state: string;
  readonly head: {
    readonly ref: string;
    readonly sha: string;
    readonly repo: { readonly full_name: string; readonly owner: { readonly login: string } };
  };
  readonly base: { readonly repo: { readonly id: number; readonly full_name: string } };
}

interface EmulatorRequest {
  readonly body?: string | undefined;
  /** Its content headers are forwarded. */
  readonly request?: HostRequest;
}

/**
 * Issues, pull requests and comments of one repository, simulated by `emulate`.
 * Files are stored in git, so the emulator knows little more than the repository's name.
 * It starts with the first request: most tests never need it.
 */
export class IssueTracker {
  readonly #owner: string;
  readonly #name: string;
  readonly #branch: string;
  #emulator: Promise<Emulator> | undefined;

  constructor(owner: string, name: string, branch: string) {
    this.#owner = owner;
    this.#name = name;
    this.#branch = branch;
  }

  /** Opens a pull request from a branch, or from `human:branch` of a fork, and returns its number. */
  async openPullRequest(title: string, head: string): Promise<number> {
    const [fork] = head.split(':');
    const author = head.includes(':') && fork !== undefined ? fork : this.#owner;
    // A second fork of the same person's is refused, and not needed.
    if (author !== this.#owner) await this.#ask('POST', `${this.#path}/forks`, author, { body: '{}' });
    const body = JSON.stringify({ title, head, base: this.#branch });
    const { status, text } = await this.#ask('POST', `${this.#path}/pulls`, author, { body });
    if (status !== 201) throw new Error(`No pull request: ${status} ${text}`);
    return (JSON.parse(text) as PullRequestPayload).number;
  }

  async pullRequest(number: number): Promise<PullRequestPayload> {
    return JSON.parse((await this.#ask('GET', `${this.#path}/pulls/${number}`, this.#owner)).text);
  }

  /** Whether a commit is at the head of a pull request. */
  async hasHead(sha: string): Promise<boolean> {
    const { text } = await this.#ask('GET', `${this.#path}/pulls?state=all&per_page=100`, this.#owner);
    return (JSON.parse(text) as PullRequestPayload[]).some(({ head }) => head.sha === sha);
  }

  /** Adds a commit to a pull request and returns it. */
  async push(number: number): Promise<PullRequestPayload> {
    const { head } = await this.pullRequest(number);
    const [author] = head.repo.full_name.split('/');
    const path = `${this.#path}/pulls/${number}/update-branch`;
    const { status, text } = await this.#ask('PUT', path, author ?? this.#owner, { body: '{}' });
    if (status !== 202) throw new Error(`No commit was pushed: ${status} ${text}`);
    return this.pullRequest(number);
  }

  /** Closes a pull request and returns it. */
  async closePullRequest(number: number): Promise<PullRequestPayload> {
    const body = JSON.stringify({ state: 'closed' });
    return JSON.parse(
      (await this.#ask('PATCH', `${this.#path}/pulls/${number}`, this.#owner, { body })).text,
    );
  }

  /** The first hundred comments of an issue or pull request. */
  async comments(number: number): Promise<{ id: number; body: string; user: { login: string } }[]> {
    const path = `${this.#path}/issues/${number}/comments?per_page=100`;
    return JSON.parse((await this.#ask('GET', path, this.#owner)).text);
  }

  /** The issues, open and closed, the oldest first; a pull request is none. */
  async list(): Promise<{ number: number; state: string; title: string; body: string }[]> {
    const path = `${this.#path}/issues?state=all&direction=asc&per_page=100`;
    const all = JSON.parse((await this.#ask('GET', path, this.#owner)).text) as { pull_request?: unknown }[];
    return all.filter((one) => !one.pull_request) as never;
  }

  /** Adds a comment, by default as the owner. */
  async comment(number: number, body: string, login: string = this.#owner): Promise<void> {
    const path = `${this.#path}/issues/${number}/comments`;
    await this.#ask('POST', path, login, { body: JSON.stringify({ body }) });
  }

  /** Whether a path below `/repos/{owner}/{repo}` leads to a pull request or to a comment on one. */
  async isAboutPull([root, first = '', second]: readonly string[]): Promise<boolean> {
    if (root !== 'issues') return false;
    const number = first === 'comments' ? await this.#issueOf(second ?? '') : first;
    return (await this.#ask('GET', `${this.#path}/pulls/${number}`, this.#owner)).status === 200;
  }

  async #issueOf(comment: string): Promise<string> {
    const { text } = await this.#ask('GET', `${this.#path}/issues/comments/${comment}`, this.#owner);
    return (JSON.parse(text) as { issue_url?: string }).issue_url?.split('/').at(-1) ?? '';
  }

  /** Handles an API request whose credentials are already checked. */
  async handle(request: HostRequest, login: string | null): Promise<HostReply> {
    const target = request.url.slice(request.url.indexOf('/', 'https://'.length));
    const body = request.method === 'GET' ? undefined : (await collectBytes(request.body)).toString();
    if (isTooLongComment(body)) {
      const message = `Body is too long (maximum is ${COMMENT_LIMIT} characters)`;
      const errors = [{ resource: 'IssueComment', code: 'unprocessable', field: 'data', message }];
      const documentation_url = 'https://docs.github.com/rest';
      return replyJson(422, { message: 'Validation Failed', errors, documentation_url, status: '422' });
    }
    const { status, headers, text } = await this.#ask(request.method, target, login, { body, request });
    return { status, headers, body: completeUsers(text) };
  }

  async close(): Promise<void> {
    await (await this.#emulator)?.close();
  }

  get #path(): string {
    return `/repos/${this.#owner}/${this.#name}`;
  }

  async #ask(method: string, target: string, login: string | null, { body, request }: EmulatorRequest = {}) {
    this.#emulator ??= this.#start();
    const { url } = await this.#emulator;
    const headers: Record<string, string> =
      login === null ? {} : { authorization: `Bearer ${createEmulatorToken(login)}` };
    for (const name of FORWARDED_HEADERS) {
      const value = request?.headers[name];
      if (value !== undefined) headers[name] = value;
    }
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    const local = url.replace('localhost', '127.0.0.1');
    const response = await fetch(`${local}${target}`, init);
    const withRealHosts = (text: string) =>
      text
        .replaceAll(url, API)
        .replaceAll(local, API)
        .replaceAll('"html_url":"https://api.github.com/', '"html_url":"https://github.com/');
    const kept: Record<string, string> = {};
    for (const name of ['content-type', 'link']) {
      const value = response.headers.get(name);
      if (value !== null) kept[name] = withRealHosts(value);
    }
    return { status: response.status, headers: kept, text: withRealHosts(await response.text()) };
  }

  #start(): Promise<Emulator> {
    const logins = [this.#owner, ...Object.values(LOGINS)];
    return createEmulator({
      service: 'github',
      port: 0,
      seed: {
        tokens: Object.fromEntries(logins.map((login) => [createEmulatorToken(login), { login }])),
        github: {
          users: logins.map((login) => ({ login })),
          repos: [{ owner: this.#owner, name: this.#name, default_branch: this.#branch, auto_init: true }],
        },
      },
    });
  }
}

/** Replaces the emulator's users by those of the other hosts: one login has one id everywhere. */
function completeUsers(json: string): string {
  if (json === '') return json;
  return JSON.stringify(JSON.parse(json), (_, value: unknown) => {
    const { login, followers_url } = (value ?? {}) as { login?: unknown; followers_url?: unknown };
    return typeof login === 'string' && followers_url !== undefined ? formatUser(login) : value;
  });
}

/** The emulator's token for a login; safe in a header. */
const createEmulatorToken = (login: string): string => `inner-${login.replace(/\W/g, '-')}`;

/** The real host measures characters; the emulator does not measure. */
function isTooLongComment(sent: string | undefined): boolean {
  if (sent === undefined || sent.length <= COMMENT_LIMIT) return false;
  const { body } = JSON.parse(sent) as { body?: unknown };
  return typeof body === 'string' && body.length > COMMENT_LIMIT;
}
