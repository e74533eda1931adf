import { withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, resultOf, toDeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { forEachItem, type ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import { binFileName, flatName } from '../../rules/naming.ts';
import type { ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type BinClient, type BinFile, createBinClient } from './bin-client.ts';

export interface FilebinOptions {
  readonly binHostUrl: URL;
  /** The bin's name. */
  readonly bin: string;
  /** Whether the name was just generated, so that nothing can be there yet. */
  readonly binIsNew: boolean;
}

/** One file that is posted. */
export interface BinUpload {
  readonly file: LocalFile;
  readonly filename: string;
}

type UploadTasks = readonly PreparedTask<BinUpload>[];

/**
 * K3: posts files to the anonymous file-bin, and locks the bin after the last one.
 *
 * @see protocol 4.4
 */
export function createFilebinPublisher(options: FilebinOptions, ports: Ports): ChannelAction<BinUpload> {
  return {
    prepare: (items) => forEachItem(items, async (item) => prepareUpload(item, options)),
    async preview(tasks) {
      const existing = options.binIsNew ? [] : await createBinClient(options, ports).files();
      return forEachItem(tasks, async ({ data }) =>
        existing.some(isFile(data))
          ? 'the bin already holds these bytes'
          : `${data.filename} would be posted`,
      );
    },
    perform: (tasks) => postFiles(tasks, options, ports),
  };
}

function prepareUpload({ file, name }: ChannelItem, { bin }: FilebinOptions): PreparedTask<BinUpload> {
  if (file === null) {
    throw new DeliveryError('BAD_INPUT', 'channel K3 needs a file to post', { hint: 'set `file:`' });
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
    data: { file, filename },
  };
}

interface PostResult {
  readonly stored: BinFile;
  readonly written: boolean;
  /** Whether the host answered 201; `false` where the file was found. */
  readonly confirmed: boolean;
}

async function postFiles(
  tasks: UploadTasks,
  options: FilebinOptions,
  ports: Ports,
): Promise<readonly ItemResult<UploadTasks[number], Placement>[]> {
  const posted = await forEachItem(tasks, ({ data }) => postFile(data, options, ports));
  // The host decides on the bin's name.
  const bins = posted.flatMap(({ result }) =>
    hasFailed(result) || !result.written ? [] : [result.stored.bin],
  );
  const unlocked = new Set<string>();
  for (const bin of new Set(bins)) {
    if (!(await createBinClient({ ...options, bin }, ports).lock())) unlocked.add(bin);
  }
  return posted.map(({ item, result }) => {
    if (hasFailed(result)) return { item, result };
    const { bin, filename } = result.stored;
    const url = createBinClient({ ...options, bin }, ports).address(filename);
    return { item, result: binPlacement(result, url, !unlocked.has(bin)) };
  });
}

function binPlacement({ stored, written, confirmed }: PostResult, url: URL, isLocked: boolean): Placement {
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
    warnsFirst: true,
    notes: binNotes(stored),
    unknown: isLocked ? [] : ['the bin could not be locked: anybody who knows its name can add to it'],
  };
}

/** Lists the bin first wherever the file may be there: in a bin of a known name, and after a failed attempt. */
async function postFile(upload: BinUpload, options: FilebinOptions, ports: Ports): Promise<PostResult> {
  const client = createBinClient(options, ports);
  let sent = false;
  const findPosted = async ({ files }: BinClient): Promise<PostResult | undefined> => {
    const stored = (await files()).find(isFile(upload));
    return stored && { stored, written: sent, confirmed: false };
  };
  try {
    return await withRetries(ports, async () => {
      const existing = options.binIsNew && !sent ? undefined : await findPosted(client);
      if (existing !== undefined) return existing;
      sent = true;
      return { stored: await client.post(upload.file, upload.filename), written: true, confirmed: true };
    });
  } catch (thrown) {
    if (!sent) throw toDeliveryError(thrown).withLeftBehind([]);
    if (!ports.signal.aborted) throw thrown;
    // The upload may have succeeded although its answer did not arrive.
    const existing = await resultOf(() => findPosted(createBinClient(options, withCleanupSignal(ports))));
    if (existing === undefined || hasFailed(existing)) throw thrown;
    return existing;
  }
}

const isFile =
  ({ file, filename }: BinUpload) =>
  (stored: BinFile): boolean =>
    stored.filename === filename && stored.sha256 === file.sha256;

/** HTML and PDF are sent as attachments there: they are never shown on the screen. */
const isDownloaded = (name: string): boolean => /\.(html?|xhtml|pdf)$/i.test(name);

function binNotes({ expires, filename }: BinFile): string[] {
  return [
    expires === undefined
      ? 'the bin expires after about 7 days'
      : `the bin expires at ${shortHostMessage(expires)}`,
    'it is public to anyone with the link; a browser may be shown a warning page first',
    ...(isDownloaded(filename) ? ['this kind of file is downloaded there, not shown on the screen'] : []),
  ];
}
