import { type ItemResult, withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import type { Change } from '../../github/change.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import { createBranchReader } from './branch-reader.ts';
import { type CommitMethod, type CommitTarget, methodOf } from './target.ts';
import { createChangeWriter } from './write-changes.ts';

/** What a place of the branch needs: a change, or nothing more. */
export interface ComparedPlace {
  /** Absent where the place is as wanted. */
  readonly change?: Change | undefined;
  /** The commit that made it so; absent where nothing ever existed. */
  readonly commitSha?: string | undefined;
}

/** What some places need, all compared with the same commit of the branch. */
export interface BranchPlan<Item, Place> {
  /** The commit; `null` where the branch does not exist yet. */
  readonly head: string | null;
  readonly places: readonly ItemResult<Item, Place>[];
}

/** Compares places with the branch as it is now. @param sent what earlier attempts may have written */
export type PlanChanges<Target, Item, Place> = (
  target: Target,
  sent: ReadonlySet<Item>,
) => Promise<BranchPlan<Item, Place>>;

/** A place that is as wanted. */
export interface CommittedPlace<Place> {
  /** What it needed. */
  readonly place: Place;
  /** The commit that made it so; absent where nothing ever existed. */
  readonly commitSha?: string | undefined;
  /** `false` where it was so already. */
  readonly written: boolean;
  /** How it was written, where anything was. */
  readonly method?: CommitMethod | undefined;
}

type CommittedPlaces<Item, Place> = readonly ItemResult<Item, CommittedPlace<Place>>[];

/**
 * Compares, and makes a commit for each place that needs one, all of them in one update of the branch. Each attempt
 * compares first: what an earlier one has committed is not committed again.
 *
 * @returns an error says whether anything may have been written
 */
export async function commitPlanned<Target extends CommitTarget, Item, Place extends ComparedPlace>(
  plan: PlanChanges<Target, Item, Place>,
  target: Target,
  ports: Ports,
): Promise<CommittedPlaces<Item, Place>> {
  /** What was sent last for each item. */
  const sent = new Map<Item, Place>();
  let method: CommitMethod | undefined;
  const write = createChangeWriter(target, ports, (used) => {
    method = used;
  });
  const compare = (github = target.github): Promise<BranchPlan<Item, Place>> => {
    // After a write, what was read of the branch may be old.
    const reader = sent.size === 0 ? target.reader : createBranchReader();
    return plan({ ...target, github, reader }, new Set(sent.keys()));
  };
  const finish = (
    { places }: BranchPlan<Item, Place>,
    conclude: (change: Change) => Result<string>,
  ): CommittedPlaces<Item, Place> =>
    places.map(({ item, result }) => {
      // After a stop it is not known what the last write did.
      if (hasFailed(result))
        return { item, result: ports.signal.aborted ? result : result.withLeftBehind([]) };
      return { item, result: finishPlace(result as Place, sent.get(item), method, conclude) };
    });
  let known: BranchPlan<Item, Place> | null = null;
  try {
    return await withRetries(ports, async () => {
      const planned = known ?? (await compare());
      known = null;
      const changes = planned.places.flatMap(({ item, result }) => {
        const { change } = hasFailed(result) ? {} : (result as Place);
        if (change !== undefined) sent.set(item, result as Place);
        return change ?? [];
      });
      if (changes.length === 0) return finish(planned, leftOut);
      const commits = await write(changes, planned.head).catch((thrown: unknown) => {
        known = isStillTrue(thrown, changes, target) ? planned : null;
        throw thrown;
      });
      const byChange = new Map(commits.map(({ item, result }) => [item, result]));
      return finish(planned, (change) => byChange.get(change) ?? leftOut());
    });
  } catch (thrown) {
    const error = toDeliveryError(thrown);
    if (sent.size === 0) throw error.withLeftBehind([]);
    if (!ports.signal.aborted) throw error;
    // The branch may hold a commit whose answer did not arrive.
    const arrived = await resultOf(() => compare(target.github.withSignal(withCleanupSignal(ports).signal)));
    if (hasFailed(arrived)) throw error;
    return finish(arrived as BranchPlan<Item, Place>, () => error);
  }
}

/** @param sent what was sent last for the place, if anything was */
function finishPlace<Place extends ComparedPlace>(
  place: Place,
  sent: Place | undefined,
  method: CommitMethod | undefined,
  conclude: (change: Change) => Result<string>,
): Result<CommittedPlace<Place>> {
  const commitSha = place.change === undefined ? place.commitSha : conclude(place.change);
  if (hasFailed(commitSha)) return commitSha;
  return sent === undefined
    ? { place, commitSha: commitSha as string | undefined, written: false }
    : { place: sent, commitSha: commitSha as string | undefined, written: true, method };
}

/** The same for a single place. @param plan gets whether an earlier attempt may have written it */
export async function commitOne<Target extends CommitTarget, Place extends ComparedPlace>(
  plan: (
    target: Target,
    wasSent: boolean,
  ) => Promise<{ readonly head: string | null; readonly place: Place }>,
  target: Target,
  ports: Ports,
): Promise<CommittedPlace<Place>> {
  const planOne: PlanChanges<Target, Target, Place> = async (now, sent) => {
    const { head, place } = await plan(now, sent.size > 0);
    return { head, places: [{ item: target, result: place }] };
  };
  const [done] = await commitPlanned(planOne, target, ports);
  const result = done?.result ?? leftOut();
  if (hasFailed(result)) throw result;
  return result as CommittedPlace<Place>;
}

const leftOut = (): DeliveryError => new DeliveryError('INTERNAL', 'no commit was made');

/**
 * Whether the comparison need not be repeated: the host refused the write because the branch moved, and a write
 * without a sha replaces nothing. With many writers at once this saves half of all calls.
 */
function isStillTrue(thrown: unknown, changes: readonly Change[], target: CommitTarget): boolean {
  const { code, httpCode } = toDeliveryError(thrown);
  const branchMoved = code === 'CONFLICT' && httpCode === 409;
  const replacesNothing = changes.every(({ basis }) => [...basis.values()].every((sha) => sha === null));
  return branchMoved && methodOf(changes, target) === 'A' && replacesNothing;
}
