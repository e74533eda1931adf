import { spawn } from 'node:child_process';
import type { IncomingHttpHeaders } from 'node:http';
import { devNull } from 'node:os';
import type { Readable } from 'node:stream';
import { collectBytes } from '../server/messages.ts';

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

/** Runs a git command in a bare repository, free of the machine's own git settings. */
export async function execGit(
  directory: string,
  args: readonly string[],
  { input = '', env = {} }: GitOptions = {},
): Promise<Buffer> {
  const child = spawn('git', args, { env: { ...createGitEnvironment(directory), ...env } });
  // A command that ends without reading its input is judged by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    collectBytes(child.stdout),
    collectBytes(child.stderr),
    ended,
  ]);
  if (exitCode !== 0) throw new GitError(args, exitCode, stderr.toString());
  return stdout;
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
