import type { Report, ReportDocument } from '../../../src/delivery/report.ts';
import type { TestRepository } from '../repository.ts';
import { runAction } from '../runner.ts';
import type { GitHubWorld } from '../world.ts';

const TIMEOUT_MS = 900_000;
const API = /^\w+ https:\/\/(api|uploads)\.github\.com\//;

export interface LoadReport {
  readonly title: string;
  /** Rows of a label and a count. */
  readonly rows: readonly (readonly [what: string, count: string])[];
  /** All problems, one sentence each; empty after a good run. */
  readonly problems: readonly string[];
}

export interface LoadFile {
  readonly name: string;
  readonly bytes: Buffer;
  readonly inputs: Readonly<Record<string, string>>;
}

export interface LoadResult {
  readonly file: LoadFile;
  readonly report: Report | undefined;
  /** Peak memory of its process, where the system reports it. */
  readonly maxRssKb: number;
}

/** Delivers all files concurrently, each in a separate process, as separate jobs would. */
export function deliverAtOnce(
  world: GitHubWorld,
  repository: TestRepository,
  files: readonly LoadFile[],
): Promise<LoadResult[]> {
  const deliver = async (file: LoadFile): Promise<LoadResult> => {
    const { outputs, maxRssKb = 0 } = await runAction({
      world,
      repository,
      inputs: { file: file.name, 'poll-interval': '1', ...file.inputs },
      files: { [file.name]: file.bytes },
      timeoutMs: TIMEOUT_MS,
    });
    const { reports } = JSON.parse(outputs['report-json'] || '{"reports":[]}') as ReportDocument;
    return { file, report: reports[0], maxRssKb };
  };
  return Promise.all(files.map(deliver));
}

/** Adds the common rows of every load to a report. */
export function describeLoad(
  world: GitHubWorld,
  results: readonly LoadResult[],
  { title, lost, rows, problems }: LoadReport & { readonly lost: number },
): LoadReport {
  const refused = world.traffic
    .exchanges(/^(PUT|PATCH|POST) /)
    .filter(({ status }) => [409, 422].includes(status ?? 0));
  const unready = results.filter(({ report }) => report?.ready !== true);
  return {
    title,
    rows: [
      ['files landed', `${results.length - lost}, lost ${lost}`],
      ...rows,
      ['conflicts', `${refused.length} refused`],
      ['API calls', formatApiCalls(world, results.length)],
      [
        'memory',
        `${Math.round(Math.max(...results.map(({ maxRssKb }) => maxRssKb)) / 1024)} MB at the most, of one process`,
      ],
    ],
    problems: [
      ...problems,
      ...unready.map(
        ({ file, report }) => `${file.name} is not ready: ${report?.lines.RESULT ?? 'no report'}`,
      ),
    ],
  };
}

/** The calls to the API and its upload host, in total and per delivery. */
export function formatApiCalls({ traffic }: GitHubWorld, deliveries: number): string {
  const calls = traffic.exchanges(API).length;
  return `${calls}, ${(calls / deliveries).toFixed(1)} a delivery`;
}
