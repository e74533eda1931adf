import { setTimeout as sleep } from 'node:timers/promises';
import { TRAILER } from '../../../src/protocol/words.ts';
import type { CommitSummary, TestRepository } from '../repository.ts';
import type { GitHubWorld } from '../world.ts';
import { deliverAtOnce, describeLoad, type LoadFile, type LoadReport, type LoadResult } from './load.ts';

const MEGABYTE = 1_048_576;
const FOLDER = 'load/';
/** From this number of deliveries two of the files need a git push. */
const MANY = 32;
const PAUSE_MS = 700;
/** Requests that move a branch: the contents API, the git data API, and a git push. */
const ATTEMPTS = {
  PUT: /^PUT .*\/contents\//,
  PATCH: /^PATCH .*\/git\/refs\//,
  push: /^GET .*\/info\/refs\?service=git-receive-pack/,
} as const;

/** Many concurrent deliveries into one branch to which other authors commit as well. */
export async function loadBranch(world: GitHubWorld, deliverers: number): Promise<LoadReport> {
  const repository = await world.repository({
    owner: 'octo',
    name: `soak-branch-${deliverers}`,
    writeMs: 20,
  });
  let isOver = false;
  const others = commitMeanwhile(repository, Math.ceil(deliverers / 2), () => isOver);
  const files = Array.from({ length: deliverers }, (_, at) => createLoadFile(at, deliverers));
  const results = await deliverAtOnce(world, repository, files);
  isOver = true;
  const theirs = await others;

  const log = repository.log();
  const lost = results
    .map((result) => listFlaws(result, log, repository))
    .filter((flaws) => flaws.length > 0);
  const theirLosses = [
    ...theirs.commits
      .filter((one) => log.every(({ sha }) => sha !== one))
      .map((one) => `their commit ${one} is lost`),
    ...[...theirs.files]
      .filter(([path, text]) => (repository.read(path)?.toString() ?? null) !== text)
      .map(([path]) => `their file ${path} is not as they left it`),
  ];
  const attempts = Object.entries(ATTEMPTS).map(
    ([name, pattern]) => [name, world.traffic.exchanges(pattern).length] as const,
  );
  const sum = attempts.reduce((all, [, count]) => all + count, 0);
  return describeLoad(world, results, {
    title: `K1: ${deliverers} deliverers at once into one branch`,
    lost: lost.length,
    rows: [
      ['others’ commits', `${theirs.commits.length}, losses ${theirLosses.length}`],
      ['attempts', `${sum}: ${attempts.map(([name, count]) => `${count} ${name}`).join(', ')}`],
    ],
    problems: [
      ...lost.flat(),
      ...theirLosses,
      ...repository.merges().map((sha) => `the history is not linear at ${sha}`),
    ],
  });
}

/** Other authors add, change and delete their own files. */
async function commitMeanwhile(repository: TestRepository, most: number, isOver: () => boolean) {
  const commits: string[] = [];
  const files = new Map<string, string | null>();
  for (let at = 0; !isOver() && commits.length < most; at += 1) {
    const path = `theirs/note-${at % 5}.txt`;
    const text = at % 7 === 6 ? null : `note ${at}\n`;
    if (text !== null || files.get(path) !== null) {
      commits.push(await repository.commit(path, text));
      files.set(path, text);
    }
    await sleep(PAUSE_MS);
  }
  return { commits, files };
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

/** Checks that a file is stored as it was sent, in exactly one commit of its own. */
function listFlaws(
  { file: { name, bytes, inputs }, report }: LoadResult,
  log: readonly CommitSummary[],
  repository: TestRepository,
): string[] {
  const path = FOLDER + name;
  const commits = log.filter(({ files }) => files.includes(path));
  const existing = repository.read(path);
  const flaws = [
    existing === null && `${path} is not there`,
    existing !== null && !existing.equals(bytes) && `${path} holds other bytes`,
    commits.length > 1 && `${path} was committed ${commits.length} times`,
    commits.some(({ files }) => files.length > 1) && `the commit of ${path} touches other files`,
    commits.some(({ message }) => !message.startsWith(`ADD ${name}: ${inputs.message}\n\n${TRAILER}\n`)) &&
      `the commit of ${path} has another message`,
    commits[0]?.sha !== report?.commitSha && `the report on ${path} names another commit`,
  ];
  return flaws.filter((flaw) => flaw !== false);
}
