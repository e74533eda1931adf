import { forEachItem, type ItemResult } from '../../async.ts';
import type { Ports } from '../../ports.ts';
import { BIN } from '../../protocol/calls.ts';
import { BATCH } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { binFileName, flatName } from '../../rules/naming.ts';
import type { ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type BinEntry, type BinState, deleteFile, readBin, urlFor } from './bin-client.ts';
import { mayRemove } from './ownership.ts';
import type { FilebinOptions } from './publish.ts';
import { listRefusalsOfDeleted } from './refusals.ts';

type RemovalTasks = readonly PreparedTask<BinEntry>[];

/**
 * K3: deletes files from a bin that the user names. Anybody may delete from a bin: so only a file with the
 * bytes of the file at hand is deleted, unless `overwrite` allows any.
 */
export function createFilebinRemover(options: FilebinOptions, ports: Ports): ChannelAction<BinEntry> {
  const readState = (): Promise<BinState> => withRetries(ports, () => readBin(options, ports));
  return {
    prepare: (items) => forEachItem(items, async (item) => prepareDeletion(item, options)),
    async preview(tasks) {
      const state = await readState();
      return forEachItem(tasks, async ({ data }) =>
        mayRemove(data, state, options) ? `${data.filename} would be deleted` : NOTHING_THERE,
      );
    },
    perform: async (tasks) => removeFiles(tasks, await readState(), options, ports),
  };
}

const NOTHING_THERE = 'nothing exists there';

function prepareDeletion({ file, name }: ChannelItem, { bin }: FilebinOptions): PreparedTask<BinEntry> {
  const filename = binFileName(flatName(name));
  return {
    plan: {
      channel: 'K3',
      method: 'one DELETE',
      destination: `bin ${bin}, name ${filename}`,
      name: filename,
      claim: 'is removed',
    },
    data: { filename, sha256: file?.sha256 },
  };
}

function removeFiles(
  tasks: RemovalTasks,
  state: BinState,
  options: FilebinOptions,
  ports: Ports,
): Promise<readonly ItemResult<RemovalTasks[number], Placement>[]> {
  const remove = async ({ data }: RemovalTasks[number]): Promise<Placement> => {
    const { filename } = data;
    const removed =
      mayRemove(data, state, options) &&
      (await withRetries(ports, () => deleteFile(filename, options, ports)));
    return {
      evidence: removed ? `bin ${options.bin}, file ${filename} is deleted` : NOTHING_THERE,
      url: urlFor(BIN.get, options, filename),
      written: removed,
      refusals: listRefusalsOfDeleted(options.bin),
      notes: [],
      unknown: [],
    };
  };
  return forEachItem(tasks, remove, BATCH.reads);
}
