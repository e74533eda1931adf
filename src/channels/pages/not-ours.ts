import { DeliveryError } from '../../errors.ts';
import type { CommitSummary } from '../../github/api/history.ts';
import { nameFew } from '../../plain-text.ts';
import { isFolderPath } from '../../rules/naming.ts';
import type { Text, Words } from '../../words.ts';
import { parseMessage } from './commit-message.ts';
import type { PagesOptions } from './destination.ts';
import { listPicturePaths } from './pictures.ts';
import { isRemoval, type PagesTask } from './target.ts';

/** Explains why a path isn't touched. @param last the last commit that touched it @see protocol 7 (prohibition 4) */
export function notOwnedError(task: PagesTask, paths: readonly string[], last?: CommitSummary | null) {
  const { target, pictures, destination } = task;
  const pages = pictures ? listPicturePaths(destination.entryPath) : [];
  const picture = paths.find((path) => pages.includes(path));
  if (picture !== undefined) {
    return notOursError(
      `${picture} has the path of the page's picture, and this tool didn't take it of this page`,
      (w) => `set ${w.input('picture', 'false')}${w.orSet('overwrite', 'true', ' to replace it')}`,
    );
  }
  return findPartError(task, last?.message) ?? foreignError(target.options, paths, last?.isFirst, task);
}

/** A last way out of a refusal. `overwrite` never withdraws the whole site. */
export function orOverwrite(w: Words, when: string, task?: PagesTask): string {
  const isWhole = task && isRemoval(task) && task.destination.siteRoot.startsWith(task.itemPath);
  return w.orSet(
    'overwrite',
    'true',
    isWhole ? ' to deliver it once, and withdraw it afterwards' : ` ${when}`,
  );
}

/** Explains that another file owns the page's URL. @param isSafe whether its bytes tell both apart */
export function takenPageError(
  { itemPath, target }: PagesTask,
  { rival, path }: { readonly rival: string; readonly path: string },
  isSafe = true,
): DeliveryError {
  const isConfined = target.options.confine !== undefined;
  return notOursError(`${rival} is on the branch, and Jekyll shows it at the URL of ${path}`, (w) =>
    isConfined
      ? `set ${w.input('name')} to another name`
      : `set ${w.input('path')} to ${isFolderPath(itemPath) ? 'a folder of its own' : 'another name'}${isSafe ? w.orSet('overwrite', 'true', ' to show your page at that URL anyway') : `, or remove ${rival}`}`,
  );
}

function findPartError(task: PagesTask, message = ''): DeliveryError | null {
  const { itemPath, target } = task;
  const { isRestricted, name } = target.options.deliverer ?? {};
  const { delivered, deliverer } = parseMessage(message) ?? {};
  const { itemPath: whole = itemPath } = delivered ?? {};
  const isOthers = isRestricted === true && deliverer?.name !== name;
  if (whole === itemPath || !itemPath.startsWith(whole) || isOthers) return null;
  const folder = whole || './';
  const [all, alone] = isRemoval(task) ? ['withdraw', 'remove'] : ['deliver', 'replace'];
  return notOursError(
    `${itemPath} already exists in the repository, and it came with the folder ${folder} that was delivered as a whole`,
    (w) => {
      // An agent names a path in one tool, and a URL in another one.
      const way = isRestricted
        ? `${all} the folder ${folder}`
        : `set ${w.input('path', folder)} to ${all} all of it`;
      return `${way}${w.orSet('overwrite', 'true', ` if you may ${alone} ${itemPath} alone`)}`;
    },
  );
}

export type DeliveryOwner = Pick<PagesOptions, 'deliverer' | 'confine' | 'overwrite' | 'isRemoval'>;

/** Others own the paths, or nobody can tell. @param isFirst whether the history begins there, as after a squash */
export function foreignError(
  { deliverer, confine, isRemoval }: DeliveryOwner,
  paths: readonly string[],
  isFirst = false,
  task?: PagesTask,
): DeliveryError {
  const others = confine === undefined ? deliverer?.name : 'the same confined job';
  const [exists, its] = paths.length === 1 ? ['exists', 'its'] : ['exist', 'their'];
  const why = isFirst
    ? "the branch's history begins with it (perhaps rewritten, as by a squash), so it is unknown who delivered it"
    : `no record shows that ${deliverer?.isRestricted ? others : 'this tool'} delivered ${its} current content`;
  const named = nameFew(paths.map((path) => path || './'));
  const end = isRemoval ? '; nothing was removed' : '';
  return notOursError(`${named} already ${exists} in the repository, and ${why}${end}`, (w) => {
    if (!isRemoval && confine !== undefined) return `set ${w.input('name')} to another name`;
    const when = isFirst ? 'once, if it is yours' : `if you may ${isRemoval ? 'remove' : 'replace'} it`;
    const overwrite = orOverwrite(w, when, task);
    if (isRemoval) return `leave it there${overwrite}`;
    const pathHint = deliverer?.isRestricted ? `leave out ${w.input('path')}` : `set ${w.input('path')}`;
    return `${pathHint} ${deliverer?.isRestricted ? 'for' : 'to'} a path that nothing else uses${overwrite}`;
  });
}

export const notOursError = (message: string, hint: Text): DeliveryError =>
  new DeliveryError('NOT_OURS', message, { hint, leftBehind: [] });
