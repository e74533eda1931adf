import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { binFileName, flatName } from '../../rules/naming.ts';
import type { Channel, Placement, PreparedUpload, UploadItem } from '../channel.ts';
import { type BinClient, type BinFile, createBinClient } from './bin-client.ts';

export interface FilebinOptions {
  /** The host's address. */
  readonly host: URL;
  /** The bin's name. */
  readonly bin: string;
  /** Whether the name was made up just now, so that nothing can be there yet. */
  readonly binIsNew: boolean;
}

/** What K3 must know to place one file. */
export interface BinTask {
  readonly file: LocalFile;
  readonly filename: string;
}

/**
 * K3: the anonymous file-bin. The bin is locked after the last upload.
 *
 * @see protocol 4.4
 */
export function createFilebin(options: FilebinOptions, ports: Ports): Channel<BinTask> {
  return {
    key: 'K3',
    prepare: async (parcels) => parcels.map((parcel) => intentFor(parcel, options)),
    async preview(intents) {
      const found = options.binIsNew ? [] : await createBinClient(options.host, options.bin, ports).files();
      return intents.map(({ task }) =>
        found.some(isFile(task)) ? 'the bin already holds these bytes' : `${task.filename} would be posted`,
      );
    },
    publish: (intents) => place(intents, options, ports),
  };
}

function intentFor({ file, name }: UploadItem, { bin }: FilebinOptions): Result<PreparedUpload<BinTask>> {
  if (file === null) {
    return new DeliveryError('BAD_INPUT', 'channel K3 needs a file to post', { hint: 'set `file:`' });
  }
  const filename = binFileName(flatName(name));
  return {
    plan: {
      channel: 'K3',
      method: 'one POST',
      destination: `bin ${bin}, name ${filename}`,
      name: filename,
      claim: isDownloaded(filename) ? 'downloads' : 'opens',
    },
    task: { file, filename },
  };
}

interface PostResult {
  readonly stored: BinFile;
  readonly written: boolean;
  /** Whether the host itself said 201; else the file was found there. */
  readonly confirmed: boolean;
}

async function place(
  intents: readonly PreparedUpload<BinTask>[],
  options: FilebinOptions,
  ports: Ports,
): Promise<readonly Result<Placement>[]> {
  const posted: Result<PostResult>[] = [];
  for (const { task } of intents) posted.push(await resultOf(() => post(task, options, ports)));
  // The host decides on the bin's name.
  const named = posted.flatMap((one) => (hasFailed(one) || !one.written ? [] : [one.stored.bin]));
  const unlocked = new Set<string>();
  for (const bin of new Set(named)) {
    if (!(await createBinClient(options.host, bin, ports).lock())) unlocked.add(bin);
  }
  return posted.map((one) => {
    if (hasFailed(one)) return one;
    const { bin, filename } = one.stored;
    const url = createBinClient(options.host, bin, ports).address(filename);
    return placementOf(one, url, !unlocked.has(bin));
  });
}

function placementOf({ stored, written, confirmed }: PostResult, url: URL, locked: boolean): Placement {
  const where = `bin ${stored.bin}, file ${stored.filename}`;
  return {
    evidence: confirmed
      ? `HTTP 201, ${where}`
      : `${where} ${written ? 'holds' : 'already holds'} these bytes`,
    url,
    written,
    bypassCache: false,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    notes: notesOn(stored),
    unknown: locked ? [] : ['the bin could not be locked: anybody who knows its name can add to it'],
  };
}

/** Looks first wherever something may be there: in a bin of a known name, and after a broken attempt. */
async function post(
  task: BinTask,
  { host, bin: name, binIsNew }: FilebinOptions,
  ports: Ports,
): Promise<PostResult> {
  const bin = createBinClient(host, name, ports);
  let sent = false;
  const look = async ({ files }: BinClient): Promise<PostResult | undefined> => {
    const stored = (await files()).find(isFile(task));
    return stored && { stored, written: sent, confirmed: false };
  };
  try {
    return await withRetries(ports, async () => {
      const there = binIsNew && !sent ? undefined : await look(bin);
      if (there !== undefined) return there;
      sent = true;
      return { stored: await bin.post(task.file, task.filename), written: true, confirmed: true };
    });
  } catch (thrown) {
    if (!ports.signal.aborted || !sent) throw thrown;
    // An answer that nobody waited for may have been a yes.
    const there = await resultOf(() => look(createBinClient(host, name, withCleanupSignal(ports))));
    if (there === undefined || hasFailed(there)) throw thrown;
    return there;
  }
}

const isFile =
  ({ file, filename }: BinTask) =>
  (one: BinFile): boolean =>
    one.filename === filename && one.sha256 === file.sha256;

/** HTML and PDF are sent as attachments there: they never show on the screen. */
const isDownloaded = (name: string): boolean => /\.(html?|xhtml|pdf)$/i.test(name);

function notesOn({ expires, filename }: BinFile): string[] {
  const expiry = expires === undefined ? undefined : shortHostMessage(expires);
  return [
    expiry === undefined ? 'the bin expires after about 7 days' : `the bin expires at ${expiry}`,
    'it is public to anyone with the link; a browser may be shown a warning page first',
    ...(isDownloaded(filename) ? ['this kind of file is downloaded there, not shown on the screen'] : []),
  ];
}
