import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestRepository } from '../__tests__/world/repository.ts';
import { writeFiles } from '../__tests__/world/runner.ts';
import type { GitHubWorld } from '../__tests__/world/world.ts';
import { measureDelivery, measureInWorld } from './measure-delivery.ts';
import { type GitTarget, runParallelCurl, runPlainGit } from './plain-git.ts';

/** One step of the life of many files. */
export interface ManyFilesRow {
  readonly step: string;
  readonly seconds: number;
  /** Requests to the API. */
  readonly requests: number;
  /** Seconds of plain git, and of curl for the verification; `null` without an equivalent. */
  readonly peer: number | null;
}

const FOLDER = 'reports/';

/**
 * Delivers many small files, delivers them again, and withdraws them, against the local GitHub of the tests. In
 * the same minute plain git publishes the same files there, and curl fetches them back.
 */
export const measureManyFiles = (count: number): Promise<readonly ManyFilesRow[]> =>
  measureInWorld(async (world, workspace) => {
    const repository = await world.repository({ owner: 'bench', name: 'many', pages: { buildMs: 0 } });
    await writeFiles(workspace, createFiles(count));
    const run = async (step: string, given: Record<string, string>): Promise<ManyFilesRow> => {
      const inputs = { channel: 'K1', path: FOLDER, ...given };
      return { ...(await measureDelivery({ world, repository, workspace, inputs })), step, peer: null };
    };
    const peer = await measurePeer(world, join(workspace, 'out'));
    const file = 'out/*.html';
    return [
      { ...(await run(`${count} files, delivered`, { file })), peer },
      await run('the same again', { file }),
      await run('withdrawn', { operation: 'withdraw' }),
    ];
  });

/** A repository of its own for plain git. */
export async function createGitTarget(
  world: GitHubWorld,
): Promise<GitTarget & { readonly repository: TestRepository }> {
  const repository = await world.repository({ owner: 'bench', name: 'peer', pages: { buildMs: 0 } });
  const folder = join(world.folder, 'peer');
  await mkdir(folder);
  return {
    repository,
    folder,
    remote: `https://github.com/${repository.fullName}.git`,
    credentials: `x-access-token:${world.token()}`,
    env: { ...world.env, PATH: process.env.PATH ?? '' },
  };
}

/** Seconds that plain git and curl need together for the same folder. */
export async function measurePeer(world: GitHubWorld, source: string): Promise<number> {
  const target = await createGitTarget(world);
  const git = await runPlainGit(target, source, FOLDER.slice(0, -1));
  const { pages } = target.repository;
  await pages.whenBuilt();
  const curl = await runParallelCurl(target, source, `${pages.url}${FOLDER}`);
  return git.seconds + curl.seconds;
}

function createFiles(count: number): Record<string, string> {
  const names = Array.from({ length: count }, (_, nth) => `page-${nth}`);
  return Object.fromEntries(
    names.map((name) => [
      `out/${name}.html`,
      `<!doctype html><title>${name}</title>\n${`<p>A line of ${name}.</p>\n`.repeat(60)}`,
    ]),
  );
}
