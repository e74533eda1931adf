import { poll, withCleanupSignal } from '../../async.ts';
import { type DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { BIN_ANSWER } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { type BinFile, type BinLocation, type BinState, createBinClient } from './bin-client.ts';
import { findOrAllowUpload } from './ownership.ts';

/** One file that is posted. */
export interface BinUpload {
  readonly file: LocalFile;
  readonly filename: string;
}

/** Where to post, and whether a file of others may be replaced. */
export interface BinTarget extends BinLocation {
  readonly overwrite: boolean;
}

/** What the bin holds after an upload. */
export interface StoreResult {
  readonly stored: BinFile;
  readonly written: boolean;
  /** Whether the host answered 201; `false` where the file was found. */
  readonly confirmed: boolean;
}

/**
 * Posts a file, unless the bin already holds it. After an unclear failure the bin is read before the file is
 * posted again; a host that may still be storing it gets all the time that it may take.
 *
 * @param before the bin as it was before this delivery
 * @throws {DeliveryError} what `findOrAllowUpload` throws, by status, or `CONNECTION`.
 */
export async function storeFile(
  upload: BinUpload,
  before: BinState,
  target: BinTarget,
  ports: Ports,
): Promise<StoreResult> {
  const client = createBinClient(target, ports);
  const entry = { filename: upload.filename, sha256: upload.file.sha256 };
  let failure: DeliveryError | undefined;
  let isSent = false;
  const find = async (state: BinState): Promise<StoreResult | undefined> => {
    const stored = findOrAllowUpload(entry, state, target);
    return stored && { stored, written: isSent, confirmed: false };
  };
  const findSent = async (read = client.read): Promise<StoreResult | undefined> => find(await read());
  try {
    return await withRetries(ports, async () => {
      const late = failure === undefined ? await find(before) : await findLate(failure, findSent, ports);
      if (late !== undefined) return late;
      isSent = true;
      try {
        return { stored: await client.post(upload.file, upload.filename), written: true, confirmed: true };
      } catch (thrown) {
        failure = toDeliveryError(thrown);
        throw thrown;
      }
    });
  } catch (thrown) {
    if (!isSent) throw toDeliveryError(thrown).withLeftBehind([]);
    if (!ports.signal.aborted && failure?.code !== 'CONNECTION') throw thrown;
    // The upload may have succeeded although its answer did not arrive.
    const looking = ports.signal.aborted ? withCleanupSignal(ports) : ports;
    const found = await resultOf(() => findSent(createBinClient(target, looking).read));
    if (found === undefined || hasFailed(found)) throw thrown;
    return found;
  }
}

/** Looks for the file after a failure: once, or, where a gateway gave up on the host, as long as the host may take. */
async function findLate(
  failure: DeliveryError,
  findSent: () => Promise<StoreResult | undefined>,
  { clock, logger, signal }: Ports,
): Promise<StoreResult | undefined> {
  if (failure.httpCode !== 504) return findSent();
  const deadline = clock.now() + BIN_ANSWER.longest;
  const progress = logger.progress('waited for the bin to show the file', BIN_ANSWER.longest, 'milliseconds');
  try {
    return await poll({ deadline, interval: BIN_ANSWER.interval, clock, signal }, async () => {
      const found = await findSent();
      progress.advance(BIN_ANSWER.interval);
      return found;
    });
  } finally {
    progress.end();
  }
}
