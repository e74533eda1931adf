import { TRAILER } from '../../../src/protocol/words.ts';
import type { CommitSummary, TestRepository } from '../repository.ts';
import type { GitHubWorld } from '../world.ts';
import { countAttempts, countRefusals, formatApiCalls } from './api-calls.ts';
import {
  deliverAtOnce,
  formatPeakMemory,
  type LoadFile,
  type LoadResult,
  listNotReady,
} from './concurrent-deliveries.ts';
import { formatSecondsSince, type LoadReport, type LogProgress } from './load-report.ts';
import { startOtherAuthors } from './other-authors.ts';

const MEGABYTE = 1_048_576;
/** Larger files need a git push. */
const LARGEST_BLOB = 35 * MEGABYTE;
const FOLDER = 'load/';
/** From this number of deliveries two of the files need a git push. */
const MANY = 32;

/** Many concurrent deliveries into one branch to which other authors commit as well. */
export async function loadBranch(
  world: GitHubWorld,
  deliverers: number,
  say: LogProgress,
): Promise<LoadReport> {
  const repository = await world.repository({
    owner: 'octo',
    name: `soak-branch-${deliverers}`,
    writeMs: 20,
  });
  world.traffic.clear();
  const startedAt = performance.now();
  const others = startOtherAuthors(repository, Math.ceil(deliverers / 2));
  const files = Array.from({ length: deliverers }, (_, at) => createLoadFile(at, deliverers));
  const results = await deliverAtOnce(world, repository, files, say);
  await others.stop();
  const time = formatSecondsSince(startedAt);

  const log = await repository.log();
  const lost = (await Promise.all(results.map((result) => listLosses(result, log, repository)))).flat();
  const theirs = await others.listLosses(log);
  const forks = (await repository.merges()).map((sha) => `the history is not linear at ${sha}`);
  const { PUT, PATCH, push } = countAttempts(world);
  const lostNames = new Set(lost.map(({ name }) => name));
  const gone = lostNames.size;
  const pushed = files.filter(
    ({ name, bytes }) => bytes.length > LARGEST_BLOB && !lostNames.has(name),
  ).length;
  return {
    title: `K1: ${deliverers} deliverers at once into one branch`,
    rows: [
      ['files landed', `${deliverers - gone}, lost ${gone}`],
      ['others’ commits', `${others.commits}, losses ${theirs.length}`],
      ['attempts', `${PUT + PATCH + push}: ${PUT} PUT, ${PATCH} PATCH, ${push} push`],
      ['conflicts', `${countRefusals(world, /^(PUT|PATCH) /)} refused, ${push - pushed} pushes repeated`],
      ['API calls', formatApiCalls(world, deliverers)],
      ['memory', `${formatPeakMemory(results)}, of one process`],
      ['time', time],
    ],
    problems: [...lost.map(({ why }) => why), ...theirs, ...listNotReady(results), ...forks],
  };
}

/** Mostly small pages; every eighth file needs the object API, and two of many need a git push. */
function createLoadFile(at: number, deliverers: number): LoadFile {
  const number = String(at + 1).padStart(2, '0');
  const size = deliverers >= MANY && at < 2 ? 36 * MEGABYTE : at % 8 === 2 ? 1.2 * MEGABYTE : 0;
  const page = `<!doctype html>\n<title>Page ${number}</title>\n<p>Page ${number} of ${deliverers}</p>\n`;
  const bytes = Buffer.alloc(Math.max(Math.ceil(size), page.length));
  bytes.write(page);
  const name = size === 0 ? `page-${number}.html` : `data-${number}.bin`;
  return { name, bytes, inputs: { channel: 'K1', path: FOLDER, message: `file ${number} of the load` } };
}

interface LostFile {
  readonly name: string;
  readonly why: string;
}

/** Checks that a file is stored as it was sent, in exactly one commit of its own. */
async function listLosses(
  { file: { name, bytes, inputs }, report }: LoadResult,
  log: readonly CommitSummary[],
  repository: TestRepository,
): Promise<LostFile[]> {
  const path = FOLDER + name;
  const commits = log.filter(({ files }) => files.includes(path));
  const existing = await repository.read(path);
  const whys = [
    existing === null && `${path} is not there`,
    existing !== null && !existing.equals(bytes) && `${path} holds other bytes`,
    commits.length > 1 && `${path} was committed ${commits.length} times`,
    commits.some(({ files }) => files.length > 1) && `the commit of ${path} touches other files`,
    commits.some(({ message }) => !message.startsWith(`ADD ${name}: ${inputs.message}\n\n${TRAILER}\n`)) &&
      `the commit of ${path} has another message`,
    commits[0]?.sha !== report?.commitSha && `the report on ${path} names another commit`,
  ];
  return whys.filter((why) => why !== false).map((why) => ({ name, why }));
}
