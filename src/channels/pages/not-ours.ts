import { DeliveryError } from '../../errors.ts';
import type { CommitWords } from '../../github/api/history.ts';
import { nameFew } from '../../plain-text.ts';
import type { Text } from '../../words.ts';
import { parseMessage } from './commit-message.ts';
import type { PagesOptions } from './destination.ts';
import { isPictureOf } from './pictures.ts';
import { isFolderPath, isRemoval, type PagesTask } from './target.ts';

/** Why a place is not touched. @param last the last commit that touched it @see protocol 7 (prohibition 4) */
export function notOwnedError(
  task: PagesTask,
  paths: readonly string[],
  last?: CommitWords | null,
): DeliveryError {
  const { place, target, pictures, destination } = task;
  const picture = pictures && paths.find((path) => isPictureOf(path, destination.path));
  if (picture !== undefined) {
    return notOursError(
      `${picture}, where the picture goes, already exists in the repository, and it is no picture that this tool took of the page`,
      (w) => `set ${w.input('picture', 'false')}, or ${w.input('overwrite', 'true')} to replace it`,
    );
  }
  if (target.options.from?.isAlone) return otherOwnerError(target.options, paths);
  const isFolder = isFolderPath(place);
  const partError = findPartError(task, last?.message);
  if (partError !== null) return partError;
  const within = nameFew(paths.map((path) => path.slice(place.length)));
  if (last?.isFirst) {
    return rewrittenError(
      isFolder
        ? `the folder ${place || './'} of the repository has ${within}`
        : `the repository has ${place}`,
    );
  }
  return notOursError(
    isFolder
      ? `the folder ${place || './'} of the repository has files that this tool is not known to have delivered: ${within}`
      : isRemoval(task)
        ? `this tool is not known to have delivered ${place} as it is now, so it was not removed`
        : `${place} already exists in the repository, and this tool is not known to have delivered what it holds now`,
    (w) =>
      isRemoval(task)
        ? `leave it there, or set ${w.input('overwrite', 'true')} if you may remove that file`
        : `set ${w.input('path')} to ${isFolder ? 'a folder of its own' : 'another place'}, or ${w.input('overwrite', 'true')} if you may replace ${isFolder ? 'these files' : 'that file'}`,
  );
}

/** Why a file is not placed where a person's file has the address. @param isSafe whether its bytes tell which of both is served */
export function takenPageError(
  { place, target }: PagesTask,
  { rival, path }: { readonly rival: string; readonly path: string },
  isSafe = true,
): DeliveryError {
  const isConfined = target.options.confine !== undefined;
  return notOursError(`${rival} is on the branch, and Jekyll shows it where the page of ${path} goes`, (w) =>
    isConfined
      ? `set ${w.input('name')} to another name`
      : `set ${w.input('path')} to ${isFolderPath(place) ? 'a folder of its own' : 'another name'}, or ${isSafe ? `${w.input('overwrite', 'true')} if it may take that address` : `remove ${rival}`}`,
  );
}

/** Why a part of a folder is not touched alone; `null` for what was not delivered with one. @param message as above */
export function findPartError(task: PagesTask, message = ''): DeliveryError | null {
  const { place } = task;
  const { place: whole = place } = parseMessage(message)?.delivered ?? {};
  if (whole === place || !place.startsWith(whole)) return null;
  const [all, alone] = isRemoval(task) ? ['withdraw', 'remove'] : ['deliver', 'replace'];
  return notOursError(
    `${place} already exists in the repository, and it came with the folder ${whole || './'} that was delivered as a whole`,
    (w) =>
      `set ${w.input('path', whole || './')} to ${all} all of it, or ${w.input('overwrite', 'true')} if you may ${alone} ${place} alone`,
  );
}

/** What decides whose deliveries may be replaced and removed. */
export type DeliveryOwner = Pick<PagesOptions, 'from' | 'confine' | 'overwrite' | 'isRemoval'>;

/** Who delivers alone replaces and removes nothing of others. @param paths what they have there */
export function otherOwnerError(
  { from, confine, isRemoval: isGone }: DeliveryOwner,
  paths: readonly string[],
): DeliveryError {
  const by = `is not known to be delivered by ${confine === undefined ? from?.name : 'the same confined job'}`;
  const named = nameFew(paths.map((path) => path || './'));
  if (isGone) {
    return notOursError(
      `${named} ${by}, so nothing was removed`,
      (w) => `leave it there, or set ${w.input('overwrite', 'true')}`,
    );
  }
  return notOursError(`${named} already exists in the repository, and what it holds now ${by}`, (w) =>
    confine === undefined
      ? `leave out ${w.input('path')} for a place of its own, or set ${w.input('overwrite', 'true')}`
      : `set ${w.input('name')} to another name`,
  );
}

/** Nothing tells any more whose it is: a squash leaves one commit. @param what the branch has */
export const rewrittenError = (what: string): DeliveryError =>
  notOursError(
    `${what}, and its history begins with that (it may have been rewritten, as by a squash), so nothing tells who delivered it`,
    (w) => `set ${w.input('overwrite', 'true')} once, if it is yours`,
  );

export const notOursError = (message: string, hint: Text): DeliveryError =>
  new DeliveryError('NOT_OURS', message, { hint, leftBehind: [] });
