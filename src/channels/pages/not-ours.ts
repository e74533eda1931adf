import { DeliveryError } from '../../errors.ts';
import { nameFew } from '../../plain-text.ts';
import type { Text } from '../../words.ts';
import { parseMessage } from './commit-message.ts';
import { isPictureOf } from './pictures.ts';
import { isFolderPath, isRemoval, type PagesTask } from './target.ts';

/**
 * Why a place is not touched: what others have there.
 *
 * @param paths what it holds of others
 * @param message of the last commit that touched the place
 * @see protocol 7 (prohibition 4)
 */
export function notOwnedError(task: PagesTask, paths: readonly string[], message = ''): DeliveryError {
  const { place, target, pictures, destination } = task;
  const picture = pictures && paths.find((path) => isPictureOf(path, destination.path));
  if (picture !== undefined) {
    return notOursError(
      `${picture}, where the picture goes, already exists in the repository, and it is no picture that this tool took of the page`,
      (w) => `set ${w.input('picture', 'false')}, or ${w.input('overwrite', 'true')} to replace it`,
    );
  }
  if (isFolderPath(place)) {
    const within = paths.map((path) => path.slice(place.length));
    return notOursError(
      `the folder ${place || './'} of the repository has files that this tool did not deliver: ${nameFew(within)}`,
      (w) =>
        `set ${w.input('path')} to a folder of its own, or ${w.input('overwrite', 'true')} if you may replace these files`,
    );
  }
  const isThere = `${place} already exists in the repository, and`;
  if (target.options.confinement !== undefined) {
    return notOursError(
      `${isThere} what it holds now was not delivered by the same confined job`,
      (w) => `set ${w.input('name')} to another name`,
    );
  }
  const verb = isRemoval(task) ? 'remove' : 'replace';
  const { delivered } = parseMessage(message) ?? {};
  if (delivered === undefined || !isFolderPath(delivered.place)) {
    return notOursError(
      `${isThere} this tool did not deliver what it holds now`,
      (w) =>
        `set ${w.input('path')} to another place, or ${w.input('overwrite', 'true')} if you may ${verb} that file`,
    );
  }
  const folder = delivered.place || './';
  return notOursError(
    `${isThere} it came with the folder ${folder} that was delivered as a whole`,
    (w) =>
      `deliver the folder again with what you want, set ${w.input('path', folder)} to withdraw all of it, or ${w.input('overwrite', 'true')} if you may ${verb} that file alone`,
  );
}

/** A file is in the place of a folder, or the other way round: that is never replaced. */
export const blockedError = (folder: string, paths: readonly string[]): DeliveryError =>
  notOursError(
    `the folder ${folder || './'} of the repository can not hold the site: a file of others is in the place of a folder, or a folder in that of a file: ${nameFew(paths)}`,
    (w) => `set ${w.input('path')} to a folder of its own`,
  );

const notOursError = (message: string, hint: Text): DeliveryError =>
  new DeliveryError('NOT_OURS', message, { hint, leftBehind: [] });
