import { DeliveryError } from '../../errors.ts';
import type { CommitSummary } from '../../github/api/history.ts';
import { nameFew } from '../../plain-text.ts';
import type { Text } from '../../words.ts';
import { parseMessage } from './commit-message.ts';
import type { PagesOptions } from './destination.ts';
import { isPictureOf } from './pictures.ts';
import { isFolderPath, isRemoval, type PagesTask } from './target.ts';

/** Why a place is not touched. @param last the last commit that touched it @see protocol 7 (prohibition 4) */
export function notOwnedError(task: PagesTask, paths: readonly string[], last?: CommitSummary | null) {
  const { target, pictures, destination } = task;
  const picture = pictures && paths.find((path) => isPictureOf(path, destination.entryPath));
  if (picture !== undefined) {
    return notOursError(
      `${picture}, where the picture goes, already exists in the repository, and it is no picture that this tool took of the page`,
      (w) => `set ${w.input('picture', 'false')}, or ${w.input('overwrite', 'true')} to replace it`,
    );
  }
  const partError = target.options.deliverer?.isRestricted ? null : findPartError(task, last?.message);
  return partError ?? foreignError(target.options, paths, last?.isFirst);
}

/** Why a file is not placed where a person's file has the address. @param isSafe whether its bytes tell which of both is served */
export function takenPageError(
  { itemPath, target }: PagesTask,
  { rival, path }: { readonly rival: string; readonly path: string },
  isSafe = true,
): DeliveryError {
  const isConfined = target.options.confine !== undefined;
  return notOursError(`${rival} is on the branch, and Jekyll shows it where the page of ${path} goes`, (w) =>
    isConfined
      ? `set ${w.input('name')} to another name`
      : `set ${w.input('path')} to ${isFolderPath(itemPath) ? 'a folder of its own' : 'another name'}, or ${isSafe ? `${w.input('overwrite', 'true')} if it may take that address` : `remove ${rival}`}`,
  );
}

/** Why a part of a folder is not touched alone; `null` for what was not delivered with one. @param message as above */
function findPartError(task: PagesTask, message = ''): DeliveryError | null {
  const { itemPath } = task;
  const { itemPath: whole = itemPath } = parseMessage(message)?.delivered ?? {};
  if (whole === itemPath || !itemPath.startsWith(whole)) return null;
  const [all, alone] = isRemoval(task) ? ['withdraw', 'remove'] : ['deliver', 'replace'];
  return notOursError(
    `${itemPath} already exists in the repository, and it came with the folder ${whole || './'} that was delivered as a whole`,
    (w) =>
      `set ${w.input('path', whole || './')} to ${all} all of it, or ${w.input('overwrite', 'true')} if you may ${alone} ${itemPath} alone`,
  );
}

/** What decides whose deliveries may be replaced and removed. */
export type DeliveryOwner = Pick<PagesOptions, 'deliverer' | 'confine' | 'overwrite' | 'isRemoval'>;

/** Somebody else has it, or nothing tells whose it is. @param isFirst whether the history begins with it, as after a squash */
export function foreignError(
  { deliverer: from, confine, isRemoval }: DeliveryOwner,
  paths: readonly string[],
  isFirst = false,
): DeliveryError {
  const others = confine === undefined ? from?.name : 'the same confined job';
  const [exists, holds] = paths.length === 1 ? ['exists', 'what it holds'] : ['exist', 'what they hold'];
  const why = isFirst
    ? "the branch's history begins with that (it may have been rewritten, as by a squash), so nothing tells who delivered it"
    : `${holds} now is not known to be delivered by ${from?.isRestricted ? others : 'this tool'}`;
  const named = nameFew(paths.map((path) => path || './'));
  const end = isRemoval ? '; nothing was removed' : '';
  return notOursError(`${named} already ${exists} in the repository, and ${why}${end}`, (w) => {
    if (!isRemoval && confine !== undefined) return `set ${w.input('name')} to another name`;
    const when = isFirst ? 'once, if it is yours' : `if you may ${isRemoval ? 'remove' : 'replace'} it`;
    const overwrite = `set ${w.input('overwrite', 'true')} ${when}`;
    if (isRemoval) return `leave it there, or ${overwrite}`;
    const other = from?.isRestricted
      ? `leave out ${w.input('path')} for a place of its own`
      : `set ${w.input('path')} to a path that nothing else uses`;
    return `${other}, or ${overwrite}`;
  });
}

export const notOursError = (message: string, hint: Text): DeliveryError =>
  new DeliveryError('NOT_OURS', message, { hint, leftBehind: [] });
