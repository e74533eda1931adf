import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Milliseconds between two samples of a process's memory. */
const SAMPLE_MS = 5;

export interface LaunchOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
}

export interface RunMeasurement {
  /** Start time in nanoseconds of the monotonic clock. */
  readonly startedAt: bigint;
  readonly seconds: number;
  /** Peak memory of the process without its children, in MB. */
  readonly peak: number;
  readonly output: string;
}

/**
 * Runs a program to its end. The kernel keeps the peak memory: the last sample is complete
 * except for the last milliseconds.
 *
 * @throws {Error} with its output, when the exit code is not 0.
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

/** In MB; undefined after the process has ended. */
function readPeakMemory(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024;
  } catch {
    return undefined;
  }
}

/** The median. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A number with this many decimals. */
export const round = (figure: number, digits: number): number => Number(figure.toFixed(digits));
