import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DeployedSite } from '../__tests__/world/hosts/deployed-site.ts';
import { writeFiles } from '../__tests__/world/runner.ts';
import { round } from './measure.ts';
import { measureDelivery, measureInWorld } from './measure-delivery.ts';
import { runParallelCurl } from './plain-git.ts';

/** A deployed folder, verified file by file, beside curl, which only fetches it. */
export interface VerifyResult {
  readonly delivery: string;
  readonly seconds: number;
  readonly curl: number;
  /** The smallest of the turns, because others may use the machine as well. */
  readonly ratio: number;
  /** The highest memory of a turn, in MB. */
  readonly peak: number;
  /** Requests for each file. */
  readonly requests: number;
}

const HOST = 'site.bench.dev';
const SITES = [
  { files: 500, size: 20_000 },
  { files: 3_000, size: 20_000 },
];
const TURNS = 3;

/** Measures K4 with folders, and prints a table. */
export async function compareVerify(): Promise<readonly VerifyResult[]> {
  console.log(
    '\n| Proof | Seconds | curl | Ratio | Peak, MB | Requests a file |\n| --- | ---: | ---: | ---: | ---: | ---: |',
  );
  const results: VerifyResult[] = [];
  for (const site of SITES) {
    const result = await measureVerify(site);
    results.push(result);
    const { delivery, seconds, curl, ratio, peak, requests } = result;
    console.log(`| ${delivery} | ${seconds} | ${curl} | ${ratio} | ${peak} | ${requests} |`);
  }
  return results;
}

const measureVerify = ({ files, size }: (typeof SITES)[number]): Promise<VerifyResult> =>
  measureInWorld(async (world, workspace) => {
    const repository = await world.repository({ owner: 'bench', name: 'verify' });
    const site: Record<string, Buffer | string> = { 'index.html': '<!doctype html><title>site</title>\n' };
    for (let nth = 1; nth < files; nth += 1) site[`file-${nth}.bin`] = randomBytes(size);
    const folder = join(workspace, 'dist');
    await writeFiles(folder, site);
    const host = new DeployedSite(site);
    world.host(HOST, host.answer);
    const turns: { seconds: number; curl: number; peak: number; requests: number }[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const env = { ...world.env, PATH: process.env.PATH ?? '' };
      const curl = await runParallelCurl({ folder: world.folder, env }, folder, `https://${HOST}/`);
      host.asked.length = 0;
      const inputs = { url: `https://${HOST}/`, file: 'dist', screen: 'off' };
      const cost = await measureDelivery({ world, repository, workspace, inputs });
      turns.push({ ...cost, curl: curl.seconds, requests: host.asked.length / files });
    }
    const least = (figure: (turn: (typeof turns)[number]) => number): number =>
      round(Math.min(...turns.map(figure)), 2);
    return {
      delivery: `K4 ${files.toLocaleString('en')} files of ${size / 1e3} KB`,
      seconds: least((one) => one.seconds),
      curl: least((one) => one.curl),
      ratio: least((one) => one.seconds / one.curl),
      peak: round(Math.max(...turns.map(({ peak }) => peak)), 0),
      requests: round(Math.max(...turns.map(({ requests }) => requests)), 2),
    };
  });
