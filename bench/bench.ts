import { rm, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchCase, formatCaseName, SIZES, selectCases } from './cases.ts';
import { runBundle, runCurl } from './clients.ts';
import { type BenchEnvironment, startBenchEnvironment } from './environment.ts';
import { writeSampleFile } from './files.ts';
import { measureRun, median } from './measure.ts';

/**
 * Delivers files of many sizes with the built bundle, and each of them with curl in the same minute through the
 * same proxy.
 *
 *     npm run bench [-- [--quick] [--size '500 MB'] [k1] [k2] [k3]]
 *     PEER_DIST=path/to/dist/index.js INPUT_FILES='{file}' npm run bench -- k2
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean' }, size: { type: 'string', multiple: true } },
  });
  const { quick = false, size: sizes = [] } = values;
  const peer = process.env.PEER_DIST !== undefined;
  const environment = await startBenchEnvironment();
  try {
    const start = peer ? undefined : await measureStartUp(environment, quick ? 5 : 15);
    if (start !== undefined) {
      console.log(
        `First request after ${start.firstRequest} ms; \`node -e 0\` takes ${start.emptyNode} ms.\n`,
      );
    }
    console.log('| Delivery | Seconds | curl | Ratio | Peak, MB |\n| --- | ---: | ---: | ---: | ---: |');
    const results: CaseResult[] = [];
    for (const one of selectCases({ channels: positionals, sizes, quick, peer })) {
      const result = await runCase(environment, one);
      results.push(result);
      const { seconds, curl, ratio, peak } = result;
      console.log(`| ${result.delivery} | ${seconds} | ${curl} | ${ratio} | ${peak} |`);
    }
    const whole = positionals.length === 0 && sizes.length === 0 && !quick && !peer;
    if (whole) await saveResults({ node: process.version, cpus: cpus().length, start, results });
  } finally {
    await environment.close();
  }
}

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

const round = (figure: number, digits: number): number => Number(figure.toFixed(digits));

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
