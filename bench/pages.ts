import { join } from 'node:path';
import { collectBytes } from '../__tests__/world/server/messages.ts';
import type { GitHubWorld } from '../__tests__/world/world.ts';
import { measureRun, round } from './measure.ts';
import { measureDelivery, measureInWorld } from './measure-delivery.ts';
import { runParallelCurl } from './plain-git.ts';
import { type SampleSite, writeSite } from './site.ts';

/** A folder that is deployed without a commit, beside tar and curl. */
export interface PagesResult {
  readonly delivery: string;
  readonly seconds: number;
  readonly peer: number;
  readonly ratio: number;
  readonly peak: number;
  /** Requests to the API. */
  readonly requests: number;
}

const SAMPLE: SampleSite = { files: 3_000, bytes: 150e6 };
const TURNS = 3;
const UPLOADS = 'upload.example.com';

/** Deploys a folder as a whole site; tar and curl pack, upload and fetch back the same files in the same minute. */
export async function comparePages(): Promise<PagesResult> {
  const turns: Omit<PagesResult, 'delivery'>[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) turns.push(await measureTurn());
  const best = turns.reduce((one, other) => (other.ratio < one.ratio ? other : one));
  const { files, bytes } = SAMPLE;
  const peak = Math.max(...turns.map((one) => one.peak));
  const delivery = `K1 site of ${files.toLocaleString('en')} files, ${bytes / 1e6} MB, method D`;
  console.log(
    '\n| Delivery | Seconds | tar and curl | Ratio | Peak, MB | API requests |\n| --- | ---: | ---: | ---: | ---: | ---: |',
  );
  console.log(
    `| ${delivery} | ${best.seconds} | ${best.peer} | ${best.ratio} | ${peak} | ${best.requests} |`,
  );
  return { ...best, delivery, peak };
}

const measureTurn = (): Promise<Omit<PagesResult, 'delivery'>> =>
  measureInWorld(async (world, workspace) => {
    const folder = join(workspace, 'dist');
    await writeSite(folder, SAMPLE);
    const pages = { buildType: 'workflow', built: false, buildMs: 0 } as const;
    const repository = await world.repository({ owner: 'bench', name: 'site', pages });
    const commit = repository.head() ?? '';
    const env = world.actions.startJob({ commit, repository: repository.fullName });
    const inputs = { file: 'dist/', channel: 'K1', path: './' };
    const { seconds, peak, requests } = await measureDelivery({ world, repository, workspace, inputs, env });
    const peer = await measurePeer(world, folder, repository.pages.url);
    const ratio = round(seconds / peer, 2);
    return { seconds: round(seconds, 2), peer: round(peer, 2), ratio, peak: round(peak, 0), requests };
  });

/** Seconds of tar, of curl that uploads its archive, and of curl that fetches every file back. */
async function measurePeer(world: GitHubWorld, source: string, url: string): Promise<number> {
  world.host(UPLOADS, async ({ body }) => {
    await collectBytes(body);
    return { status: 201 };
  });
  const env = { ...world.env, PATH: process.env.PATH ?? '' };
  const archive = join(world.folder, 'artifact.tar');
  const run = (program: string, args: readonly string[]) =>
    measureRun({ program, args, cwd: world.folder, env });
  const tar = await run('tar', ['-cf', archive, '-C', source, '.']);
  const sent = await run('curl', ['-sSf', '-T', archive, `https://${UPLOADS}/artifact.tar`]);
  const fetched = await runParallelCurl({ folder: world.folder, env }, source, url);
  return tar.seconds + sent.seconds + fetched.seconds;
}
