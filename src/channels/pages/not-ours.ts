import { DeliveryError } from '../../errors.ts';
import { nameFew } from '../../plain-text.ts';
import { parseMessage } from './commit-message.ts';

/** @see protocol 7 (prohibition 4) */
export function pictureNotOwnedError(path: string): DeliveryError {
  return new DeliveryError(
    'NOT_OURS',
    `${path}, where the picture goes, already exists in the repository, and it is no picture that this tool took of the page`,
    { hint: (w) => `set ${w.input('picture', 'false')}, or ${w.input('overwrite', 'true')} to replace it` },
  );
}

/** @see protocol 7 (prohibition 4) */
export function notConfinedError(path: string): DeliveryError {
  return new DeliveryError(
    'NOT_OURS',
    `${path} already exists in the repository, and what it holds now was not delivered by the same confined job`,
    { hint: (w) => `set ${w.input('name')} to another name` },
  );
}

/** @param message of the last commit that touched the path @see protocol 7 (prohibition 4) */
export function notOwnedError(path: string, isRemoval: boolean, message = ''): DeliveryError {
  const { site } = parseMessage(message) ?? {};
  const isPartOfSite = site !== undefined && path.startsWith(site.folder);
  const folder = site?.folder || './';
  return new DeliveryError(
    'NOT_OURS',
    isPartOfSite
      ? `${path} already exists in the repository, and it came with the folder ${folder} that was delivered as a whole`
      : `${path} already exists in the repository, and this tool did not deliver what it holds now`,
    {
      hint: isPartOfSite
        ? (w) =>
            `deliver the folder again with what you want, set ${w.input('path', folder)} to withdraw all of it, or ${w.input('overwrite', 'true')} if you may ${isRemoval ? 'remove' : 'replace'} that file alone`
        : (w) =>
            `set ${w.input('path')} to another place, or ${w.input('overwrite', 'true')} if you may ${isRemoval ? 'remove' : 'replace'} that file`,
    },
  );
}

/** @param isBlocked whether a file is in the place of a folder, or the other way round: that is never replaced */
export function refuseOthers(folder: string, paths: readonly string[], isBlocked: boolean): void {
  if (paths.length === 0) return;
  throw new DeliveryError(
    'NOT_OURS',
    `the folder ${folder || './'} of the repository ${isBlocked ? 'can not hold the site: a file of others is in the place of a folder, or a folder in that of a file' : 'has files that this tool did not deliver'}: ${nameFew(paths)}`,
    {
      hint: isBlocked
        ? (w) => `set ${w.input('path')} to a folder of its own`
        : (w) =>
            `set ${w.input('path')} to a folder of its own, or ${w.input('overwrite', 'true')} if you may replace these files`,
      leftBehind: [],
    },
  );
}
