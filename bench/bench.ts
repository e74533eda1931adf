import { rm, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAudits } from './audit.ts';
import { type BenchCase, formatCaseName, SIZES, selectCases } from './cases.ts';
import { runBundle, runCurl } from './clients.ts';
import { type BenchEnvironment, startBenchEnvironment } from './environment.ts';
import { writeSampleFile } from './files.ts';
import { OWNER, REPOSITORY } from './hosts/route.ts';
import { measureManyFiles } from './many-files.ts';
import { measureRun, median, round } from './measure.ts';
import { comparePages } from './pages.ts';
import { runPlainGit } from './plain-git.ts';
import { measureScreen, type ScreenCost } from './screen.ts';
import { compareSites } from './site-table.ts';
import { compareVerify } from './verify.ts';

/**
 * Delivers files of many sizes with the built bundle, and each of them with curl in the same minute through the
 * same proxy. `git` compares K1 with plain git: one large file, and many small ones. `site` does so for a folder.
 * `verify` proves a folder that others deployed, beside curl. `pages` compares a folder that is deployed without a
 * commit with tar and curl. `audit` proves many folders again. `screen` measures what a look at a page costs.
 *
 *     npm run bench [-- [--quick] [--size '500 MB'] [k1] [k2] [k3] [git] [site] [verify] [pages] [audit] [screen]]
 *     PEER_DIST=path/to/dist/index.js INPUT_FILES='{file}' npm run bench -- k2
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean' }, size: { type: 'string', multiple: true } },
  });
  const { quick = false, size: sizes = [] } = values;
  const peer = process.env.PEER_DIST !== undefined;
  const whole = positionals.length === 0 && sizes.length === 0 && !quick && !peer;
  const screen = whole || positionals.includes('screen') ? await compareScreen() : undefined;
  if (positionals.length === 1 && screen !== undefined) return;
  const environment = await startBenchEnvironment();
  try {
    const onlySites = positionals.length > 0 && positionals.every((word) => SITES.includes(word));
    const start = peer || onlySites ? undefined : await measureStartUp(environment, quick ? 5 : 15);
    if (start !== undefined) {
      console.log(
        `First request after ${start.firstRequest} ms; \`node -e 0\` takes ${start.emptyNode} ms.\n`,
      );
    }
    const channels = positionals.filter((word) => !['git', 'screen', ...SITES].includes(word));
    const onlyGit = positionals.length > 0 && channels.length === 0;
    const cases = onlyGit ? [] : selectCases({ channels, sizes, quick, peer });
    const results: CaseResult[] = [];
    if (cases.length > 0) {
      console.log('| Delivery | Seconds | curl | Ratio | Peak, MB |\n| --- | ---: | ---: | ---: | ---: |');
    }
    for (const one of cases) {
      const result = await runCase(environment, one);
      results.push(result);
      const { seconds, curl, ratio, peak } = result;
      console.log(`| ${result.delivery} | ${seconds} | ${curl} | ${ratio} | ${peak} |`);
    }
    const git = whole || positionals.includes('git') ? await compareWithGit(environment) : [];
    const sites = whole || positionals.includes('site') ? await compareSites() : [];
    const verify = whole || positionals.includes('verify') ? await compareVerify() : [];
    const pages = whole || positionals.includes('pages') ? await comparePages() : undefined;
    const audits = whole || positionals.includes('audit') ? await measureAudits() : [];
    if (whole) {
      const machine = { node: process.version, cpus: cpus().length };
      await saveResults({ ...machine, start, results, git, sites, verify, pages, audits, screen });
    }
  } finally {
    await environment.close();
  }
}

/** Words for rows with folders, which need no host of their own. */
const SITES = ['site', 'verify', 'pages', 'audit'];

/** One line of the table: medians of seconds and of the turns' ratios, and the highest memory in MB. */
interface CaseResult {
  readonly delivery: string;
  readonly seconds: number;
  readonly curl: number;
  readonly ratio: number;
  readonly peak: number;
}

async function runCase(environment: BenchEnvironment, one: BenchCase): Promise<CaseResult> {
  const { channel, size, content, repeats, cut = false } = one;
  const file = join(environment.folder, 'workspace', `${content}.bin`);
  await writeSampleFile(file, SIZES[size], content);
  const [own, curlSeconds, peaks]: [number[], number[], number[]] = [[], [], []];
  for (let turn = 0; turn < repeats; turn += 1) {
    curlSeconds.push((await runCurl(environment, file)).seconds);
    await environment.reset();
    if (cut) environment.cutAfter(SIZES[size] / 2);
    const { seconds, peak } = await runBundle(environment, channel, file);
    await environment.reset();
    own.push(seconds);
    peaks.push(peak);
  }
  await rm(file);
  return {
    delivery: formatCaseName(one),
    seconds: round(median(own), 2),
    curl: round(median(curlSeconds), 2),
    // Both were measured in the same minute, because the speed of a shared machine changes.
    ratio: round(median(own.map((seconds, turn) => seconds / (curlSeconds[turn] ?? Number.NaN))), 2),
    peak: round(Math.max(...peaks), 0),
  };
}

