import { hasFailed, type Result, resultOf } from '../../errors.ts';
import type { ItemResult } from '../../item-results.ts';
import type { Logger, Ports } from '../../ports.ts';
import { HOUR, MINUTE, WRITE_INTERVAL, WRITES_PER_HOUR } from '../../protocol/limits.ts';
import type { PreparedTask } from '../channel.ts';
import { type AssetResult, type AssetTask, ensureAsset, type ReleaseState } from './asset.ts';

type UploadResult = ItemResult<PreparedTask<AssetTask>, AssetResult>;

/** From this number of files on, the log says how long it takes and how far it is. */
const MANY_FILES = 10;
const LOG_EVERY = 25;

/**
 * Uploads files one after the other; the client keeps the pauses that GitHub asks for.
 *
 * @param stopsAtFailure whether nothing more is uploaded once a file has failed
 */
export async function uploadFiles(
  tasks: readonly PreparedTask<AssetTask>[],
  state: ReleaseState,
  { stopsAtFailure }: { readonly stopsAtFailure: boolean },
  ports: Ports,
): Promise<readonly UploadResult[]> {
  logEstimate(tasks.length, ports.logger);
  const results: UploadResult[] = [];
  for (const item of tasks) {
    const result: Result<AssetResult> = await resultOf(() => ensureAsset(item.data, state, ports));
    results.push({ item, result });
    const isShown = results.length % LOG_EVERY === 0 || results.length === tasks.length;
    if (isShown && tasks.length >= MANY_FILES)
      ports.logger.info(`${results.length} of ${tasks.length} assets`);
    if (hasFailed(result) && stopsAtFailure) break;
  }
  return results;
}

function logEstimate(count: number, logger: Pick<Logger, 'info'>): void {
  if (count < MANY_FILES) return;
  const minutes = Math.ceil(estimateUploadTime(count) / MINUTE);
  logger.info(`${count} assets: at least ${minutes} min, because GitHub limits how often a token may write`);
}

/**
 * The least time for the writes of a new release: a draft, its files, and its publishing. The draft and the first
 * upload start at once.
 *
 * @returns milliseconds
 */
export function estimateUploadTime(count: number): number {
  const hours = Math.floor(count / WRITES_PER_HOUR);
  return hours * HOUR + (count - hours * WRITES_PER_HOUR) * WRITE_INTERVAL;
}
