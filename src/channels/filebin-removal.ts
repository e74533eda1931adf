import { settled } from '../errors.ts';
import { pooled } from '../pool.ts';
import type { Ports } from '../ports.ts';
import { BATCH } from '../protocol/limits.ts';
import { retrying } from '../retry.ts';
import { binFileName, flatName } from '../rules/naming.ts';
import type { Channel } from './channel.ts';
import type { FilebinOptions } from './filebin.ts';
import { openBin } from './filebin-host.ts';

/** K3 backwards: whoever knows the bin may delete its files; anybody else can't name it. */
export function createFilebinRemoval({ host, bin: name }: FilebinOptions, ports: Ports): Channel<string> {
  const bin = openBin(host, name, ports);
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
            promise: 'is taken away',
          },
          task: filename,
        };
      }),
    foresee: async (intents) => intents.map(({ task }) => `${task} would be deleted`),
    place: (intents) =>
      pooled(intents, BATCH.reads, ({ task }) =>
        settled(async () => {
          const removed = await retrying(ports, () => bin.remove(task));
          return {
            evidence: removed ? `bin ${name}, file ${task} is deleted` : 'nothing stands there any more',
            url: bin.address(task),
            written: removed,
            bustCaches: false,
            mayAlter: false,
            mustBeExternal: false,
            notes: [],
            unknown: [],
          };
        }),
      ),
  };
}
