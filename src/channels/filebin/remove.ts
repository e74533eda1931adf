import { forEachItem, forEachOnHost } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { BIN } from '../../protocol/calls.ts';
import { BATCH } from '../../protocol/limits.ts';
import { withRetries } from '../../retry.ts';
import { binFileName, flatName } from '../../rules/naming.ts';
import { type Channel, nameTask, type Placement, type PreparedTask } from '../channel.ts';
import { PLAIN_HOST, pageCheck } from '../host-rules.ts';
import { type BinState, deleteFile, readBin, urlFor } from './bin-client.ts';
import { planInBin } from './publish.ts';
import { listRefusalsOfDeleted } from './refusals.ts';
import type { BinOptions, BinUpload } from './store-file.ts';

interface BinRemoval extends PreparedTask, Pick<BinUpload, 'filename'> {
  /** `undefined` without a file to compare with. */
  readonly sha256: string | undefined;
}

const NOTHING_THERE = 'nothing exists there';

/** K3: deletes only files with the given bytes, unless `overwrite` is set, because anybody may use a named bin. */
export function createFilebinRemover(options: BinOptions, ports: Ports): Channel<BinRemoval> {
  const { bin } = options;
  const host = { ...PLAIN_HOST, refusals: listRefusalsOfDeleted(bin) };

  const read = () => withRetries(ports, () => readBin(options, ports));
  return {
    prepare: (items) =>
      forEachItem(items, async ({ site, name, sha256 }) => {
        const filename = binFileName(flatName(name));
        return {
          plan: planInBin(bin, filename, 'one DELETE', 'is removed'),
          filename,
          sha256: site?.entry.sha256 ?? sha256,
        };
      }),
    async preview(tasks) {
      const state = await read();
      return forEachItem(tasks, async (task) =>
        mayRemove(task, state, options) ? `${task.filename} would be deleted` : NOTHING_THERE,
      );
    },
    async perform(tasks) {
      const state = await read();
      const remove = async (task: BinRemoval): Promise<Placement> => {
        const { filename } = task;
        const isThere = mayRemove(task, state, options);
        const written = isThere && (await withRetries(ports, () => deleteFile(filename, options, ports)));
        return {
          evidence: written ? `bin ${bin}, file ${filename} is deleted` : NOTHING_THERE,
          first: pageCheck(urlFor(BIN.get, options, filename), { is: 'gone' }, host),
          written,
        };
      };
      return forEachOnHost(tasks, nameTask, remove, { atOnce: BATCH.reads });
    },
  };
}

/**
 * @returns whether the file exists
 * @throws {DeliveryError} `NOT_OURS` for other bytes, and without a file to compare with
 */
function mayRemove({ filename, sha256 }: BinRemoval, { files }: BinState, { bin, overwrite }: BinOptions) {
  const named = files.find((file) => file.filename === filename);
  if (named === undefined) return false;
  if (overwrite || (sha256 !== undefined && named.sha256 === sha256)) return true;
  const description =
    sha256 === undefined ? 'no file was given to compare it with' : 'its bytes differ from the given file';
  throw new DeliveryError('NOT_OURS', `${filename} in bin ${bin} may be somebody else's: ${description}`, {
    hint: (w) =>
      `set ${w.input('file')} to the file as it was delivered${w.orSet('overwrite', 'true', ' to delete any file with this name')}`,
  });
}
