import { join } from 'node:path';
import { runAction } from '../__tests__/world/runner.ts';
import { startWorld } from '../__tests__/world/world.ts';
import { round } from './measure.ts';
import { writeSite } from './site.ts';

/** An audit of many folders. */
export interface AuditResult {
  readonly delivery: string;
  readonly seconds: number;
  /** Memory in MB. */
  readonly peak: number;
  /** Requests to the API. */
  readonly requests: number;
}

const FILES = 50;
const FOLDERS = [20, 200];
const API = /^\w+ https:\/\/api\.github\.com\//;

/** Measures audits of a few and of many folders, whose memory must be about the same, and prints a table. */
export async function measureAudits(): Promise<readonly AuditResult[]> {
  console.log('\n| Audit | Seconds | Peak, MB | API requests |\n| --- | ---: | ---: | ---: |');
  const results: AuditResult[] = [];
  for (const folders of FOLDERS) {
    const result = await measureAudit(folders);
    results.push(result);
    console.log(`| ${result.delivery} | ${result.seconds} | ${result.peak} | ${result.requests} |`);
  }
  return results;
}

async function measureAudit(folders: number): Promise<AuditResult> {
  const world = await startWorld();
  world.rateLimits.enforced = false;
  try {
    const workspace = join(world.folder, 'workspace');
    const names = Array.from({ length: folders }, (_, nth) => `out/${nth}/`);
    for (const name of names) await writeSite(join(workspace, name), { files: FILES, bytes: FILES * 2_000 });
    const repository = await world.repository({ owner: 'bench', name: 'audit', pages: { buildMs: 0 } });
    const run = async (inputs: Readonly<Record<string, string>>) => {
      world.traffic.clear();
      const given = { 'poll-interval': '0.1', ...inputs };
      const result = await runAction({ world, repository, workspace, inputs: given, timeoutMs: 900_000 });
      if (result.exitCode !== 0) throw new Error(`it failed:\n${result.stdout}`);
      return result;
    };
    await run({ file: names.join('\n'), channel: 'K1', path: 'previews/', nojekyll: 'true', screen: 'off' });
    const { durationMs, maxRssKb = Number.NaN } = await run({ operation: 'audit' });
    return {
      delivery: `${folders} folders of ${FILES} files`,
      seconds: round(durationMs / 1e3, 2),
      peak: round(maxRssKb / 1_024, 0),
      requests: world.traffic.exchanges(API).length,
    };
  } finally {
    await world.stop();
  }
}
