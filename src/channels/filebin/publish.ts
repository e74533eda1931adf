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

/**
 * K3: posts files to the file-bin, and locks the bin after the last one if this delivery created it. @see protocol 4.4
 */
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
    /** Whether the bin still holds each file after its proof, and is locked: its list is read once, and nothing downloaded. */
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
 * Locks a bin that this delivery created: each upload found no more files there than this delivery posted before. A lock
 * is for good, so the bin of anybody else is never locked.
 *
 * @returns whether the bin should be locked now, which is read after the proof
 */
async function lockOwnBin(options: BinOptions, stored: readonly StoreResult[], ports: Ports) {
  const before = stored[0]?.before ?? 'locked';
  if (before === 'locked') return true;
  const isOwn = options.binIsNew || stored.every(({ filesBefore }, nth) => filesBefore === nth);
  if (before !== 'absent' || !isOwn) return false;
  await lockBin(options, ports);
  return true;
}

/** Reads the bin after the proof. An upload that was still being stored may have undone the lock: it is locked again. */
async function readAfterProof(isLocked: boolean, location: BinLocation, ports: Ports): Promise<BinState> {
  const state = await readBin(location, ports);
  if (!isLocked || state.status === 'locked') return state;
  await lockBin(location, ports);
  return readBin(location, ports);
}

/** The bin was proven to have the file, and has it no more. */
const lostError = ({ bin }: BinLocation, found: BinFile | undefined): DeliveryError =>
  new DeliveryError(
    'NOT_PROVEN',
    `after verification, bin ${bin} ${found === undefined ? 'no longer has the file' : 'has another file under its name'}`,
    { hint: (w) => `try again without ${w.input('bin')}${w.orUse(['K1', 'K2'])}` },
  );

/** Whether an upload replaced a file that somebody posted after the bin was read. Nobody knows the name of a new bin. */
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
        : `${where} ${written ? 'holds' : 'already holds'} these bytes`,
    written,
    first: pageCheck(urlFor(BIN.get, options, filename), { is: 'bytes', file: upload.file }, host, COUNTED),
    plan: { verb, method: POST },
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

/** The host sends these as attachments, whatever the file's name is. */
const ATTACHED = /^\s*(?:text\/html|application\/pdf)\b/i;

/** Whether a browser shows the file. @param contentType what the host found in its bytes; empty where it does not say */
function verbFor(contentType = ''): string {
  if (contentType.trim() === '') return 'is available';
  return getTypeDisplay(contentType) === 'none' || ATTACHED.test(contentType) ? 'downloads' : 'opens';
}
