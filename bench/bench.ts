import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAudits } from './audit.ts';
import { type BenchCase, formatCaseName, SIZES, selectCases } from './cases.ts';
import { runBundle, runCurl } from './clients.ts';
import { KILOBYTE, writeSampleFile } from './files.ts';
import { createGitTarget, measureManyFiles } from './many-files.ts';
import { measureRun, median, round } from './measure.ts';
import { measureInWorld } from './measure-delivery.ts';
import { comparePages } from './pages.ts';
import { runPlainGit } from './plain-git.ts';
import { measureScreen, type ScreenCost } from './screen.ts';
import { compareSites } from './site-table.ts';
import { compareVerify } from './verify.ts';

/**
 * Delivers files of many sizes with the built bundle, and each of them with curl in the same minute through the
 * same proxy. `git` compares K1 with plain git: one large file, and many small ones. `site` does so for a folder.
 * `verify` proves a folder that others deployed, beside curl. `pages` compares a whole site, and a preview on a live
 * site, with tar and curl. `audit` proves many folders again. `screen` measures what a look at a page costs. `start`
 * measures only the time to the first request.
 *
 *     npm run bench [-- [--quick] [--size '500 MB'] [start] [k1] [k2] [k3] [git] [site] [verify] [pages] [audit] [screen]]
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
  const onlySites = positionals.length > 0 && positionals.every((word) => SITES.includes(word));
  const start = peer || onlySites ? undefined : await measureStartUp(quick ? 5 : 15);
  if (start !== undefined) {
    console.log(`First request after ${start.firstRequest} ms; \`node -e 0\` takes ${start.emptyNode} ms.\n`);
  }
  const channels = positionals.filter((word) => !['start', 'git', 'screen', ...SITES].includes(word));
  const hasCases = positionals.length === 0 || channels.length > 0;
  const cases = hasCases ? selectCases({ channels, sizes, quick, peer }) : [];
  const results: CaseResult[] = [];
  if (cases.length > 0) {
    console.log('| Delivery | Seconds | curl | Ratio | Peak, MB |\n| --- | ---: | ---: | ---: | ---: |');
  }
  for (const one of cases) {
    const result = await runCase(one);
    results.push(result);
    const { seconds, curl, ratio, peak } = result;
    console.log(`| ${result.delivery} | ${seconds} | ${curl} | ${ratio} | ${peak} |`);
  }
  const git = whole || positionals.includes('git') ? await compareWithGit() : [];
  const sites = whole || positionals.includes('site') ? await compareSites() : [];
  const verify = whole || positionals.includes('verify') ? await compareVerify() : [];
  const pages = whole || positionals.includes('pages') ? await comparePages() : [];
  const audits = whole || positionals.includes('audit') ? await measureAudits() : [];
  if (whole) {
    const machine = { node: process.version, cpus: cpus().length };
    await saveResults({ ...machine, start, results, git, sites, verify, pages, audits, screen });
  }
}

/** Words for rows with folders. */
const SITES = ['site', 'verify', 'pages', 'audit'];

/** A row of the table: medians of the seconds and ratios, and the highest memory in MB. */
interface CaseResult {
  readonly delivery: string;
  readonly seconds: number;
  readonly curl: number;
  readonly ratio: number;
  readonly peak: number;
}

async function runCase(one: BenchCase): Promise<CaseResult> {
  const { size, content, repeats } = one;
  const turns: { readonly seconds: number; readonly curl: number; readonly peak: number }[] = [];
  for (let turn = 0; turn < repeats; turn += 1) {
    const measured = await measureInWorld(async (world, workspace) => {
      const file = await writeSample(workspace, SIZES[size], content);
      const { seconds: curl } = await runCurl(world, file);
      return { ...(await runBundle(world, one, file)), curl };
    });
    turns.push(measured);
  }
  return {
    delivery: formatCaseName(one),
    seconds: round(median(turns.map(({ seconds }) => seconds)), 2),
    curl: round(median(turns.map(({ curl }) => curl)), 2),
    // Both were measured in the same minute, because the speed of a shared machine changes.
    ratio: round(median(turns.map(({ seconds, curl }) => seconds / curl)), 2),
    peak: round(Math.max(...turns.map(({ peak }) => peak)), 0),
  };
}

async function writeSample(workspace: string, size: number, content: BenchCase['content']): Promise<string> {
  const file = join(workspace, `${content}.bin`);
  await mkdir(workspace);
  await writeSampleFile(file, size, content);
  return file;
}

/** K1 beside plain git. */
interface GitResult {
  readonly delivery: string;
  readonly seconds: number;
  /** Seconds of git, and for many files also of curl, which fetches them back; `null` without an equivalent. */
  readonly peer: number | null;
  readonly ratio: number | null;
  /** Requests to the API; `null` if they are not counted. */
  readonly requests: number | null;
}

const GIT_TURNS = 3;
const LARGE_FILE = 94 * 1_048_576;
const MANY_FILES = 500;

async function compareWithGit(): Promise<readonly GitResult[]> {
  const large = await compareLargeFile();
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
async function compareLargeFile(): Promise<GitResult> {
  const turns: { readonly seconds: number; readonly peer: number }[] = [];
  for (let turn = 0; turn < GIT_TURNS; turn += 1) {
    const measured = await measureInWorld(async (world, workspace) => {
      const file = await writeSample(workspace, LARGE_FILE, 'bytes');
      const { seconds: peer } = await runPlainGit(await createGitTarget(world), file, 'by-hand.bin');
      return { ...(await runBundle(world, { channel: 'k1' }, file)), peer };
    });
    turns.push(measured);
  }
  return {
    delivery: 'K1 94 MB',
    seconds: round(median(turns.map(({ seconds }) => seconds)), 2),
    peer: round(median(turns.map(({ peer }) => peer)), 2),
    ratio: round(median(turns.map(({ seconds, peer }) => seconds / peer)), 2),
    requests: null,
  };
}

interface StartUp {
  /** Milliseconds from the start of the process. */
  readonly firstRequest: number;
  /** Duration of `node -e 0` in milliseconds. */
  readonly emptyNode: number;
}

async function measureStartUp(turns: number): Promise<StartUp> {
  const [own, empty]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < turns; turn += 1) {
    await measureInWorld(async (world, workspace) => {
      const nothing = { program: process.execPath, args: ['-e', '0'], cwd: world.folder, env: {} };
      empty.push((await measureRun(nothing)).seconds * 1e3);
      const file = await writeSample(workspace, KILOBYTE, 'text');
      let [started, asked] = [Number.NaN, Number.NaN];
      world.proxy.chooseMode = () => {
        if (Number.isNaN(asked)) asked = performance.now();
        return 'through';
      };
      await runBundle(world, { channel: 'k2' }, file, () => {
        started = performance.now();
      });
      own.push(asked - started);
    });
  }
  return { firstRequest: Math.round(median(own)), emptyNode: Math.round(median(empty)) };
}

function saveResults(figures: object): Promise<void> {
  return writeFile(new URL('results.json', import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
}

await main();
