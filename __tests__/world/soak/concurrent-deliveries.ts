import type { Report, ReportDocument } from '../../../src/delivery/report.ts';
import type { TestRepository } from '../repository.ts';
import { runAction } from '../runner.ts';
import type { GitHubWorld } from '../world.ts';
import { formatSecondsSince, type LogProgress } from './load-report.ts';

const TIMEOUT_MS = 900_000;

/** One file to deliver. */
export interface LoadFile {
  readonly name: string;
  readonly bytes: Buffer;
  readonly inputs: Readonly<Record<string, string>>;
}

/** The result of one delivery. */
export interface LoadResult {
  readonly file: LoadFile;
  readonly report: Report | undefined;
  /** Peak memory of its process, where the system reports it. */
  readonly maxRssKb: number;
}

/** Delivers all files concurrently, each in a separate process, as separate jobs would. */
export async function deliverAtOnce(
  world: GitHubWorld,
  repository: TestRepository,
  files: readonly LoadFile[],
  say: LogProgress,
): Promise<LoadResult[]> {
  const startedAt = performance.now();
  const step = Math.ceil(files.length / 8);
  let done = 0;
  const deliver = async (file: LoadFile): Promise<LoadResult> => {
    const { name, bytes, inputs } = file;
    const { outputs, maxRssKb = 0 } = await runAction({
      world,
      repository,
      inputs: { file: name, 'poll-interval': '1', ...inputs },
      files: { [name]: bytes },
      timeoutMs: TIMEOUT_MS,
    });
    done += 1;
    if (done % step === 0)
      say(`${done} of ${files.length} deliveries done, ${formatSecondsSince(startedAt)}`);
    const { reports } = JSON.parse(outputs['report-json'] || '{"reports":[]}') as ReportDocument;
    const [report] = reports;
    return { file, report, maxRssKb };
  };
  return Promise.all(files.map(deliver));
}

/** Lists deliveries that are not ready, one sentence each. */
export function listNotReady(results: readonly LoadResult[]): string[] {
  return results
    .filter(({ report }) => report?.ready !== true)
    .map(({ file, report }) => `${file.name} is not ready: ${report?.lines.RESULT ?? 'no report'}`);
}

/** The peak memory of all processes. */
export function formatPeakMemory(results: readonly LoadResult[]): string {
  return `${Math.round(Math.max(...results.map(({ maxRssKb }) => maxRssKb)) / 1024)} MB at the most`;
}
