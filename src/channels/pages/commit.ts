import { forEachItem, withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import type { Change } from '../../github/change.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { Placement } from '../channel.ts';
import { countChanges, formatChangeCounts, type SiteChanges } from '../site-changes.ts';
import type { ComparedPlace } from './compare.ts';
import { compareFiles } from './compare-files.ts';
import { compareSite } from './compare-folder.ts';
import { compareRemovedFolder } from './compare-removal.ts';
import { listPictures } from './pictures.ts';
import { withCommit } from './placement.ts';
import { type CommitTarget, isFolderPath, isRemoval, type PagesTask } from './target.ts';
import { BranchWriter, refuseUnwritable } from './write-changes.ts';

type Tasks = readonly PagesTask[];

/** The task with the pictures of its page among its files. */
export const withPictures = (task: PagesTask): PagesTask => ({
  ...task,
  files: [...task.files, ...(task.pictures ? listPictures(task.pictures, task.destination.path) : [])],
});

type ComparedPlaces = readonly Result<ComparedPlace>[];

/**
 * Compares what is written together, all files of a step or one folder, with the branch as it is now.
 *
 * @param signal another one than that of the delivery, after a stop
 */
type Compare = (signal?: AbortSignal) => Promise<ComparedPlaces>;

/**
 * Does work for each group. Files come before the folders that take them over, and after those that are removed: then
 * they are as their folder left them.
 */
async function forEachGroup<Value>(
  prepared: Tasks,
  work: (compare: Compare, target: CommitTarget) => Promise<readonly Result<Value>[]>,
): Promise<readonly Result<Value>[]> {
  const all = prepared.map(withPictures);
  const folders = all.filter(({ place }) => isFolderPath(place));
  const files = all.filter(({ place }) => !isFolderPath(place));
  const single = folders.map((one) => [one]);
  const together = folders.map(({ place }) => place);
  const results = new Map<PagesTask, Result<Value>>();
  for (const group of all.some(isRemoval) ? [...single, files] : [files, ...single]) {
    const [first] = group;
    if (first === undefined) continue;
    const { target } = first;
    const compare: Compare = (signal) => {
      const github = signal ? target.github.withSignal(signal) : target.github;
      const tasks = group.map((one) => ({ ...one, target: { ...one.target, github } }));
      return compareTasks(tasks, together);
    };
    const done = await resultOf(() => work(compare, target));
    for (const [nth, task] of group.entries()) {
      results.set(task, hasFailed(done) ? done : (done[nth] ?? leftOutError()));
    }
  }
  return all.map((task) => results.get(task) ?? leftOutError());
}

async function compareTasks(
  tasks: readonly PagesTask[],
  together: readonly string[],
): Promise<ComparedPlaces> {
  const [first] = tasks;
  if (first === undefined || !isFolderPath(first.place)) return compareFiles(tasks);
  return [await (isRemoval(first) ? compareRemovedFolder(first) : compareSite(first, together))];
}

/** What committing would do: the first line of each commit's message, or that nothing has to be done. Reads only. */
export function previewCommits(
  prepared: Tasks,
  ports: Pick<Ports, 'signal'>,
): Promise<readonly Result<string>[]> {
  return forEachGroup(prepared, async (compare, target) =>
    forEachItem(await compare(), async (place) => {
      if (hasFailed(place)) throw place;
      const { change, placement } = place;
      if (change === undefined) return placement.evidence;
      if (placement.changes) await refuseUnwritable(change, target, ports);
      const told = [...(placement.changes ? [describeChanges(placement.changes)] : []), ...placement.notes];
      const further = told.length === 0 ? '' : ` (${told.join('; ')})`;
      return `commit "${change.message.split('\n')[0]}"${further}`;
    }),
  );
}

function describeChanges(changes: SiteChanges): string {
  const counts = formatChangeCounts(countChanges(changes));
  return counts === '' ? 'no file changed' : `files: ${counts}`;
}

/**
 * Compares, and makes a commit for each place that needs one: an update of the branch for all files, and for each folder.
 *
 * @returns an error says whether anything may have been written
 */
export const commitTasks = (prepared: Tasks, ports: Ports): Promise<readonly Result<Placement>[]> =>
  forEachGroup(prepared, async (compare, target) => {
    const commit = new GroupCommit(compare, target, ports);
    const done = await withRetries(ports, () => commit.attempt()).catch((thrown: unknown) =>
      commit.findArrived(toDeliveryError(thrown)),
    );
    for (const one of done) {
      if (!hasFailed(one) && one.changes) ports.logger.info(describeChanges(one.changes));
    }
    return done;
  });

/** Each attempt compares first: what an earlier one has committed is not committed again. */
class GroupCommit {
  readonly #compare: Compare;
  readonly #ports: Ports;
  readonly #writer: BranchWriter;
  /** What was sent last to each place: it tells more of what was there before than a look at the result. */
  readonly #sent = new Map<string, ComparedPlace>();
  /** The comparison that the next attempt need not repeat. */
  #known: ComparedPlaces | null = null;

  constructor(compare: Compare, target: CommitTarget, ports: Ports) {
    this.#compare = compare;
    this.#ports = ports;
    this.#writer = new BranchWriter(target, ports);
  }

  async attempt(): Promise<readonly Result<Placement>[]> {
    const places = this.#known ?? (await this.#compare());
    this.#known = null;
    let head: string | null = null;
    const changes = places.flatMap((place) => {
      if (hasFailed(place) || place.change === undefined) return [];
      this.#sent.set(place.task.place, place);
      head = place.head;
      return [place.change];
    });
    if (changes.length === 0) return this.#finish(places, leftOutError);
    const commits = await this.#writer.write(changes, head).catch((thrown: unknown) => {
      this.#known = this.#writer.method === 'A' && isStillTrue(thrown, changes) ? places : null;
      throw thrown;
    });
    return this.#finish(places, (change) => commits[changes.indexOf(change)] ?? leftOutError());
  }

  /** After a stop, the branch may hold a commit whose answer did not arrive. @throws the error where it is not known */
  async findArrived(error: DeliveryError): Promise<readonly Result<Placement>[]> {
    if (this.#sent.size === 0) throw error.withLeftBehind([]);
    if (!this.#ports.signal.aborted) throw error;
    const { signal } = withCleanupSignal(this.#ports);
    const arrived = await resultOf(() => this.#compare(signal));
    if (hasFailed(arrived)) throw error;
    return this.#finish(arrived, () => error);
  }

  #finish(
    places: ComparedPlaces,
    conclude: (change: Change) => Result<string>,
  ): readonly Result<Placement>[] {
    return places.map((now) => {
      // After a stop it is not known what the last write did.
      if (hasFailed(now)) return this.#ports.signal.aborted ? now : now.withLeftBehind([]);
      const commitSha = now.change === undefined ? now.commitSha : conclude(now.change);
      if (hasFailed(commitSha)) return commitSha;
      const { method } = this.#writer;
      const sent = this.#sent.get(now.task.place);
      return sent && method ? withCommit(sent, commitSha, method) : now.placement;
    });
  }
}

const leftOutError = (): DeliveryError => new DeliveryError('INTERNAL', 'no commit was made');

/**
 * Whether the comparison need not be repeated: the host refused the write because the branch moved, and a write
 * without a sha replaces nothing. With many writers at once this saves half of all calls.
 */
function isStillTrue(thrown: unknown, changes: readonly Change[]): boolean {
  const { code, httpCode } = toDeliveryError(thrown);
  return code === 'CONFLICT' && httpCode === 409 && changes.every(({ replaces }) => replaces === null);
}
