import { poll } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { type Asset, listAssets, type Release } from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { SECOND } from '../../protocol/limits.ts';

/** Whether an upload is still running, or broke off. GitHub names `starter` and `open`; only `uploaded` is whole. */
export const isUnfinished = ({ state }: Pick<Asset, 'state'>): boolean => state !== 'uploaded';

/** The release that is listed again while an upload of another job is not finished. */
export interface ListedAssets {
  readonly github: GitHubClient;
  readonly release: Release;
  readonly tag: string;
  /** As they were listed last. */
  readonly assets: readonly Asset[];
}

/**
 * Waits until no asset blocks the way.
 *
 * @param findBlocking the unfinished uploads under the names that are needed
 * @returns the assets as they are then
 * @throws {DeliveryError} `CONFLICT` when the time is over. What another job uploads is never deleted.
 * @see design 4
 */
export type WaitForUpload = (
  listed: ListedAssets,
  findBlocking: (assets: readonly Asset[]) => readonly Asset[],
) => Promise<readonly Asset[]>;

/** Milliseconds between two requests, and for all waits of one step together. */
export interface UploadWaitLimits {
  readonly interval: number;
  readonly timeout: number;
}

/** Creates the wait for uploads of other jobs; all files of a step share its time. */
export function createUploadWait({ interval, timeout }: UploadWaitLimits, ports: Ports): WaitForUpload {
  const { clock, logger, signal } = ports;
  let left = timeout;
  return async (listed, findBlocking) => {
    const [blocking] = findBlocking(listed.assets);
    if (blocking === undefined) return listed.assets;
    const begun = clock.now();
    logger.info(`another job uploads ${blocking.name}: waiting for its end`);
    let isFirst = true;
    const probe = async (): Promise<readonly Asset[] | undefined> => {
      const assets = isFirst ? listed.assets : await listAssets(listed.github, listed.release);
      isFirst = false;
      return findBlocking(assets).length === 0 ? assets : undefined;
    };
    const found = await poll({ interval, deadline: begun + left, clock, signal }, probe);
    left = Math.max(left - (clock.now() - begun), 0);
    if (found !== undefined) return found;
    throw unfinishedError(blocking, listed.tag, timeout);
  };
}

function unfinishedError({ name }: Asset, tag: string, timeout: number): DeliveryError {
  const message = `an upload of ${name} to the release ${tag} has not ended within ${timeout / SECOND} s`;
  return new DeliveryError('CONFLICT', message, {
    hint: 'run the step again when the other job has ended; if no job uploads it any more, delete this unfinished asset on the page of the release, or set `path:` to another name',
  });
}
