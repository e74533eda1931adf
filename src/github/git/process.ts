import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { transferTime } from '../../http/send-request.ts';
import type { Ports } from '../../ports.ts';
import { HAS_GROUPS, killGroup, whenStarted } from '../../system.ts';

export interface GitOptions {
  readonly args: readonly string[];
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: Readable;
  readonly onOutput?: ((text: string) => void) | undefined;
  /** Bytes that git reads or sends; more bytes allow more time. */
  readonly size?: number;
}

export type GitPorts = Pick<Ports, 'clock' | 'signal' | 'env' | 'tempFolder'>;

export type GitResult = Awaited<ReturnType<typeof runGit>>;

const OUTPUT_LIMIT = 65_536;

/** Runs git with limited output and time. An abort or timeout kills git and its children, and is thrown. */
export async function runGit(options: GitOptions, ports: Pick<Ports, 'clock' | 'signal'>) {
  const { args, folder, env, input = Readable.from([]), onOutput, size } = options;
  const signal = AbortSignal.any([ports.signal, ports.clock.timeout(transferTime(size))]);
  signal.throwIfAborted();
  const spawnOptions = { cwd: folder, env, detached: HAS_GROUPS, windowsHide: true };
  const child = await whenStarted(spawn('git', args, spawnOptions));
  const kill = (): void => killGroup(child);
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const getOut = keepEnd(child.stdout);
  const getErr = keepEnd(child.stderr, onOutput);
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  try {
    const written = pipeline(input, child.stdin).catch((thrown: NodeJS.ErrnoException) => {
      // If git ends without reading all its input, its exit code decides.
      if (BROKEN_PIPE.test(thrown.code ?? '')) return;
      kill();
      throw thrown;
    });
    const [exitCode] = await Promise.all([closed, written]);
    signal.throwIfAborted();
    return { exitCode, out: getOut(), err: getErr() };
  } catch (thrown) {
    // The caller removes the folder next, so git must not write any more.
    await closed;
    signal.throwIfAborted();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

const BROKEN_PIPE = /^(?:EPIPE|ECONNRESET|ERR_STREAM_PREMATURE_CLOSE)$/;

function keepEnd(stream: Readable, onOutput?: (text: string) => void): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    onOutput?.(chunk);
    text = (text + chunk).slice(-OUTPUT_LIMIT);
  });
  return () => text;
}

/** Whether git is installed and reads settings from its environment (2.31 or later). */
export async function hasGit(ports: GitPorts): Promise<boolean> {
  const { PATH = '', SYSTEMROOT = '' } = ports.env;
  try {
    const options = { args: ['version'], folder: ports.tempFolder, env: { PATH, SYSTEMROOT } };
    const { out } = await runGit(options, ports);
    const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(out) ?? [];
    return Number(major) * 1_000 + Number(minor) >= 2_031;
  } catch {
    ports.signal.throwIfAborted();
    return false;
  }
}