/** K1 beside plain git. */
interface GitResult {
  readonly delivery: string;
  readonly seconds: number;
  /** Seconds of git, and for many files of curl, which fetches them back; `null` where git has nothing like it. */
  readonly peer: number | null;
  readonly ratio: number | null;
  /** Requests to the API; `null` where they are not counted. */
  readonly requests: number | null;
}

const GIT_TURNS = 3;
const LARGE_FILE = 94 * 1_048_576;
const MANY_FILES = 500;

async function compareWithGit(environment: BenchEnvironment): Promise<readonly GitResult[]> {
  const large = await compareLargeFile(environment);
  const many = await measureManyFiles(MANY_FILES);
  const results = [
    large,
    ...many.map(({ step, seconds, requests, peer }) => ({
      delivery: `K1 ${step}`,
      seconds: round(seconds, 2),
      peer: peer === null ? null : round(peer, 2),
      ratio: peer === null ? null : round(seconds / peer, 2),
      requests,
    })),
  ];
  console.log('\n| Delivery | Seconds | git | Ratio | API requests |\n| --- | ---: | ---: | ---: | ---: |');
  for (const { delivery, seconds, peer, ratio, requests } of results) {
    console.log(`| ${delivery} | ${seconds} | ${peer ?? ''} | ${ratio ?? ''} | ${requests ?? ''} |`);
  }
  return results;
}

const SCREEN_TURNS = 5;

/** What a browser costs, in seconds. */
async function compareScreen(): Promise<ScreenCost> {
  const { start, page } = await measureScreen(SCREEN_TURNS);
  const cost = { start: round(start, 2), page: round(page, 2) };
  console.log(`A browser starts in ${cost.start} s, and looks at a page in ${cost.page} s.\n`);
  return cost;
}

/** Plain git does not fetch the file back; the delivery does. */
async function compareLargeFile(environment: BenchEnvironment): Promise<GitResult> {
  const file = join(environment.folder, 'workspace', 'large.bin');
  await writeSampleFile(file, LARGE_FILE, 'bytes');
  const target = {
    folder: join(environment.folder, 'temp'),
    remote: `https://github.com/${OWNER}/${REPOSITORY}.git`,
    env: environment.env,
  };
  const [own, git]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < GIT_TURNS; turn += 1) {
    await environment.reset();
    git.push((await runPlainGit(target, file, `by-hand-${turn}.bin`)).seconds);
    await environment.reset();
    own.push((await runBundle(environment, 'k1', file)).seconds);
  }
  await environment.reset();
  await rm(file);
  return {
    delivery: 'K1 94 MB',
    seconds: round(median(own), 2),
    peer: round(median(git), 2),
    ratio: round(median(own.map((seconds, turn) => seconds / (git[turn] ?? Number.NaN))), 2),
    requests: null,
  };
}

interface StartUp {
  /** Milliseconds from the start of the process. */
  readonly firstRequest: number;
  /** Duration of `node -e 0` in milliseconds. */
  readonly emptyNode: number;
}

async function measureStartUp(environment: BenchEnvironment, turns: number): Promise<StartUp> {
  const file = join(environment.folder, 'workspace', 'small.html');
  await writeFile(file, '<!doctype html><title>small</title>\n');
  const [own, empty]: [number[], number[]] = [[], []];
  const nothing = {
    program: process.execPath,
    args: ['-e', '0'],
    cwd: environment.folder,
    env: environment.env,
  };
  for (let turn = 0; turn < turns; turn += 1) {
    empty.push((await measureRun(nothing)).seconds * 1e3);
    await environment.reset();
    const { startedAt } = await runBundle(environment, 'k2', file);
    const first = environment.firstRequest();
    if (first === undefined) throw new Error('the delivery asked for nothing');
    own.push(Number(first - startedAt) / 1e6);
  }
  return { firstRequest: Math.round(median(own)), emptyNode: Math.round(median(empty)) };
}

function saveResults(figures: object): Promise<void> {
  return writeFile(new URL('results.json', import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
}

await main();
