import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FindRepository } from '../api/host.ts';
import { createRuleHook } from '../branch-rules.ts';
import { createBackendEnvironment } from '../git/backend-environment.ts';
import type { TestRepository } from '../repository.ts';
import {
  collectBytes,
  decodeComponent,
  type HostHandler,
  type HostRequest,
  replyText,
} from '../server/messages.ts';
import { hasPermission, type TokenStore } from '../tokens.ts';

const PATH = /^\/([^/]+)\/([^/]+?)(?:\.git)?(\/info\/refs|\/git-upload-pack|\/git-receive-pack)$/;

const CHALLENGE = { 'www-authenticate': 'Basic realm="GitHub"' };
export type GitServer = HostHandler;

/** Whether a request to github.com uses the git protocol. */
export function isGitRequest({ path }: HostRequest): boolean {
  return PATH.test(path);
}

/** Real git behind github.com: clone, fetch and push through `git http-backend`. */
export function createGitServer(find: FindRepository, tokens: TokenStore): GitServer {
  return async (request) => {
    const [, owner = '', name = '', service = ''] = PATH.exec(request.path) ?? [];
    const repository = find(decodeComponent(owner), decodeComponent(name));
    const pushes = service === '/git-receive-pack' || request.query.get('service') === 'git-receive-pack';
    const token = getToken(request);
    const permissions = token === null ? null : tokens.getPermissions(token);
    if (permissions === undefined) return replyText(401, 'Invalid username or token.\n', CHALLENGE);
    if (permissions === null && (pushes || repository?.isPrivate !== false)) {
      return replyText(401, 'No anonymous write access.\n', CHALLENGE);
    }
    if (repository === undefined) return replyText(404, 'Repository not found.\n');
    if (pushes && permissions !== null && !hasPermission(permissions.contents, 'write')) {
      const login = tokens.getLogin(token ?? '');
      return replyText(403, `Permission to ${repository.fullName}.git denied to ${login}.\n`);
    }
    if (service !== '/git-receive-pack') return runGitBackend(repository, service, request);
    return receivePack(repository, request, tokens.getLogin(token ?? ''));
  };
}

function getToken({ headers }: HostRequest): string | null {
  if (headers.authorization === undefined) return null;
  const [, encoded = ''] = /^basic (\S+)$/i.exec(headers.authorization) ?? [];
  const pair = Buffer.from(encoded, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

/** Handles a push: branches that moved start builds. */
async function receivePack(repository: TestRepository, request: HostRequest, login?: string) {
  return repository.runExclusively(async () => {
    await writeProtectionHook(repository);
    const before = repository.git.branches();
    try {
      const { body, ...reply } = await runGitBackend(repository, '/git-receive-pack', request);
      // The branches have moved only after the end of the report, which is small.
      return { ...reply, body: await collectBytes(body) };
    } finally {
      repository.git.readRefsFromDisk();
      for (const [branch, sha] of repository.git.branches()) {
        if (before.get(branch) !== sha) repository.site?.onPush(branch, sha, login);
      }
    }
  });
}

/** Writes the hook with which git refuses a push to a protected branch, with GitHub's lines. */
async function writeProtectionHook({ git, fullName, rule, signedCommits }: TestRepository): Promise<void> {
  const hooks = join(git.directory, 'hooks');
  await mkdir(hooks, { recursive: true });
  const rules = new Map(rule === null ? [] : [...git.branches().keys()].map((branch) => [branch, rule]));
  const hook = createRuleHook(fullName, rules, signedCommits);
  await writeFile(join(hooks, 'pre-receive'), hook, { mode: 0o755 });
}

async function runGitBackend(repository: TestRepository, service: string, request: HostRequest) {
  const { method, query, headers, body } = request;
  repository.git.writeToDisk();
  const child = spawn('git', ['http-backend'], {
    env: createBackendEnvironment(repository.git.directory, { method, service, query, headers }),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // A client that disconnects during a push ends the program too, which may not have read all.
  pipeline(body, child.stdin).catch(() => {});
  return parseCgiReply(child.stdout);
}

/** Parses the CGI headers of the program's output; the rest is streamed. */
async function parseCgiReply(
  output: Readable,
): Promise<{ status: number; headers: Record<string, string>; body: Readable }> {
  let seen: Buffer = Buffer.alloc(0);
  const chunks = output[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
  let end = -1;
  while (end === -1) {
    const { value, done } = await chunks.next();
    if (done === true) throw new Error(`git http-backend printed only: ${seen}`);
    seen = Buffer.concat([seen, value]);
    end = seen.indexOf('\r\n\r\n');
  }
  const lines = seen.subarray(0, end).toString().split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/, 2) as [string, string]));
  const { Status: status = '200', ...rest } = headers;
  const first = seen.subarray(end + 4);
  async function* all() {
    yield first;
    yield* chunks;
  }
  return {
    status: Number.parseInt(status, 10),
    headers: rest,
    body: Readable.from(all(), { objectMode: false }),
  };
}
