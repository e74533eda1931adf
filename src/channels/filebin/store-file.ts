import { poll, withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../errors.ts';
import { sendRequest, type TextAnswer } from '../../http/send-request.ts';
import type { Ports, Progress } from '../../ports.ts';
import { BIN } from '../../protocol/calls.ts';
import { BIN_ANSWER, SECOND } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import {
  type BinFile,
  type BinLocation,
  type BinRecord,
  type BinState,
  type BinTarget,
  readBin,
  urlFor,
} from './bin-client.ts';
import { findOrAllowUpload } from './ownership.ts';
import { uploadRefusedError } from './refusals.ts';

/** One file that is posted. */
export interface BinUpload {
  readonly file: LocalFile;
  readonly filename: string;
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
  const entry = { filename: upload.filename, sha256: upload.file.sha256 };
  let failure: DeliveryError | undefined;
  let isSent = false;
  const find = async (state: BinState): Promise<StoreResult | undefined> => {
    const stored = findOrAllowUpload(entry, state, target);
    return stored && { stored, written: isSent, confirmed: false };
  };
  const findSent = async (own = ports): Promise<StoreResult | undefined> => find(await readBin(target, own));
  try {
    return await withRetries(ports, async () => {
      const late = failure === undefined ? await find(before) : await findLate(failure, findSent, ports);
      if (late !== undefined) return late;
      isSent = true;
      try {
        return { stored: await postFile(upload, target, ports), written: true, confirmed: true };
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
    const found = await resultOf(() => findSent(looking));
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
  logger.info(
    `a gateway gave up on the bin host; the file is looked for, for up to ${STORING_MINUTES} minutes`,
  );
  return poll({ deadline, interval: BIN_ANSWER.interval, clock, signal }, findSent);
}

/**
 * Posts a file, once, and waits for the answer as long as the host may take to store it. The host decides on the names.
 *
 * @throws {DeliveryError} by status; what has arrived is unknown when the exchange broke off.
 * @see protocol 4.4
 */
async function postFile(
  { file, filename }: BinUpload,
  location: BinLocation,
  ports: Ports,
): Promise<BinFile> {
  try {
    const request = {
      method: BIN.post.method,
      url: urlFor(BIN.post, location, filename),
      headers: {
        accept: 'application/json',
        'content-type': 'application/octet-stream',
        // The host refuses other bytes, so a second upload replaces the file by the same one.
        'content-sha256': file.sha256,
      },
      length: file.size,
      body: () => file.read(),
      startProgress: () => showUpload(file, ports),
      headersTimeout: BIN_ANSWER.longest,
    };
    const answer = await sendRequest(request, ports);
    if (answer.status !== 201) throw uploadRefusedError(answer, location.bin, ports.clock.now());
    return parseStoredFile(answer, file, filename);
  } catch (thrown) {
    throw isAnswerTimeout(thrown) ? noAnswerError(location, thrown) : thrown;
  }
}

/** The progress of an upload, after which the host may store the file for minutes without a word. */
function showUpload({ size }: LocalFile, { logger }: Pick<Ports, 'logger'>): Progress {
  const upload = logger.progress('uploaded', size, 'bytes');
  const end = (): void => {
    upload.end();
    logger.info(`the bin host stores the file now, for up to ${STORING_MINUTES} minutes`);
  };
  return { advance: (amount) => upload.advance(amount), end };
}

const STORING_MINUTES = BIN_ANSWER.longest / (60 * SECOND);

const isAnswerTimeout = (thrown: unknown): boolean =>
  thrown instanceof DeliveryError &&
  thrown.cause instanceof Error &&
  'code' in thrown.cause &&
  thrown.cause.code === 'UND_ERR_HEADERS_TIMEOUT';

/** Not retryable: the host may still be storing the file, and posting it again would store it twice. */
function noAnswerError({ bin }: BinLocation, cause: unknown): DeliveryError {
  return new DeliveryError(
    'CONNECTION',
    `the bin host gave no answer to the upload within ${STORING_MINUTES} minutes`,
    {
      hint: (w) => `try again with ${w.input('bin', bin)}: it first reads whether the file has arrived`,
      cause,
    },
  );
}

function parseStoredFile({ json, status }: TextAnswer, { sha256 }: LocalFile, asked: string): BinFile {
  if (typeof json !== 'object' || json === null) {
    throw new DeliveryError('HOST_ERROR', 'posting to the bin was answered with something that is not JSON', {
      httpCode: status,
      retryable: true,
      hint: (w) => `try again, or ${w.use('K1 or K2')}`,
    });
  }
  const { bin, file } = json as BinRecord;
  if (file?.sha256 !== undefined && file.sha256 !== sha256) {
    throw new DeliveryError('HOST_ERROR', 'the bin host stored other bytes than those of the file', {
      httpCode: status,
      retryable: true,
    });
  }
  return {
    filename: file?.filename ?? asked,
    sha256,
    contentType: file?.['content-type'],
    expires: bin?.expired_at,
    ...(typeof bin?.files === 'number' ? { filesBefore: bin.files } : {}),
  };
}
