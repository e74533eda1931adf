import { poll, withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import { sendRequest } from '../../http/send-request.ts';
import type { Ports, Progress } from '../../ports.ts';
import { BIN } from '../../protocol/calls.ts';
import { BIN_ANSWER, SECOND } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { SentWrites } from '../sent-writes.ts';
import {
  BIN_HEADERS,
  type BinFile,
  type BinLocation,
  type BinState,
  readBin,
  readRecord,
  urlFor,
} from './bin-client.ts';
import { binRefusedError } from './refusals.ts';

export interface BinOptions extends BinLocation {
  /** Whether this delivery generated the name, so that the bin can't exist yet. */
  readonly binIsNew: boolean;
  readonly overwrite: boolean;
  /** The wanted name, or a folder ending in `/`; otherwise the file's own name counts. */
  readonly path?: string | undefined;
}

export interface BinUpload {
  readonly file: LocalFile;
  readonly filename: string;
}

export interface StoreResult extends Pick<BinState, 'expires'> {
  readonly stored: BinFile;
  readonly written: boolean;
  readonly before: BinState['status'];
  /** The number of files before the upload, if the host reported it; `null` if the file was already there. */
  readonly filesBefore: number | undefined | null;
}

export const readOptionalBin = async (options: BinOptions, ports: Ports): Promise<BinState> =>
  options.binIsNew ? { status: 'absent', files: [] } : readBin(options, ports);

/**
 * Compares the bytes, because anybody may write to a bin.
 * @returns `undefined` if it may be posted
 * @throws {DeliveryError} `CONFLICT` for a bin that takes no uploads, `NOT_OURS` for another file with this name
 */
export function findOrAllowUpload(
  { filename, file }: BinUpload,
  { status, files }: BinState,
  { bin, overwrite }: BinOptions,
): BinFile | undefined {
  const named = files.find((stored) => stored.filename === filename);
  if (named !== undefined && named.sha256 === file.sha256) return named;
  if (status === 'locked' || status === 'unavailable') {
    const reason =
      status === 'locked'
        ? 'is locked: it takes no further uploads'
        : "has expired or was deleted: its name can't be used again";
    throw new DeliveryError('CONFLICT', `bin ${bin} ${reason}`, {
      hint: (w) => `leave ${w.input('bin')} out, or set another name: a named bin takes one delivery`,
    });
  }
  if (named === undefined || overwrite) return undefined;
  throw new DeliveryError('NOT_OURS', `bin ${bin} already holds another file named ${filename}`, {
    hint: (w) =>
      `set ${w.input('path')} to another name${w.orSet('overwrite', 'true', ' to replace the file')}`,
  });
}

/**
 * Uploads a file, unless the bin already has it. Each attempt reads the bin first, and waits for a host that may still
 * be storing the file.
 * @throws {DeliveryError} what `findOrAllowUpload` throws, by status, or `CONNECTION`.
 */
export async function storeFile(upload: BinUpload, options: BinOptions, ports: Ports): Promise<StoreResult> {
  const { clock, logger, signal } = ports;
  let before: BinState['status'] = 'absent';
  let failure: DeliveryError | undefined;
  const writes = new SentWrites();
  const findStored = async (chosenPorts = ports): Promise<StoreResult | undefined> => {
    const written = failure !== undefined;
    const state = await (written ? readBin(options, chosenPorts) : readOptionalBin(options, chosenPorts));
    if (!written) before = state.status;
    const stored = findOrAllowUpload(upload, state, options);
    return stored && { stored, expires: state.expires, before, written, filesBefore: null };
  };
  try {
    return await withRetries(ports, async () => {
      // After a gateway's timeout, the host may still store the file.
      const isLate = failure?.httpCode === 504;
      if (isLate) {
        logger.info(
          `a gateway timed out; checking for up to ${STORING} whether the bin host stored the file`,
        );
      }
      const deadline = clock.now() + (isLate ? BIN_ANSWER.longest : 0);
      const found = await poll({ clock, signal, interval: BIN_ANSWER.interval, deadline }, findStored);
      if (found !== undefined) return found;
      const posted = await resultOf(() => writes.send(() => postFile(upload, options, ports)));
      if (!hasFailed(posted)) return { ...posted, before };
      failure = posted;
      throw posted;
    });
  } catch (thrown) {
    const failed = writes.explain(thrown);
    if (failure === undefined || (!signal.aborted && failure.code !== 'CONNECTION')) throw failed;
    // The upload may have succeeded without an answer.
    const found = await resultOf(() => findStored(signal.aborted ? withCleanupSignal(ports) : ports));
    if (found === undefined || hasFailed(found)) throw failed;
    return found;
  }
}

const STORING = `${BIN_ANSWER.longest / (60 * SECOND)} minutes`;

/**
 * Waits for the answer as long as the host may take to store the file. The host may change the name.
 * @throws {DeliveryError} by status
 * @see protocol 4.4
 */
async function postFile(
  { file, filename }: BinUpload,
  location: BinLocation,
  ports: Ports,
): Promise<Omit<StoreResult, 'before'>> {
  const request = {
    method: BIN.post.method,
    url: urlFor(BIN.post, location, filename),
    headers: {
      ...BIN_HEADERS,
      'content-type': 'application/octet-stream',
      // The host refuses other bytes, so a second upload replaces the file by the same one.
      'content-sha256': file.sha256,
    },
    length: file.size,
    body: () => file.read(),
    startProgress: () => showUpload(file, ports),
    headersTimeout: BIN_ANSWER.longest,
  };
  const answer = await resultOf(() => sendRequest(request, ports));
  if (hasFailed(answer)) {
    const { cause } = answer;
    const isTimeout = cause instanceof Error && 'code' in cause && cause.code === 'UND_ERR_HEADERS_TIMEOUT';
    if (!isTimeout) throw answer;
    // Not retryable: the host may still be storing the file, and posting it again would store it twice.
    throw new DeliveryError('CONNECTION', `the bin host gave no answer to the upload within ${STORING}`, {
      hint: (w) =>
        `try again with ${w.input('bin', location.bin)}: it first reads whether the file has arrived`,
      cause,
    });
  }
  const { status: httpCode, json } = answer;
  if (httpCode !== 201) throw binRefusedError(BIN.post, answer, { ...location, now: ports.clock.date() });
  const { file: stored, expires, filesBefore } = readRecord(json);
  return { stored, expires, written: true, filesBefore };
}

/** Explains the silence after an upload, because the host may take minutes to store the file. */
function showUpload({ size }: LocalFile, { logger }: Pick<Ports, 'logger'>): Progress {
  const upload = logger.progress('uploaded', size, 'bytes');
  const end = (): void => {
    upload.end();
    logger.info(`the bin host is storing the file, which may take up to ${STORING}`);
  };
  return { advance: (amount) => upload.advance(amount), end };
}
