import { createEmulator, type Emulator } from 'emulate';
import { collect, type Incoming, json, type Reply } from './front/http.ts';

const API = 'https://api.github.com';
const OWNER_TOKEN = 'inner-owner';
const WORKFLOW_TOKEN = 'inner-workflow';
/** Who speaks when a workflow uses its `GITHUB_TOKEN`. */
const WORKFLOW_USER = 'github-actions[bot]';
const COMMENT_LIMIT = 65_536;
const PASSED_ON = ['accept', 'content-type', 'user-agent'] as const;

/**
 * Issues, pull requests and their comments of one repository, played by `emulate`.
 * Everything about files is played by git, so the emulator knows the repository's name and little else.
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

  /** Opens a pull request as the repository's owner; answers its number. */
  async openPullRequest(title: string, head: string): Promise<number> {
    const path = `/repos/${this.#owner}/${this.#name}/pulls`;
    const body = JSON.stringify({ title, head, base: this.#branch });
    const { status, text } = await this.#ask('POST', path, OWNER_TOKEN, body);
    if (status !== 201) throw new Error(`No pull request: ${status} ${text}`);
    return (JSON.parse(text) as { number: number }).number;
  }

  /** The comments of an issue or pull request. */
  async comments(number: number): Promise<{ id: number; body: string; user: { login: string } }[]> {
    const path = `/repos/${this.#owner}/${this.#name}/issues/${number}/comments?per_page=100`;
    return JSON.parse((await this.#ask('GET', path, OWNER_TOKEN)).text);
  }

  /** Somebody else's comment: the owner's. */
  async comment(number: number, body: string): Promise<void> {
    const path = `/repos/${this.#owner}/${this.#name}/issues/${number}/comments`;
    await this.#ask('POST', path, OWNER_TOKEN, JSON.stringify({ body }));
  }

  /** Answers an API request whose credentials have been checked already. */
  async handle(request: Incoming): Promise<Reply> {
    const target = request.url.slice(request.url.indexOf('/', 'https://'.length));
    const body = request.method === 'GET' ? undefined : (await collect(request.body)).toString();
    if (isTooLong(body)) {
      const message = `Body is too long (maximum is ${COMMENT_LIMIT} characters)`;
      return json(422, { message, documentation_url: 'https://docs.github.com/rest', status: '422' });
    }
    const { status, headers, text } = await this.#ask(request.method, target, WORKFLOW_TOKEN, body, request);
    return { status, headers, body: text };
  }

  async close(): Promise<void> {
    await (await this.#emulator)?.close();
  }

  async #ask(method: string, target: string, token: string, body?: string, request?: Incoming) {
    this.#emulator ??= this.#start();
    const { url } = await this.#emulator;
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    for (const name of PASSED_ON) {
      const value = request?.headers[name];
      if (value !== undefined) headers[name] = value;
    }
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    const response = await fetch(`${url.replace('localhost', '127.0.0.1')}${target}`, init);
    const ours = (text: string) =>
      text
        .replaceAll(url, API)
        .replaceAll('"html_url":"https://api.github.com/', '"html_url":"https://github.com/');
    const kept: Record<string, string> = {};
    for (const name of ['content-type', 'link']) {
      const value = response.headers.get(name);
      if (value !== null) kept[name] = ours(value);
    }
    return { status: response.status, headers: kept, text: ours(await response.text()) };
  }

  #start(): Promise<Emulator> {
    return createEmulator({
      service: 'github',
      port: 0,
      seed: {
        tokens: { [OWNER_TOKEN]: { login: this.#owner }, [WORKFLOW_TOKEN]: { login: WORKFLOW_USER } },
        github: {
          users: [{ login: this.#owner }, { login: WORKFLOW_USER }],
          repos: [{ owner: this.#owner, name: this.#name, default_branch: this.#branch, auto_init: true }],
        },
      },
    });
  }
}

/** The real host measures characters; the emulator does not measure. */
function isTooLong(sent: string | undefined): boolean {
  if (sent === undefined || sent.length <= COMMENT_LIMIT) return false;
  const { body } = JSON.parse(sent) as { body?: unknown };
  return typeof body === 'string' && body.length > COMMENT_LIMIT;
}
