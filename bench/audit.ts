import { join } from 'node:path';
import { round } from './measure.ts';
import { measureDelivery, measureInWorld } from './measure-delivery.ts';
import { writeSite } from './site.ts';

/** Measures of an audit of many folders. */
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

const measureAudit = (folders: number): Promise<AuditResult> =>
  measureInWorld(async (world, workspace) => {
    const names = Array.from({ length: folders }, (_, nth) => `out/${nth}/`);
    for (const name of names) await writeSite(join(workspace, name), { files: FILES, bytes: FILES * 2_000 });
    const repository = await world.repository({ owner: 'bench', name: 'audit', pages: { buildMs: 0 } });
    const step = { world, repository, workspace };
    const file = names.join('\n');
    const inputs = { file, channel: 'K1', path: 'previews/', nojekyll: 'true', screen: 'off' };
    await measureDelivery({ ...step, inputs });
    const { seconds, peak, requests } = await measureDelivery({ ...step, inputs: { operation: 'audit' } });
    const delivery = `${folders} folders of ${FILES} files`;
    return { delivery, seconds: round(seconds, 2), peak: round(peak, 0), requests };
  });
