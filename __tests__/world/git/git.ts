import { spawn } from 'node:child_process';
import { devNull } from 'node:os';
import type { Readable } from 'node:stream';
import { collect } from '../front/http.ts';

/** A git command that ended with another code than 0. */
export class GitError extends Error {
  readonly exitCode: number | null;

  constructor(args: readonly string[], exitCode: number | null, stderr: string) {
    super(`git ${args.join(' ')} ended with ${exitCode}: ${stderr.trim()}`);
    this.exitCode = exitCode;
  }
}

interface Options {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a git command in a bare repository, free of the machine's own git settings. */
export async function git(
  directory: string,
  args: readonly string[],
  { input = '', env = {} }: Options = {},
): Promise<Buffer> {
  const child = spawn('git', args, { env: { ...cleanEnvironment(directory), ...env } });
  // A command that ends without reading its input is judged by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [stdout, stderr, exitCode] = await Promise.all([collect(child.stdout), collect(child.stderr), ended]);
  if (exitCode !== 0) throw new GitError(args, exitCode, stderr.toString());
  return stdout;
}

/** The bytes of a blob as a stream. */
export function blobStream(directory: string, sha: string): Readable {
  return spawn('git', ['cat-file', 'blob', sha], {
    env: cleanEnvironment(directory),
    stdio: ['ignore', 'pipe', 'ignore'],
  }).stdout;
}

/** What git may know of its surroundings: the path to itself and this repository. */
export function cleanEnvironment(directory: string): Record<string, string> {
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
