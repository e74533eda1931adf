import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';

/** One run of the git that is installed on this machine. */
export interface GitRun {
  readonly args: readonly string[];
  /** The working folder. */
  readonly folder: string;
  /** All that git gets to see of the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string | Readable;
  /** Is shown what git says on its error stream, as it comes. */
  readonly listen?: ((text: string) => void) | undefined;
  readonly signal: AbortSignal;
}

export interface GitResult {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** Characters that are kept from either end of what git says. */
const BOUND = 16_384;

/** A runner's shells and git itself know process groups only here. */
const HAS_GROUPS = process.platform !== 'win32';

/**
 * Runs git to its end. Its output is bounded, its input streamed; an abort kills it with all its children.
 *
 * @throws the signal's reason, what reading the input threw, or the system's error where git can't be started.
 */
export async function runGit({ args, folder, env, input = '', listen, signal }: GitRun): Promise<GitResult> {
  signal.throwIfAborted();
  const child = spawn('git', args, { cwd: folder, env, detached: HAS_GROUPS, windowsHide: true });
  const kill = (): void => {
    if (child.pid === undefined) return;
    try {
      // The whole group: the helper that speaks https is a child of the child.
      if (HAS_GROUPS) process.kill(-child.pid, 'SIGKILL');
      else child.kill('SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  signal.addEventListener('abort', kill, { once: true });
  const out = readBounded(child.stdout);
  const err = readBounded(child.stderr, listen);
  const exitCode = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  try {
    const [code] = await Promise.all([
      exitCode,
      writeInput(input, child.stdin).catch((thrown: unknown) => {
        kill();
        throw thrown;
      }),
    ]);
    signal.throwIfAborted();
    return { exitCode: code, out: out(), err: err() };
  } catch (thrown) {
    // Nobody may write into a folder that is about to be removed.
    await exitCode.catch(() => undefined);
    signal.throwIfAborted();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

async function writeInput(input: string | Readable, stdin: Writable): Promise<void> {
  // A git that ends without reading its input is judged by its exit code.
  if (typeof input === 'string') {
    stdin.end(input);
    return finished(stdin).catch(() => undefined);
  }
  return pipeline(input, stdin).catch((thrown: unknown) => {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code !== 'EPIPE' && code !== 'ECONNRESET' && code !== 'ERR_STREAM_PREMATURE_CLOSE') throw thrown;
  });
}

/** Reads a stream to its end, and keeps its beginning and its end. */
function readBounded(stream: Readable, listen?: (text: string) => void): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    listen?.(chunk);
    text += chunk;
    if (text.length > 2 * BOUND) text = `${text.slice(0, BOUND)}\n${text.slice(1 - BOUND)}`;
  });
  return () => text;
}

/** Whether a git is installed here that takes its configuration from the environment. */
export async function hasGit(signal: AbortSignal): Promise<boolean> {
  const { PATH = '', SYSTEMROOT = '' } = process.env;
  try {
    const { out } = await runGit({ args: ['version'], folder: tmpdir(), env: { PATH, SYSTEMROOT }, signal });
    const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(out) ?? [];
    return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 31);
  } catch (thrown) {
    if (thrown instanceof Error && 'syscall' in thrown && String(thrown.syscall).startsWith('spawn')) {
      return false;
    }
    throw thrown;
  }
}
