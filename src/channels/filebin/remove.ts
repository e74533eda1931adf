import { forEachItem } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { binFileName, flatName } from '../../rules/naming.ts';
import type { ChannelAction, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { type BinClient, createBinClient } from './bin-client.ts';
import type { FilebinOptions } from './publish.ts';

/** K3: deletes files from a bin. Anybody who knows the bin's name may do so; nobody else can name it. */
export function createFilebinRemover(options: FilebinOptions, ports: Ports): ChannelAction<string> {
  const client = createBinClient(options, ports);
  return {
    prepare: (items) => forEachItem(items, async (item) => prepareRemoval(item, options)),
    preview: (tasks) => forEachItem(tasks, async ({ data }) => `${data} would be deleted`),
    perform: (tasks) =>
      forEachItem(tasks, ({ data }) => removeFile(data, client, options, ports), BATCH.reads),
  };
}

function prepareRemoval({ name }: ChannelItem, { bin }: FilebinOptions): PreparedTask<string> {
  const filename = binFileName(flatName(name));
  return {
    plan: {
      channel: 'K3',
      method: 'one DELETE',
      destination: `bin ${bin}, name ${filename}`,
      name: filename,
      claim: 'is removed',
    },
    data: filename,
  };
}

async function removeFile(
  filename: string,
  client: BinClient,
  { bin }: FilebinOptions,
  ports: Ports,
): Promise<Placement> {
  const removed = await withRetries(ports, () => client.remove(filename));
  return {
    evidence: removed ? `bin ${bin}, file ${filename} is deleted` : 'nothing exists there any more',
    url: client.address(filename),
    written: removed,
    bypassCache: false,
    hostMayChangeBytes: false,
    mustBeExternal: false,
    notes: [],
    unknown: [],
  };
}
