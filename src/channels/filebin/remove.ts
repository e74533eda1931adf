import { forEachItem, type ItemResult } from '../../async.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { binFileName, flatName } from '../../rules/naming.ts';
import type { ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type BinClient, type BinState, createBinClient } from './bin-client.ts';
import { type BinEntry, mayRemove } from './ownership.ts';
import type { FilebinOptions } from './publish.ts';
import { listRefusalsOfDeleted } from './refusals.ts';

type RemovalTasks = readonly PreparedTask<BinEntry>[];

/**
 * K3: deletes files from a bin that the user names. Anybody may delete from a bin: so only a file with the
 * bytes of the file at hand is deleted, unless `overwrite` allows any.
 */
export function createFilebinRemover(options: FilebinOptions, ports: Ports): ChannelAction<BinEntry> {
  const client = createBinClient(options, ports);
  const readState = (): Promise<BinState> => withRetries(ports, client.read);
  return {
    prepare: (items) => forEachItem(items, async (item) => prepareRemoval(item, options)),
    async preview(tasks) {
      const state = await readState();
      return forEachItem(tasks, async ({ data }) =>
        mayRemove(data, state, options) ? `${data.filename} would be deleted` : NOTHING_THERE,
      );
    },
    perform: async (tasks) => removeFiles(tasks, await readState(), options, { client, ports }),
  };
}

const NOTHING_THERE = 'nothing exists there';

function prepareRemoval({ file, name }: ChannelItem, { bin }: FilebinOptions): PreparedTask<BinEntry> {
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
  { client, ports }: { readonly client: BinClient; readonly ports: Ports },
): Promise<readonly ItemResult<RemovalTasks[number], Placement>[]> {
  const remove = async ({ data }: RemovalTasks[number]): Promise<Placement> => {
    const { filename } = data;
    const removed =
      mayRemove(data, state, options) && (await withRetries(ports, () => client.remove(filename)));
    return {
      evidence: removed ? `bin ${options.bin}, file ${filename} is deleted` : NOTHING_THERE,
      url: client.address(filename),
      written: removed,
      refusals: listRefusalsOfDeleted(options.bin),
      bypassCache: false,
      hostMayChangeBytes: false,
      mustBeExternal: false,
      notes: [],
      unknown: [],
    };
  };
  return forEachItem(tasks, remove, BATCH.reads);
}
