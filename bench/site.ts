import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runAction } from '../__tests__/world/runner.ts';
import { type GitHubWorld, startWorld } from '../__tests__/world/world.ts';
import { type ManyFilesRow, measurePeer } from './many-files.ts';

/** A folder to deliver as one site. */
export interface SampleSite {
  readonly files: number;
  /** Bytes of all files together, most of them random. */
  readonly bytes: number;
}

const API = /^\w+ https:\/\/api\.github\.com\//;
const PUSH = /^POST https:\/\/github\.com\/.*\/git-receive-pack$/;
const FOLDER = 'site/';

/** A step of a site's life, with the peak of the process's memory in MB. */
export interface SiteRow extends ManyFilesRow {
  readonly peak: number | null;
  /** Bytes that git sent. */
  readonly sent: number;
}

/**
 * Delivers a folder as one site, then again with one changed file, against the local GitHub of the tests. In the
 * same minute plain git publishes the same folder there, and curl fetches it back.
 */
export async function measureSite(sample: SampleSite): Promise<readonly SiteRow[]> {
  const world = await startWorld();
  // The requests are counted, not limited.
  world.rateLimits.enforced = false;
  const workspace = join(world.folder, 'workspace');
  try {
    await writeSite(join(workspace, 'dist'), sample);
    return await measureIn(world, workspace, sample);
  } finally {
    await rm(workspace, { recursive: true, force: true });
    await world.stop();
  }
}

async function measureIn(
  world: GitHubWorld,
  workspace: string,
  { files, bytes }: SampleSite,
): Promise<readonly SiteRow[]> {
  const repository = await world.repository({ owner: 'bench', name: 'site', pages: { buildMs: 0 } });
  const run = async (step: string): Promise<SiteRow> => {
    world.traffic.clear();
    const inputs = { file: 'dist', channel: 'K1', path: FOLDER, 'poll-interval': '0.1' };
    const result = await runAction({ world, repository, workspace, inputs, timeoutMs: 600_000 });
    if (result.exitCode !== 0) throw new Error(`${step} failed:\n${result.stdout}`);
    const requests = world.traffic.exchanges(API).length;
    const peak = result.maxRssKb === undefined ? null : result.maxRssKb / 1_024;
    const sent = world.traffic.exchanges(PUSH).reduce((sum, { body }) => sum + body.size, 0);
    return { step, seconds: result.durationMs / 1e3, requests, peer: null, peak, sent };
  };
  const peer = await measurePeer(world, join(workspace, 'dist'));
  const name = `site of ${files.toLocaleString('en')} files, ${Math.round(bytes / 1e6)} MB`;
  const delivered = { ...(await run(name)), peer };
  await writeFile(join(workspace, 'dist', 'index.html'), PAGE.replace('first', 'second'));
  return [delivered, await run(`${name}, one of them changed`)];
}

const PAGE = `<!doctype html><title>first</title>\n${'<p>A line of text.</p>\n'.repeat(60)}`;

/** Writes the files of a sample. */
export async function writeSite(folder: string, { files, bytes }: SampleSite): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'index.html'), PAGE);
  const size = Math.floor(bytes / files);
  for (let nth = 1; nth < files; nth += 1) {
    const isPage = nth % 5 === 0;
    await writeFile(
      join(folder, `file-${nth}.${isPage ? 'html' : 'bin'}`),
      isPage ? PAGE : randomBytes(size),
    );
  }
}
