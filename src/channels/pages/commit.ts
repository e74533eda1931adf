import { forEachItem, withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import type { Change } from '../../github/change.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { Placement, PreparedTask } from '../channel.ts';
import type { ComparedPlace } from './compare.ts';
import { type BranchComparison, compareFiles } from './compare-files.ts';
import { compareSite, readFolderInBranch } from './compare-folder.ts';
import { compareRemoval } from './compare-removal.ts';
import { listPictures } from './pictures.ts';
import { type CommittedPlace, describeFolder, describePlacement, describeUnchanged } from './placement.ts';
import { type CommitTarget, isFolderPath, isRemoval, methodOf, type PagesTask } from './target.ts';
import { BranchWriter, refuseUnwritable } from './write-changes.ts';

type Tasks = readonly PreparedTask<PagesTask>[];

/** What is compared and written together: all files of a step, or one folder. */
interface TaskGroup {
  readonly tasks: readonly PagesTask[];
  readonly target: CommitTarget;
  /** The folders of the step. */
  readonly together: readonly string[];
}

/** The task with the pictures of its page among its files. */
export function withPictures({ data, pictures }: PreparedTask<PagesTask>): PagesTask {
  if (pictures === undefined) return data;
  return { ...data, pictures, files: [...data.files, ...listPictures(pictures, data.destination.path)] };
}

/**
 * Does work for each group. Files come before the folders that take them over, and after those that are removed: then
 * they are as their folder left them.
 */
async function forEachGroup<Value>(
  prepared: Tasks,
  work: (group: TaskGroup) => Promise<readonly Result<Value>[]>,
): Promise<readonly Result<Value>[]> {
  const all = prepared.map(withPictures);
  const folders = all.filter(({ place }) => isFolderPath(place));
  const files = all.filter(({ place }) => !isFolderPath(place));
  const single = folders.map((one) => [one]);
  const together = folders.map(({ place }) => place);
  const results = new Map<PagesTask, Result<Value>>();
  for (const tasks of all.some(isRemoval) ? [...single, files] : [files, ...single]) {
    const [first] = tasks;
    if (first === undefined) continue;
    const done = await resultOf(() => work({ tasks, target: first.target, together }));
    for (const [nth, task] of tasks.entries()) {
      results.set(task, hasFailed(done) ? done : (done[nth] ?? leftOutError()));
    }
  }
  return all.map((task) => results.get(task) ?? leftOutError());
}

/** Compares a group with the branch as it is now. @param sent the places that earlier attempts may have changed */
async function compareGroup(
  { tasks, together }: TaskGroup,
  sent: ReadonlySet<string> = new Set(),
): Promise<BranchComparison> {
  const [first] = tasks;
  if (first === undefined || !isFolderPath(first.place)) return compareFiles(tasks, sent);
  const folder = await readFolderInBranch(first);
  const place = isRemoval(first) ? compareRemoval(folder, sent.size > 0) : compareSite(folder, together);
  return { head: folder.tree.head, places: [await place] };
}

/** What committing would do: the first line of each commit's message, or that nothing has to be done. Reads only. */
export function previewCommits(
  prepared: Tasks,
  ports: Pick<Ports, 'signal'>,
): Promise<readonly Result<string>[]> {
  return forEachGroup(prepared, async (group) => {
    const { places } = await compareGroup(group);
    return forEachItem(places, async (place) => {
      if (hasFailed(place)) throw place;
      const { task, change } = place;
      if (change === undefined) return describeUnchanged(place);
      if (isFolderPath(task.place) && !isRemoval(task)) await refuseUnwritable(change, group.target, ports);
      const further = isFolderPath(task.place) ? ` (${describeFolder(place).join('; ')})` : '';
      return `commit "${change.message.split('\n')[0]}"${further}`;
    });
  });
}

/**
 * Compares, and makes a commit for each place that needs one: an update of the branch for all files, and for each folder.
 *
 * @returns an error says whether anything may have been written
 */
export const commitTasks = (prepared: Tasks, ports: Ports): Promise<readonly Result<Placement>[]> =>
  forEachGroup(prepared, async (group) => {
    const commit = new GroupCommit(group, ports);
    const done = await withRetries(ports, () => commit.attempt()).catch((thrown: unknown) =>
      commit.findArrived(toDeliveryError(thrown)),
    );
    return done.map((one) => (hasFailed(one) ? one : describePlacement(one, ports.logger)));
  });

/** Each attempt compares first: what an earlier one has committed is not committed again. */
class GroupCommit {
  readonly #group: TaskGroup;
  readonly #ports: Ports;
  readonly #writer: BranchWriter;
  /** What was sent last to each place. */
  readonly #sent = new Map<string, ComparedPlace>();
  /** The comparison that the next attempt need not repeat. */
  #known: BranchComparison | null = null;

  constructor(group: TaskGroup, ports: Ports) {
    this.#group = group;
    this.#ports = ports;
    this.#writer = new BranchWriter(group.target, ports);
  }

  async attempt(): Promise<readonly Result<CommittedPlace>[]> {
    const compared = this.#known ?? (await this.#compare());
    this.#known = null;
    const changes = compared.places.flatMap((place) => {
      if (hasFailed(place) || place.change === undefined) return [];
      this.#sent.set(place.task.place, place);
      return [place.change];
    });
    if (changes.length === 0) return this.#finish(compared, leftOutError);
    const commits = await this.#writer.write(changes, compared.head).catch((thrown: unknown) => {
      this.#known = isStillTrue(thrown, changes, this.#group.target) ? compared : null;
      throw thrown;
    });
    return this.#finish(compared, (change) => commits[changes.indexOf(change)] ?? leftOutError());
  }

  /** After a stop, the branch may hold a commit whose answer did not arrive. @throws the error where it is not known */
  async findArrived(error: DeliveryError): Promise<readonly Result<CommittedPlace>[]> {
    if (this.#sent.size === 0) throw error.withLeftBehind([]);
    if (!this.#ports.signal.aborted) throw error;
    const github = this.#group.target.github.withSignal(withCleanupSignal(this.#ports).signal);
    const arrived = await resultOf(() => this.#compare(github));
    if (hasFailed(arrived)) throw error;
    return this.#finish(arrived, () => error);
  }

  #compare(github = this.#group.target.github): Promise<BranchComparison> {
    const tasks = this.#group.tasks.map((one) => ({ ...one, target: { ...one.target, github } }));
    return compareGroup({ ...this.#group, tasks }, new Set(this.#sent.keys()));
  }

  #finish(
    { places }: BranchComparison,
    conclude: (change: Change) => Result<string>,
  ): readonly Result<CommittedPlace>[] {
    return places.map((now) => {
      // After a stop it is not known what the last write did.
      if (hasFailed(now)) return this.#ports.signal.aborted ? now : now.withLeftBehind([]);
      const commitSha = now.change === undefined ? now.commitSha : conclude(now.change);
      if (hasFailed(commitSha)) return commitSha;
      const sent = this.#sent.get(now.task.place);
      const written = sent !== undefined;
      const method = written ? this.#writer.method : undefined;
      return { ...(sent ?? now), commitSha, written, method };
    });
  }
}

const leftOutError = (): DeliveryError => new DeliveryError('INTERNAL', 'no commit was made');

/**
 * Whether the comparison need not be repeated: the host refused the write because the branch moved, and a write
 * without a sha replaces nothing. With many writers at once this saves half of all calls.
 */
function isStillTrue(thrown: unknown, changes: readonly Change[], target: CommitTarget): boolean {
  const { code, httpCode } = toDeliveryError(thrown);
  const replacesNothing = changes.every(({ replaces }) => replaces === null);
  return code === 'CONFLICT' && httpCode === 409 && methodOf(changes, target) === 'A' && replacesNothing;
}
