import { type ItemResult, withCleanupSignal } from '../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf, toDeliveryError } from '../../errors.ts';
import type { LastCommit } from '../../github/api/history.ts';
import type { Change } from '../../github/change.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { SiteChanges } from '../site-changes.ts';
import { createBranchReader } from './branch-reader.ts';
import type { EarlierFiles } from './recheck.ts';
import { type CommitMethod, type CommitTarget, methodOf } from './target.ts';
import { BranchWriter } from './write-changes.ts';

/** What a place of the branch needs, a file or a folder: a change, or nothing more. */
export interface ComparedPlace {
  /** Absent where the place is as wanted. */
  readonly change?: Change | undefined;
  /** The commit that made it so; absent where nothing ever existed. */
  readonly commitSha?: string | undefined;
  /** What it held before, by path, a folder's files by the path within it. */
  readonly earlier?: EarlierFiles;
  /** The newest delivery of this tool to it. */
  readonly replaced?: Pick<LastCommit, 'sha' | 'message'>;
  /**
   * Of a folder that is delivered: git's id of the delivered files as a tree, if they are on a branch, and bytes of all that
   * Pages serves.
   */
  readonly delivered?: {
    readonly changes: SiteChanges;
    readonly treeSha?: string;
    readonly totalSize: number;
  };
  /** Of a folder that is removed: the folders of the deliveries, and the files that are removed. */
  readonly removed?: { readonly sites: readonly string[]; readonly files: readonly string[] };
  /** Of a folder that is delivered: what this or the newest delivery removed, by path in the branch. */
  readonly gone?: EarlierFiles;
  /** Of a folder that is removed: what is said where nothing is to be removed. */
  readonly nothing?: string;
}

/** What some places need, all compared with the same commit of the branch. */
export interface BranchComparison<Item> {
  /** The commit; `null` where the branch does not exist yet. */
  readonly head: string | null;
  readonly places: readonly ItemResult<Item, ComparedPlace>[];
}

/** Compares places with the branch as it is now. @param sent what earlier attempts may have written */
type CompareChanges<Item> = (
  target: CommitTarget,
  sent: ReadonlySet<Item>,
) => Promise<BranchComparison<Item>>;

/** A place that is as wanted. */
export interface CommittedPlace {
  readonly place: ComparedPlace;
  /** The commit that made it so; absent where nothing ever existed. */
  readonly commitSha?: string | undefined;
  /** `false` where it was so already. */
  readonly written: boolean;
  /** How it was written, where anything was. */
  readonly method?: CommitMethod | undefined;
}

type CommittedPlaces<Item> = readonly ItemResult<Item, CommittedPlace>[];

/**
 * Compares, and makes a commit for each place that needs one, all of them in one update of the branch. Each attempt
 * compares first: what an earlier one has committed is not committed again.
 *
 * @returns an error says whether anything may have been written
 */
export async function commitCompared<Item>(
  compare: CompareChanges<Item>,
  target: CommitTarget,
  ports: Ports,
): Promise<CommittedPlaces<Item>> {
  const commit = new ComparedCommit(compare, target, ports);
  try {
    return await withRetries(ports, () => commit.attempt());
  } catch (thrown) {
    return commit.findArrived(toDeliveryError(thrown));
  }
}

class ComparedCommit<Item> {
  readonly #compareWith: CompareChanges<Item>;
  readonly #target: CommitTarget;
  readonly #ports: Ports;
  readonly #writer: BranchWriter;
  /** What was sent last for each item. */
  readonly #sent = new Map<Item, ComparedPlace>();
  /** The comparison that the next attempt need not repeat. */
  #known: BranchComparison<Item> | null = null;
  #method: CommitMethod | undefined;

  constructor(compare: CompareChanges<Item>, target: CommitTarget, ports: Ports) {
    this.#compareWith = compare;
    this.#target = target;
    this.#ports = ports;
    this.#writer = new BranchWriter(target, ports, (used) => {
      this.#method = used;
    });
  }

  async attempt(): Promise<CommittedPlaces<Item>> {
    const compared = this.#known ?? (await this.#compare());
    this.#known = null;
    const changes = compared.places.flatMap(({ item, result }) => {
      const place = hasFailed(result) ? {} : result;
      if (place.change !== undefined) this.#sent.set(item, place);
      return place.change ?? [];
    });
    if (changes.length === 0) return this.#finish(compared, leftOut);
    const commits = await this.#writer.write(changes, compared.head).catch((thrown: unknown) => {
      this.#known = isStillTrue(thrown, changes, this.#target) ? compared : null;
      throw thrown;
    });
    const byChange = new Map(commits.map(({ item, result }) => [item, result]));
    return this.#finish(compared, (change) => byChange.get(change) ?? leftOut());
  }

  /** After a stop, the branch may hold a commit whose answer did not arrive. @throws the error where it is not known */
  async findArrived(error: DeliveryError): Promise<CommittedPlaces<Item>> {
    if (this.#sent.size === 0) throw error.withLeftBehind([]);
    if (!this.#ports.signal.aborted) throw error;
    const github = this.#target.github.withSignal(withCleanupSignal(this.#ports).signal);
    const arrived = await resultOf(() => this.#compare(github));
    if (hasFailed(arrived)) throw error;
    return this.#finish(arrived as BranchComparison<Item>, () => error);
  }

  #compare(github = this.#target.github): Promise<BranchComparison<Item>> {
    // After a write, what was read of the branch may be old.
    const reader = this.#sent.size === 0 ? this.#target.reader : createBranchReader();
    return this.#compareWith({ ...this.#target, github, reader }, new Set(this.#sent.keys()));
  }

  #finish(
    { places }: BranchComparison<Item>,
    conclude: (change: Change) => Result<string>,
  ): CommittedPlaces<Item> {
    return places.map(({ item, result }) => {
      // After a stop it is not known what the last write did.
      if (hasFailed(result)) {
        return { item, result: this.#ports.signal.aborted ? result : result.withLeftBehind([]) };
      }
      const now = result;
      const commitSha = now.change === undefined ? now.commitSha : conclude(now.change);
      if (hasFailed(commitSha)) return { item, result: commitSha };
      const sent = this.#sent.get(item);
      const done = {
        place: sent ?? now,
        commitSha: commitSha as string | undefined,
        written: sent !== undefined,
      };
      return { item, result: sent === undefined ? done : { ...done, method: this.#method } };
    });
  }
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
