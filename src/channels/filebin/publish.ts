import { forEachItem, forEachOnHost } from '../../async.ts';
import { hasFailed, resultOf } from '../../errors.ts';
import { discard, firstHeader, isPage, readText, shortHostMessage } from '../../http/response.ts';
import type { Ports } from '../../ports.ts';
import { BIN } from '../../protocol/calls.ts';
import { AGREEING_PROBES, EXCHANGE, TEXT } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { getTypeDisplay } from '../../rules/media-type.ts';
import { binFileName, flatName } from '../../rules/naming.ts';
import { type Channel, nameTask, type Placement, type PreparedTask, requireSite } from '../channel.ts';
import { BIN_HEADERS, type BinLocation, lockBin, readBin, urlFor } from './bin-client.ts';
import { listRefusals, refusedLaterError } from './refusals.ts';
import {
  type BinOptions,
  type BinUpload,
  findOrAllowUpload,
  readOptionalBin,
  type StoreResult,
  storeFile,
} from './store-file.ts';

/**
 * K3: posts files to the anonymous file-bin, and locks the bin after the last one if this delivery created it.
 *
 * @see protocol 4.4
 */
export const createFilebinPublisher = (
  options: BinOptions,
  ports: Ports,
): Channel<PreparedTask & BinUpload> => ({
  prepare: (items) =>
    forEachItem(items, async (item) => {
      const filename = binFileName(flatName(item.name));
      const plan = planInBin(options.bin, filename, 'one POST', 'is available');
      return { plan, file: requireSite(item).entry, filename };
    }),
  async preview(tasks) {
    const before = await withRetries(ports, () => readOptionalBin(options, ports));
    return forEachItem(tasks, async (task) => {
      const { filename } = task;
      if (findOrAllowUpload(task, before, options) !== undefined) return 'the bin already holds these bytes';
      if (before.status === 'absent') return `${filename} would be posted`;
      const replaces = before.files.some((stored) => stored.filename === filename);
      return `${filename} would ${replaces ? 'replace the file of that name' : 'be posted'}; the bin exists already and would not be locked`;
    });
  },
  async perform(tasks) {
    const posted = await forEachOnHost(tasks, nameTask, (task) => storeFile(task, options, ports));
    const stored = posted.flatMap((one) => (hasFailed(one) ? [] : [one]));
    const unknown = await lockOwnBin(options, stored, ports);
    return forEachItem(posted, async (one) => {
      if (hasFailed(one)) throw one;
      return placementOfFile(one, unknown, options);
    });
  },
  /** Whether each file can still be downloaded after its proof, and whether the lock holds, which is read once. */
  recheck(placed) {
    let lock: Promise<readonly string[]> | undefined;
    return forEachItem(placed, async ({ placement: { url, unknown = [] } }) => {
      const unseen = await lookAtAddress(url, options, ports);
      // What is said of the bin already is no lock.
      if (unknown.length === 0) lock ??= recheckLock(options, ports);
      return [...unseen, ...((await lock) ?? [])];
    });
  },
});

export const planInBin = (bin: string, filename: string, method: string, claim: string) =>
  ({ channel: 'K3', method, destination: `bin ${bin}, name ${filename}`, name: filename, claim }) as const;

const ANYBODY = 'anybody who knows its name can add to it or replace what it holds';
const NOT_LOCKED = `the bin could not be locked: ${ANYBODY}`;
const FOREIGN = `the bin was not locked, because this delivery did not create it, or others wrote to it at the same time: ${ANYBODY}`;

/**
 * Locks a bin that this delivery created: each of its uploads found no more files there than were posted before it.
 * Any other one is never locked: that is for good, and its owner could not add to it any more.
 *
 * @param stored the files of this delivery, in their order
 * @returns for UNKNOWN: why anybody may change the bin; nothing where the lock is looked at after the proof
 */
