import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Milliseconds between two looks at a process's memory. */
const SAMPLE_MS = 5;

export interface LaunchOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
}

export interface RunMeasurement {
  /** When it was started, in nanoseconds of the system's monotonic clock. */
  readonly startedAt: bigint;
  readonly seconds: number;
  /** The most memory that the process itself held, its children not counted, in MB. */
  readonly peak: number;
  readonly output: string;
}

/**
 * Runs a program to its end. The kernel keeps the high-water mark of its memory: the last look tells it all
 * but for what it took in its last milliseconds.
 *
 * @throws {Error} with what it said, when it ends with another code than 0.
 */
export async function measureRun({ program, args, cwd, env }: LaunchOptions): Promise<RunMeasurement> {
  const startedAt = process.hrtime.bigint();
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  let peak = 0;
  const looks = setInterval(() => {
    peak = readPeakMemory(child.pid) ?? peak;
  }, SAMPLE_MS);
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (exitCode !== 0) throw new Error(`${program} ended with ${exitCode}:\n${output}`);
    return { startedAt, seconds: Number(process.hrtime.bigint() - startedAt) / 1e9, peak, output };
  } finally {
    clearInterval(looks);
  }
}

/** In MB; undefined once the process has let go of its memory. */
function readPeakMemory(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024;
  } catch {
    return undefined;
  }
}

/** The middle one of some figures. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
