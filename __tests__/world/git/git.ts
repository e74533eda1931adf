import { type ChildProcess, fork, spawn } from 'node:child_process';
import type { IncomingHttpHeaders } from 'node:http';
import { devNull } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type GitAnswer, type GitCommand, runGit } from './run-git.ts';

/** A git command that ended with another code than 0. */
export class GitError extends Error {
  readonly exitCode: number | null;

  constructor(args: readonly string[], exitCode: number | null, stderr: string) {
    super(`git ${args.join(' ')} ended with ${exitCode}: ${stderr.trim()}`);
    this.exitCode = exitCode;
  }
}

interface GitOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

/** Bytes of input above which a message to another process takes longer than a start. */
const LONGEST_MESSAGE = 1_048_576;

/** Runs a git command in a bare repository, free of the machine's own git settings. */
export async function execGit(
  directory: string,
  args: readonly string[],
  { input = '', env = {} }: GitOptions = {},
): Promise<Buffer> {
  const command = { args, env: { ...createGitEnvironment(directory), ...env }, input };
  const { stdout, stderr, exitCode, failure } = await (input.length > LONGEST_MESSAGE
    ? runGit({ ...command, id: 0 })
    : sendToRunner(command));
  if (failure !== '') throw new Error(`git was not started: ${failure}`);
  if (exitCode !== 0) throw new GitError(args, exitCode, stderr);
  return Buffer.from(stdout);
}

/** The process that runs git, and who waits for it. */
interface GitRunner {
  readonly child: ChildProcess;
  readonly waiting: Map<number, { resolve(answer: GitAnswer): void; reject(error: Error): void }>;
}

let runner: GitRunner | undefined;
let lastId = 0;

function sendToRunner(command: Omit<GitCommand, 'id'>): Promise<GitAnswer> {
  runner ??= startRunner();
  const { child, waiting } = runner;
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    child.channel?.ref();
    child.send({ ...command, id } satisfies GitCommand, (error) => error && reject(error));
  });
}

function startRunner(): GitRunner {
  const child = fork(join(import.meta.dirname, 'git-runner.ts'), [], {
    serialization: 'advanced',
    execArgv: ['--no-warnings'],
  });
  const waiting: GitRunner['waiting'] = new Map();
  // An idle runner keeps no process of tests alive.
  child.unref();
  child.channel?.unref();
  child.on('message', (answer: GitAnswer) => {
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
    if (waiting.size === 0) child.channel?.unref();
  });
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the process that runs git ended'));
  });
  return { child, waiting };
}

/** Ends the process that runs git; the next command starts another one. */
export function stopGitRunner(): void {
  runner?.child.disconnect();
  runner = undefined;
}

/** The bytes of a blob as a stream. */
export function streamGitBlob(directory: string, sha: string): Readable {
  return spawn('git', ['cat-file', 'blob', sha], {
    env: createGitEnvironment(directory),
    stdio: ['ignore', 'pipe', 'ignore'],
  }).stdout;
}

/** The environment of git: its path and this repository, nothing of the machine. */
export function createGitEnvironment(directory: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    GIT_DIR: directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    LC_ALL: 'C',
    TZ: 'UTC',
  };
}

/** An HTTP request for `git http-backend`. */
export interface BackendRequest {
  readonly method: string;
  /** Such as `/git-receive-pack`. */
  readonly service: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** The CGI variables of `git http-backend` for a repository. */
export function createBackendEnvironment(
  directory: string,
  { method, service, query, headers }: BackendRequest,
): Record<string, string> {
  return {
    ...createGitEnvironment(directory),
    GIT_PROJECT_ROOT: directory,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    PATH_INFO: service,
    REQUEST_METHOD: method,
    QUERY_STRING: query.toString(),
    CONTENT_TYPE: headers['content-type'] ?? '',
    CONTENT_LENGTH: headers['content-length'] ?? '',
    HTTP_CONTENT_ENCODING: String(headers['content-encoding'] ?? ''),
    REMOTE_USER: 'x-access-token',
  };
}
