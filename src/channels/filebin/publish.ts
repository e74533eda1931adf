import { forEachItem, forEachOnHost } from '../../async.ts';
import { DeliveryError, hasFailed, resultOf } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { lineIf } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import { BIN } from '../../protocol/calls.ts';
import { withRetries } from '../../retry.ts';
import { getTypeDisplay } from '../../rules/media-type.ts';
import { baseName, binFileName, decodePath, flatName } from '../../rules/naming.ts';
import { type Channel, nameTask, type PreparedTask, requireSite } from '../channel.ts';
import { BIN_HOST, COUNTED, pageCheck } from '../host-rules.ts';
import { type BinFile, type BinLocation, type BinState, lockBin, readBin, urlFor } from './bin-client.ts';
import { listRefusals } from './refusals.ts';
import {
  type BinOptions,
  type BinUpload,
  findOrAllowUpload,
  readOptionalBin,
  type StoreResult,
  storeFile,
} from './store-file.ts';

const POST = 'one POST';

/** K3: uploads files to the file-bin, and then locks the bin if this delivery created it. @see protocol 4.4 */
export function createFilebinPublisher(options: BinOptions, ports: Ports): Channel<PreparedTask & BinUpload> {
  let isLocked = false;
  return {
    prepare: (items) =>
      forEachItem(items, async (item) => {
        const filename = binFileName(flatName(item.name));
        const method = options.binIsNew ? POST : `${POST}, unless the bin has this file`;
        const plan = planInBin(options.bin, filename, method, 'is available');
        return { plan, file: requireSite(item).entry, filename };
      }),
    async preview(tasks) {
      const before = await withRetries(ports, () => readOptionalBin(options, ports));
      return forEachItem(tasks, async (task) => previewUpload(task, before, options));
    },
    async perform(tasks) {
      const posted = await forEachOnHost(tasks, nameTask, (task) => storeFile(task, options, ports));
      const stored = posted.flatMap((result) => (hasFailed(result) ? [] : [result]));
      isLocked = await lockOwnBin(options, stored, ports);
      return posted.map((result, nth) =>
        hasFailed(result) ? result : placementOfFile(tasks[nth] as BinUpload, result, isLocked, options),
      );
    },
    /** Reads the bin's list once and downloads nothing, because downloads may be counted. */
    async recheck(placed) {
      const state = await resultOf(() => readAfterProof(isLocked, options, ports));
      return placed.map(({ task, placement }) => {
        if (hasFailed(state)) return [UNREAD];
        const name = baseName(decodePath(placement.first.url.pathname));
        const found = state.files.find(({ filename }) => filename === name);
        if (found === undefined || found.sha256 !== task.file.sha256) return lostError(options, found);
        return isLocked && state.status !== 'locked' ? [NOT_LOCKED] : [];
      });
    },
  };
}

function previewUpload(upload: BinUpload, before: BinState, options: BinOptions): string {
  const { filename } = upload;
  if (findOrAllowUpload(upload, before, options) !== undefined) return 'the bin already has this file';
  if (before.status === 'absent') return `${filename} would be uploaded`;
  const replaces = before.files.some((stored) => stored.filename === filename);
  return `${filename} would ${replaces ? 'replace the file of that name' : 'be uploaded'}; the bin exists already and would not be locked`;
}

export const planInBin = (bin: string, filename: string, method: string, verb: string) =>
  ({ channel: 'K3', method, destination: `bin ${bin}, name ${filename}`, name: filename, verb }) as const;

const UNREAD = 'whether the bin still has the file and is locked: it could not be read';
const ANYBODY = 'anybody who knows its name can add or replace files';
const NOT_LOCKED = `the bin could not be locked: ${ANYBODY}`;
const FOREIGN = `the bin was not locked, because this delivery did not create it, or others wrote to it at the same time: ${ANYBODY}`;

/**
 * Locks the bin only if each upload found no files but this delivery's. A lock is permanent, so nobody else's bin is
 * ever locked.
 * @returns whether the bin should be locked now, which is checked after the proof
 */
async function lockOwnBin(options: BinOptions, stored: readonly StoreResult[], ports: Ports) {
  const before = stored[0]?.before ?? 'locked';
  if (before === 'locked') return true;
  const isOwn = options.binIsNew || stored.every(({ filesBefore }, nth) => filesBefore === nth);
  if (before !== 'absent' || !isOwn) return false;
  await lockBin(options, ports);
  return true;
}

/** Locks the bin again if needed, because an upload that was still being stored may have undone the lock. */
async function readAfterProof(isLocked: boolean, location: BinLocation, ports: Ports): Promise<BinState> {
  const state = await readBin(location, ports);
  if (!isLocked || state.status === 'locked') return state;
  await lockBin(location, ports);
  return readBin(location, ports);
}

const lostError = ({ bin }: BinLocation, found: BinFile | undefined): DeliveryError =>
  new DeliveryError(
    'NOT_PROVEN',
    `after verification, bin ${bin} ${found === undefined ? 'no longer has the file' : 'has another file under its name'}`,
    { hint: (w) => `try again without ${w.input('bin')}${w.orUse(['K1', 'K2'])}` },
  );

/** Somebody may have uploaded a file after the bin was read. Nobody knows the name of a new bin. */
function describeReplacedFile(
  name: string,
  { stored: { isReplaced }, filesBefore }: StoreResult,
  options: BinOptions,
): string[] {
  if (options.binIsNew || options.overwrite || filesBefore === null || isReplaced === false) return [];
  return [
    isReplaced
      ? `whose file this upload replaced: the bin host had a file named ${name}, deleted before or uploaded after the bin was read`
      : `whether this upload replaced a file named ${name} that somebody uploaded after the bin was read`,
  ];
}

function placementOfFile(upload: BinUpload, result: StoreResult, isLocked: boolean, options: BinOptions) {
  const { stored, expires, written, filesBefore } = result;
  const { bin, path } = options;
  const { filename = upload.filename, contentType } = stored;
  const where = `bin ${bin}, file ${filename}`;
  const asked = path === undefined || path.endsWith('/') ? upload.file.name : path;
  const verb = verbFor(contentType);
  const host = { ...BIN_HOST, refusals: listRefusals(bin) };
  return {
    evidence:
      filesBefore !== null
        ? `HTTP 201, ${where}`
        : `${where} ${written ? 'holds these bytes' : 'had these bytes before this delivery'}`,
    written,
    first: pageCheck(urlFor(BIN.get, options, filename), { is: 'bytes', file: upload.file }, host, COUNTED),
    plan: { verb, method: POST },
    ...(expires !== undefined && { expires: shortHostMessage(expires) }),
    notes: [
      ...lineIf(filename !== asked.normalize('NFC'), `the bin named it ${filename}`),
      expires === undefined
        ? 'the bin expires after about 7 days'
        : `the bin expires at ${shortHostMessage(expires)}`,
      'anyone with the link can open it; a browser may show a warning page first',
      ...lineIf(verb === 'downloads', 'this kind of file is downloaded there, not shown on the screen'),
    ],
    unknown: [...lineIf(!isLocked, FOREIGN), ...describeReplacedFile(upload.filename, result, options)],
  };
}

/** The host always sends these as attachments. */
const ATTACHED = /^\s*(?:text\/html|application\/pdf)\b/i;

/** @param contentType the type that the host detected; empty if unknown */
function verbFor(contentType = ''): string {
  if (contentType.trim() === '') return 'is available';
  return getTypeDisplay(contentType) === 'none' || ATTACHED.test(contentType) ? 'downloads' : 'opens';
}
