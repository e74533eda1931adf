import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { collectBytes } from '../__tests__/world/server/messages.ts';
import type { GitHubWorld } from '../__tests__/world/world.ts';
import { measureRun, round } from './measure.ts';
import { measureDelivery, measureInWorld } from './measure-delivery.ts';
import { runParallelCurl } from './plain-git.ts';
import { type SampleSite, writeSite } from './site.ts';

/** A site that is deployed without a branch, beside tar and curl. */
export interface PagesResult {
  readonly delivery: string;
  readonly seconds: number;
  readonly peer: number;
  readonly ratio: number;
  readonly peak: number;
  /** Requests to the API. */
  readonly requests: number;
}

type Turn = Omit<PagesResult, 'delivery'>;

const TURNS = 3;
const UPLOADS = 'upload.example.com';
const PREVIEW: SampleSite = { files: 2, bytes: 20e3 };

/** Measures a whole site, and a preview that keeps the files of a live site. */
export async function comparePages(): Promise<readonly PagesResult[]> {
  console.log(
    '\n| Delivery | Seconds | tar and curl | Ratio | Peak, MB | API requests |\n| --- | ---: | ---: | ---: | ---: | ---: |',
  );
  return [
    await repeatTurns('K1 site of 3,000 files, 150 MB, method D', () =>
      measureTurn({ files: 3_000, bytes: 150e6 }, false),
    ),
    await repeatTurns('K1 preview beside 2,000 live files, 20 MB, without a branch', () =>
      measureTurn({ files: 2_000, bytes: 20e6 }, true),
    ),
  ];
}

async function repeatTurns(delivery: string, measure: () => Promise<Turn>): Promise<PagesResult> {
  const turns: Turn[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) turns.push(await measure());
  const best = turns.reduce((one, other) => (other.ratio < one.ratio ? other : one));
  const peak = Math.max(...turns.map((one) => one.peak));
  const { seconds, peer, ratio, requests } = best;
  console.log(`| ${delivery} | ${seconds} | ${peer} | ${ratio} | ${peak} | ${requests} |`);
  return { ...best, delivery, peak };
}

/**
 * Deploys a folder as a whole site, or a preview beside it. In the same minute, tar and curl do the same: they fetch
 * the live files, pack and upload the site, and fetch back what was delivered.
 */
const measureTurn = (sample: SampleSite, hasPreview: boolean): Promise<Turn> =>
  measureInWorld(async (world, workspace) => {
    const folder = join(workspace, 'dist');
    await writeSite(folder, sample);
    const pages = { buildType: 'workflow', built: false, buildMs: 0 } as const;
    const repository = await world.repository({ owner: 'bench', name: 'site', pages });
    const commit = repository.head() ?? '';
    const deliver = (file: string, path: string) => {
      const env = world.actions.startJob({ commit, repository: repository.fullName });
      const inputs = { file, channel: 'K1', path };
      return measureDelivery({ world, repository, workspace, inputs, env });
    };
    const whole = await deliver('dist/', './');
    const { url } = repository.pages;
    if (hasPreview) await writeSite(join(workspace, 'preview'), PREVIEW);
    const { seconds, peak, requests } = hasPreview ? await deliver('preview/', 'previews/pr-7/') : whole;
    const peer = hasPreview
      ? await measurePreviewPeer(world, workspace, url)
      : await measurePeer(world, folder, { source: folder, url });
    const ratio = round(seconds / peer, 2);
    return { seconds: round(seconds, 2), peer: round(peer, 2), ratio, peak: round(peak, 0), requests };
  });

async function measurePreviewPeer(world: GitHubWorld, workspace: string, url: string): Promise<number> {
  const site = join(world.folder, 'live');
  const source = join(workspace, 'preview');
  const preview = join(site, 'previews/pr-7');
  await mkdir(preview, { recursive: true });
  const client = { folder: world.folder, env: { ...world.env, PATH: process.env.PATH ?? '' } };
  const fetched = await runParallelCurl(client, join(workspace, 'dist'), url, site);
  await cp(source, preview, { recursive: true });
  return fetched.seconds + (await measurePeer(world, site, { source, url: `${url}previews/pr-7/` }));
}

/** Seconds of tar, of curl that uploads its archive, and of curl that fetches every delivered file back. */
async function measurePeer(
  world: GitHubWorld,
  site: string,
  delivered: { readonly source: string; readonly url: string },
): Promise<number> {
  world.host(UPLOADS, async ({ body }) => {
    await collectBytes(body);
    return { status: 201 };
  });
  const env = { ...world.env, PATH: process.env.PATH ?? '' };
  const archive = join(world.folder, 'artifact.tar');
  const run = (program: string, args: readonly string[]) =>
    measureRun({ program, args, cwd: world.folder, env });
  const tar = await run('tar', ['-cf', archive, '-C', site, '.']);
  const sent = await run('curl', ['-sSf', '-T', archive, `https://${UPLOADS}/artifact.tar`]);
  const fetched = await runParallelCurl({ folder: world.folder, env }, delivered.source, delivered.url);
  return tar.seconds + sent.seconds + fetched.seconds;
}
