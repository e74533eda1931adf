import { DeliveryError, hasFailed } from '../../errors.ts';
import type { FileChange } from '../../github/api/git-data.ts';
import type { ItemResult } from '../../item-results.ts';
import type { Ports } from '../../ports.ts';
import type { Placement, PreparedTask } from '../channel.ts';
import { commitFiles } from './commit.ts';
import { COMMIT_METHODS, type CommitTarget, methodOf } from './commit-methods.ts';
import { type CommitResult, comparePaths, isChange } from './compare-paths.ts';
import type { PagesTask } from './pages-task.ts';

/**
 * What committing would do: the first line of each message, or that nothing has to be done.
 *
 * @param describe says so of a path that is as wanted
 */
export async function previewCommits(
  tasks: readonly PreparedTask<PagesTask>[],
  describe: (done: CommitResult) => string,
): Promise<readonly ItemResult<PreparedTask<PagesTask>, string>[]> {
  return joinByPath(
    tasks,
    (wanted, target) => comparePaths(wanted, target),
    (state, { target }) => (isChange(state) ? describeChange(state, target) : describe(state)),
  );
}

/** The first line of the message; and the method, where it is another one than planned. */
function describeChange(change: FileChange, target: Pick<CommitTarget, 'method'>): string {
  const [line = ''] = change.message.split('\n');
  const method = methodOf([change], target);
  return method === target.method
    ? line
    : `${line}, by ${COMMIT_METHODS[method]}, because its pictures change with it`;
}

/** Commits the tasks together, and gives each its placement. */
export function commitTasks(
  tasks: readonly PreparedTask<PagesTask>[],
  ports: Ports,
  placementOf: (done: CommitResult, task: PagesTask) => Placement,
  onReplace?: (path: string) => Promise<void>,
): Promise<readonly ItemResult<PreparedTask<PagesTask>, Placement>[]> {
  return joinByPath(tasks, (wanted, target) => commitFiles(wanted, target, ports, onReplace), placementOf);
}

/** Works on all paths of the branch at once, and gives each task its own result. */
async function joinByPath<State, Value>(
  tasks: readonly PreparedTask<PagesTask>[],
  work: (
    wanted: readonly PagesTask[],
    target: CommitTarget,
  ) => Promise<readonly ItemResult<Pick<PagesTask, 'path'>, State>[]>,
  convert: (state: State, task: PagesTask) => Value,
): Promise<readonly ItemResult<PreparedTask<PagesTask>, Value>[]> {
  const [first] = tasks;
  if (first === undefined) return [];
  const results = await work(
    tasks.map(({ data }) => data),
    first.data.target,
  );
  const byPath = new Map(results.map(({ item, result }) => [item.path, result]));
  return tasks.map((item) => {
    const state = byPath.get(item.data.path) ?? new DeliveryError('INTERNAL', 'the path was left out');
    return { item, result: hasFailed(state) ? state : convert(state as State, item.data) };
  });
}
