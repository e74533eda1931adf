import { spawn } from 'node:child_process';
import { collectBytes } from '../server/messages.ts';

/** A command to run. */
export interface GitCommand {
  readonly id: number;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: string | Buffer;
}

/** How it ended. */
export interface GitAnswer {
  readonly id: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly exitCode: number | null;
  /** Why git was not started; empty where it was. */
  readonly failure: string;
}

/** Runs a command of git to its end. */
export async function runGit({ id, args, env, input }: GitCommand): Promise<GitAnswer> {
  const child = spawn('git', args, { env });
  // A command that ends without reading its input is judged by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  let failure = '';
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      failure = error.message;
      resolve(null);
    });
    child.once('close', resolve);
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    collectBytes(child.stdout),
    collectBytes(child.stderr),
    ended,
  ]);
  return { id, stdout, stderr: stderr.toString(), exitCode, failure };
}
