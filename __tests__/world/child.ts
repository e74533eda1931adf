import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';

const MEMORY_POLL_MS = 50;

export interface ChildResult {
  /** Null when it was ended by a signal. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  /** Peak memory, where the system reports it (Linux). */
  readonly maxRssKb?: number;
}

interface ChildOptions {
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Only ends a program that hangs, before Jest ends its test. */
  readonly timeoutMs?: number;
  /** Called with the process id as soon as the process runs. */
  readonly onStart?: ((pid: number) => void) | undefined;
}

/** Runs a program to its end; it is killed after the timeout, which is an error. */
export async function runChild(
  program: string,
  { args, cwd, env, timeoutMs = 170_000, onStart }: ChildOptions,
): Promise<ChildResult> {
  const start = performance.now();
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) onStart?.(child.pid);
  let stdout = '';
  let stderr = '';
  let maxRssKb: number | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const watch = setInterval(async () => {
    maxRssKb = (await readPeakMemory(child.pid)) ?? maxRssKb;
  }, MEMORY_POLL_MS);
  let timedOut = false;
  const killer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (timedOut) throw new Error(`Still running after ${timeoutMs} ms:\n${stdout}\n${stderr}`);
    const durationMs = performance.now() - start;
    return { exitCode, stdout, stderr, durationMs, ...(maxRssKb === undefined ? {} : { maxRssKb }) };
  } finally {
    clearInterval(watch);
    clearTimeout(killer);
  }
}

/** The kernel keeps the peak, so the last sample is nearly complete. */
async function readPeakMemory(pid: number | undefined): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes);
}
