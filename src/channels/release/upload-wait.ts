import { poll } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import { type Asset, isUnfinished } from '../../github/api/releases.ts';
import type { Ports } from '../../ports.ts';
import { SECOND } from '../../protocol/limits.ts';

/** The names that an upload needs, in a release that is listed again while another job uploads to one of them. */
interface NeededNames {
  /** As they were listed last. */
  readonly assets: readonly Asset[];
  readonly names: readonly string[];
  readonly tag: string;
  readonly list: () => Promise<readonly Asset[]>;
}

/**
 * Waits until no unfinished upload has one of the names.
 *
 * @returns the assets as they are then
 * @throws {DeliveryError} `CONFLICT` when the time is over. What another job uploads is never deleted.
 * @see design 4
 */
export type WaitForUpload = (needed: NeededNames) => Promise<readonly Asset[]>;

/**
 * Creates the wait for uploads of other jobs; all files of a step share its time.
 *
 * @param interval milliseconds between two requests
 * @param timeout milliseconds for all waits together
 */
export function createUploadWait(interval: number, timeout: number, ports: Ports): WaitForUpload {
  const { clock, logger, signal } = ports;
  let left = timeout;
  return async ({ assets, names, tag, list }) => {
    const findBlocking = (all: readonly Asset[]): Asset | undefined =>
      all.find((asset) => isUnfinished(asset) && names.includes(asset.name));
    const blocking = findBlocking(assets);
    if (blocking === undefined) return assets;
    logger.info(`another job uploads ${blocking.name}: waiting for its end`);
    const begun = clock.now();
    const found = await poll({ interval, deadline: begun + left, clock, signal }, async () => {
      const all = await list();
      return findBlocking(all) === undefined ? all : undefined;
    });
    left = Math.max(left - (clock.now() - begun), 0);
    if (found !== undefined) return found;
    throw unfinishedError(blocking, tag, timeout);
  };
}

function unfinishedError({ name }: Asset, tag: string, timeout: number): DeliveryError {
  const message = `an upload of ${name} to the release ${tag} has not ended within ${timeout / SECOND} s`;
  return new DeliveryError('CONFLICT', message, {
    hint: (w) =>
      `try again when the other job has ended; if no job uploads it any more, delete this unfinished asset on the page of the release, or set ${w.input('path')} to another name`,
  });
}
