import { mapConcurrently } from '../../async.ts';
import { resultOf } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { BATCH } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { binFileName, flatName } from '../../rules/naming.ts';
import type { Channel } from '../channel.ts';
import { createBinClient } from './bin-client.ts';
import type { FilebinOptions } from './publish.ts';

/** K3 backwards: whoever knows the bin may delete its files; anybody else can't name it. */
export function createFilebinRemoval({ host, bin: name }: FilebinOptions, ports: Ports): Channel<string> {
  const bin = createBinClient(host, name, ports);
  return {
    key: 'K3',
    prepare: async (parcels) =>
      parcels.map((parcel) => {
        const filename = binFileName(flatName(parcel.name));
        return {
          plan: {
            channel: 'K3',
            method: 'one DELETE',
            destination: `bin ${name}, name ${filename}`,
            name: filename,
            claim: 'is taken away',
          },
          task: filename,
        };
      }),
    preview: async (intents) => intents.map(({ task }) => `${task} would be deleted`),
    publish: (intents) =>
      mapConcurrently(intents, BATCH.reads, ({ task }) =>
        resultOf(async () => {
          const removed = await withRetries(ports, () => bin.remove(task));
          return {
            evidence: removed ? `bin ${name}, file ${task} is deleted` : 'nothing stands there any more',
            url: bin.address(task),
            written: removed,
            bypassCache: false,
            hostMayChangeBytes: false,
            mustBeExternal: false,
            notes: [],
            unknown: [],
          };
        }),
      ),
  };
}