async function lockOwnBin(
  options: BinOptions,
  stored: readonly StoreResult[],
  ports: Ports,
): Promise<readonly string[]> {
  const before = stored[0]?.before ?? 'locked';
  if (before === 'locked') return [];
  const isOwn = options.binIsNew || stored.every(({ filesBefore }, nth) => filesBefore === nth);
  if (before !== 'absent' || !isOwn) return [FOREIGN];
  await lockBin(options, ports);
  return [];
}

/**
 * Reads after the proof whether the lock holds: an upload that was still being stored, ours or another one, writes its
 * own state over it. Then it is locked once more.
 *
 * @returns for UNKNOWN: what is not as it was left
 */
async function recheckLock(location: BinLocation, ports: Ports, mayLock = true): Promise<readonly string[]> {
  const state = await resultOf(() => readBin(location, ports));
  if (hasFailed(state)) return ['whether the bin is locked could not be read'];
  if (state.status === 'locked') return [];
  if (!mayLock) return [NOT_LOCKED];
  await lockBin(location, ports);
  return recheckLock(location, ports, false);
}

const UNCLEAR = 'whether the address still opens after its proof: the bin host gave no clear answer';
const COUNTED =
  'whether the file can be downloaded again: the bin host may limit downloads, and the proof itself was some of them';

/**
 * Looks at a file's address as somebody new, without following it to the storage. The warning page comes only before a
 * file that may be downloaded, and is no download itself; anything else the host may have counted as one.
 *
 * @returns for UNKNOWN: what this look leaves open
 * @throws {DeliveryError} `NOT_PROVEN` where the host refuses it now
 */
async function lookAtAddress(
  url: URL,
  { bin }: BinLocation,
  { http, clock, signal }: Ports,
): Promise<readonly string[]> {
  const limit = AbortSignal.any([signal, clock.timeout(EXCHANGE.api)]);
  const answer = await resultOf(() =>
    http({ method: BIN.get.method, url, headers: BIN_HEADERS, signal: limit }),
  );
  if (hasFailed(answer)) return [UNCLEAR];
  const { status } = answer;
  if ([403, 404, 410].includes(status)) {
    throw refusedLaterError(status, await readText(answer, TEXT.refusal).catch(() => ''), bin);
  }
  discard(answer);
  if (status < 200 || status >= 400) return [UNCLEAR];
  const isWarning = status === 200 && isPage(answer) && firstHeader(answer, 'set-cookie') !== undefined;
  return isWarning ? [] : [COUNTED];
}

function placementOfFile(
  { upload, stored, expires, written, filesBefore }: StoreResult,
  unknown: readonly string[],
  options: BinOptions,
): Placement {
  const { bin, path } = options;
  const { filename = upload.filename, contentType } = stored;
  const where = `bin ${bin}, file ${filename}`;
  const asked = path === undefined || path.endsWith('/') ? upload.file.name : path;
  const claim = claimFor(contentType);
  return {
    evidence:
      filesBefore !== null
        ? `HTTP 201, ${where}`
        : `${where} ${written ? 'holds' : 'already holds'} these bytes`,
    url: urlFor(BIN.get, options, filename),
    file: upload.file,
    written,
    plan: { claim },
    isInBin: true,
    refusals: listRefusals(bin),
    answers: AGREEING_PROBES.rechecked,
    notes: [
      ...(filename === asked.normalize('NFC') ? [] : [`the bin keeps it as ${filename}`]),
      expires === undefined
        ? 'the bin expires after about 7 days'
        : `the bin expires at ${shortHostMessage(expires)}`,
      'it is public to anyone with the link; a browser may be shown a warning page first',
      ...(claim === 'downloads' ? ['this kind of file is downloaded there, not shown on the screen'] : []),
    ],
    unknown,
  };
}

/** The host sends these as attachments, whatever the file's name is. */
const ATTACHED = /^\s*(?:text\/html|application\/pdf)\b/i;

/** Whether a browser shows the file. @param contentType what the host found in its bytes; empty where it does not say */
function claimFor(contentType = ''): string {
  if (contentType.trim() === '') return 'is available';
  return getTypeDisplay(contentType) === 'none' || ATTACHED.test(contentType) ? 'downloads' : 'opens';
}
