import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ManyFilesRow, measurePeer } from './many-files.ts';
import { measureDelivery, measureInWorld } from './measure-delivery.ts';

/** A folder to deliver as one site. */
export interface SampleSite {
  readonly files: number;
  /** Bytes of all files together, most of them random. */
  readonly bytes: number;
}

const PUSH = /^POST https:\/\/github\.com\/.*\/git-receive-pack$/;
const FOLDER = 'site/';

/** A step of a site's life, with the process's peak memory in MB. */
export interface SiteRow extends ManyFilesRow {
  readonly peak: number;
  /** Bytes that git sent. */
  readonly sent: number;
}

/**
 * Delivers a folder as one site, then again with one changed file, against the local GitHub of the tests. In the
 * same minute plain git publishes the same folder there, and curl fetches it back.
 */
export const measureSite = ({ files, bytes }: SampleSite): Promise<readonly SiteRow[]> =>
  measureInWorld(async (world, workspace) => {
    const folder = join(workspace, 'dist');
    await writeSite(folder, { files, bytes });
    const repository = await world.repository({ owner: 'bench', name: 'site', pages: { buildMs: 0 } });
    const run = async (step: string): Promise<SiteRow> => {
      const inputs = { file: 'dist', channel: 'K1', path: FOLDER };
      const cost = await measureDelivery({ world, repository, workspace, inputs });
      const sent = world.traffic.exchanges(PUSH).reduce((sum, { body }) => sum + body.size, 0);
      return { ...cost, step, peer: null, sent };
    };
    const peer = await measurePeer(world, folder);
    const name = `site of ${files.toLocaleString('en')} files, ${Math.round(bytes / 1e6)} MB`;
    const delivered = { ...(await run(name)), peer };
    await writeFile(join(folder, 'index.html'), PAGE.replace('first', 'second'));
    return [delivered, await run(`${name}, one of them changed`)];
  });

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
