import { forEachItem, type ItemResult } from '../../async.ts';
import { DeliveryError, hasFailed, toDeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import type { Ports } from '../../ports.ts';
import { BIN } from '../../protocol/calls.ts';
import { AGREEING_PROBES } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { getTypeDisplay } from '../../rules/media-type.ts';
import { binFileName, flatName } from '../../rules/naming.ts';
import type { ChannelAction, ChannelItem, PlacedTask, Placement, PreparedTask } from '../channel.ts';
import {
  type BinFile,
  type BinLocation,
  type BinLook,
  type BinState,
  type BinTarget,
  lookAtFile,
  readBin,
  urlFor,
} from './bin-client.ts';
import { findOrAllowUpload, lockOwnBin, recheckLock } from './ownership.ts';
import { listRefusals, refusedLaterError } from './refusals.ts';
import { type BinUpload, type StoreResult, storeFile } from './store-file.ts';

export interface FilebinOptions extends BinTarget {
  /** Whether the name was just generated, so that nothing can be there yet. */
  readonly binIsNew: boolean;
  /** The name that was asked for, or a folder ending in `/`; else the file's own name counts. */
  readonly path?: string | undefined;
}

type UploadTasks = readonly PreparedTask<BinUpload>[];

/**
 * K3: posts files to the anonymous file-bin, and locks the bin after the last one if this delivery created it.
 *
 * @see protocol 4.4
 */
export function createFilebinPublisher(options: FilebinOptions, ports: Ports): ChannelAction<BinUpload> {
  return {
    prepare: (items) => forEachItem(items, async (item) => prepareUpload(item, options)),
    async preview(tasks) {
      const before = await readBefore(options, ports);
      return forEachItem(tasks, async ({ data }) => previewUpload(data, before, options));
    },
    perform: (tasks) => postFiles(tasks, options, ports),
    recheck: (placed) => lookAgain(placed, options, ports),
  };
}

function prepareUpload({ file, name }: ChannelItem, { bin }: FilebinOptions): PreparedTask<BinUpload> {
  if (file === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K3 needs a file to post', { hint: 'name a file' });
  }
  const filename = binFileName(flatName(name));
  return {
    plan: {
      channel: 'K3',
      method: 'one POST',
      destination: `bin ${bin}, name ${filename}`,
      name: filename,
      claim: 'is available',
    },
    data: { file, filename },
  };
}

/** The bin before this delivery. Where a name was just generated, nothing can be there. */
function readBefore(options: FilebinOptions, ports: Ports): Promise<BinState> {
  if (options.binIsNew) return Promise.resolve({ status: 'absent', files: [] });
  return withRetries(ports, () => readBin(options, ports));
}

/** The bin right before an upload, since others write to it too. What fails here has sent nothing. */
function readBeforeUpload(options: FilebinOptions, ports: Ports): Promise<BinState> {
  return readBefore(options, ports).catch((thrown: unknown) => {
    throw toDeliveryError(thrown).withLeftBehind([]);
  });
}

function previewUpload({ file, filename }: BinUpload, before: BinState, options: FilebinOptions): string {
  const existing = findOrAllowUpload({ filename, sha256: file.sha256 }, before, options);
  if (existing !== undefined) return 'the bin already holds these bytes';
  if (before.status === 'absent') return `${filename} would be posted`;
  const replaces = before.files.some((stored) => stored.filename === filename);
  return `${filename} would ${replaces ? 'replace the file of that name' : 'be posted'}; the bin exists already and would not be locked`;
}

async function postFiles(
  tasks: UploadTasks,
  options: FilebinOptions,
  ports: Ports,
): Promise<readonly ItemResult<UploadTasks[number], Placement>[]> {
  const before = await readBeforeUpload(options, ports);
  const posted = await forEachItem(tasks, async (task) =>
    storeFile(task.data, task === tasks[0] ? before : await readBeforeUpload(options, ports), options, ports),
  );
  const stored = posted.flatMap(({ result }) => (hasFailed(result) ? [] : [result.stored]));
  const isNew = options.binIsNew;
  const wasTaken =
    !isNew && posted.some(({ result }, at) => !hasFailed(result) && (result.stored.filesBefore ?? 0) > at);
  const unknown =
    stored.length === 0 ? [] : await lockOwnBin(options, stored, { before, isNew, wasTaken }, ports);
  return posted.map(({ item, result }) => {
    if (hasFailed(result)) return { item, result };
    const asked =
      options.path === undefined || options.path.endsWith('/') ? item.data.file.name : options.path;
    return { item, result: { ...binPlacement(result, options, asked), unknown } };
  });
}

/** Whether each file can still be downloaded after its proof, and whether the lock holds, which is read once. */
async function lookAgain(
  placed: readonly PlacedTask<BinUpload>[],
  options: FilebinOptions,
  ports: Ports,
): Promise<readonly ItemResult<PlacedTask<BinUpload>, readonly string[]>[]> {
  let lock: Promise<readonly string[]> | undefined;
  return forEachItem(placed, async ({ placement: { url, unknown } }) => {
    const filename = decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
    const seen = await lookAtFile(filename, options, ports);
    if (seen.kind === 'refused') throw refusedLaterError(seen.refusal, options.bin);
    // What is said of the bin already is no lock.
    if (unknown.length === 0) lock ??= recheckLock(options, ports);
    return [...UNKNOWN_AFTER[seen.kind], ...((await lock) ?? [])];
  });
}

const UNKNOWN_AFTER: Readonly<Record<Exclude<BinLook['kind'], 'refused'>, readonly string[]>> = {
  warned: [],
  opened: [
    'whether the file can be downloaded again: the bin host may limit downloads, and the proof itself was some of them',
  ],
  unclear: ['whether the address still opens after its proof: the bin host gave no clear answer'],
};

function binPlacement(
  { stored, written, confirmed }: StoreResult,
  location: BinLocation,
  asked: string,
): Placement {
  const where = `bin ${location.bin}, file ${stored.filename}`;
  const shown = describeShown(stored.contentType);
  return {
    evidence: confirmed
      ? `HTTP 201, ${where}`
      : `${where} ${written ? 'holds' : 'already holds'} these bytes`,
    url: urlFor(BIN.get, location, stored.filename),
    written,
    claim: shown.claim,
    isInBin: true,
    refusals: listRefusals(location.bin),
    answers: AGREEING_PROBES.rechecked,
    notes: [...binNotes(stored, asked), ...shown.notes],
    unknown: [],
  };
}

function binNotes({ filename, expires }: BinFile, asked: string): string[] {
  return [
    ...(filename === asked.normalize('NFC') ? [] : [`the bin keeps it as ${filename}`]),
    expires === undefined
      ? 'the bin expires after about 7 days'
      : `the bin expires at ${shortHostMessage(expires)}`,
    'it is public to anyone with the link; a browser may be shown a warning page first',
  ];
}

/** The host sends these as attachments, whatever the file's name is. */
const ATTACHED = /^\s*(?:text\/html|application\/pdf)\b/i;

/** Whether a browser shows the file. @param contentType what the host found in its bytes; empty where it does not say */
export function describeShown(contentType = ''): Required<Pick<Placement, 'claim' | 'notes'>> {
  if (contentType.trim() === '') return { claim: 'is available', notes: [] };
  if (getTypeDisplay(contentType) !== 'none' && !ATTACHED.test(contentType))
    return { claim: 'opens', notes: [] };
  return {
    claim: 'downloads',
    notes: ['this kind of file is downloaded there, not shown on the screen'],
  };
}
