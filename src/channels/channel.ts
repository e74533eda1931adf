import { DeliveryError, type Result } from '../errors.ts';
import type { Check } from '../proof/check.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { GitBlob } from '../rules/fingerprint.ts';
import type { LocalFile } from '../rules/inspect.ts';
import type { LocalSite } from '../rules/local-site.ts';
import type { BrowserDisplay } from '../rules/media-type.ts';
import type { Text } from '../words.ts';
import type { SiteChanges } from './site-changes.ts';

export interface ChannelItem {
  /** `null` for a link with a marker alone, and for a removal without a file to compare with. */
  readonly site: LocalSite | null;
  /** To withdraw from a bin without the file: the SHA-256 of what was delivered. */
  readonly sha256?: string | undefined;
  /** The checked name with its folders. In a removal, a name that ends in `/` means all deliveries below it. */
  readonly name: string;
  /** The path below the common folder of all items; absent for a single item. */
  readonly relativePath?: string | undefined;
  /** When removing a folder: whether a path in it stays. */
  readonly isLeftOut?: ((path: string) => boolean) | undefined;
}

/** @throws {DeliveryError} for a link, which has no files */
export function requireSite({ site }: ChannelItem): LocalSite {
  if (site !== null) return site;
  throw new DeliveryError('BAD_INPUT', 'this channel needs a file', { hint: 'name a file' });
}

/** What a channel will do, as plain data without secrets and without unverified URLs. */
export interface ChannelPlan {
  readonly channel: ChannelKey;
  readonly method: string;
  readonly destination: string;
  readonly name: string;
  /** The verb in the report's line CLAIM, such as `opens on the screen`. */
  readonly verb: string;
  /** K4: the verb if the host sends a download. */
  readonly downloadVerb?: string;
}

export interface PreparedTask {
  readonly plan: ChannelPlan;
  /** Every path that it may write, including pictures; absent if only the plan's destination. */
  readonly writes?: readonly string[];
  readonly served?: ServedFile;
  /** What a check can't know without the host. */
  readonly unknown?: readonly string[];
  /** Named by their paths below `sitePath`. */
  readonly pictures?: readonly LocalFile[];
  /** Why nothing is to be done, and what stays; the task is then not performed. */
  readonly idle?: { readonly reason: string; readonly notes: readonly string[] };
}

export const nameTask = ({ plan }: PreparedTask): string => plan.name;

export interface ServedFile {
  /** Not to be handed over, because it is not verified yet. */
  readonly url: URL;
  /** Percent-encoded path of the folder, such as `/repo/previews/pr-12/`. */
  readonly sitePath: string;
  readonly display: BrowserDisplay;
  /** Whether the host serves the file's bytes, instead of building a page from them. */
  readonly isServedAsIs: boolean;
  /** Where the pictures of this page and the previous one will be; `null` for none. */
  readonly pictureUrls: { readonly picture: URL; readonly before: URL } | null;
  /** Why the host would not show all of a folder unchanged. */
  readonly refusal?: DeliveryError | null;
}

export interface HostProgress {
  readonly finished: boolean;
  /** Whether the host reports that it has not begun or not finished. */
  readonly building?: boolean;
  readonly detail: string;
  readonly httpCode?: number | undefined;
  /** When the finished build began: milliseconds since the epoch, by the host's clock. */
  readonly builtAt?: number | undefined;
  readonly hint?: Text | undefined;
}

/** Another folder of the site, with which the pages of a delivered folder are compared. */
export interface ComparedFolder {
  readonly url: URL;
  /** Its pages by their path in the folder. */
  readonly pages: ReadonlyMap<string, GitBlob>;
  /** Whether only this tool has files where the pictures of changed pages go. */
  readonly hasRoom: boolean;
}

/** The evidence for G1, and everything that must be verified. */
export interface Placement {
  /** @see protocol 3.1 */
  readonly evidence: string;
  /** `false` if everything was already correct. */
  readonly written: boolean;
  /** For a withdrawal: whether a part stays that is not another delivery. */
  readonly leavesFiles?: boolean;
  /** For a sweep: the removed folders. */
  readonly swept?: readonly { readonly path: string; readonly url: string }[];
  readonly first: Check;
  /** The site's other files, pictures and removed files. */
  readonly others?: readonly Check[];
  readonly plan?: Partial<ChannelPlan>;
  readonly commitSha?: string;
  /** When the host deletes it: a date in ISO 8601. */
  readonly expires?: string;
  /** Whether it replaced an earlier delivery of this tool. */
  readonly replaced?: boolean;
  readonly deployment?: string;
  readonly changes?: SiteChanges;
  readonly treeSha?: string | undefined;
  readonly servedSize?: number;
  /** K1: whether the branch's history shows that this tool delivered the removed file. */
  readonly wasOurs?: boolean;
  /** K1: the git id that each path must still have after the proof; `null` for no file. */
  readonly expectedBlobs?: ReadonlyMap<string, string | null>;
  readonly notes?: readonly string[];
  readonly unknown?: readonly string[];
}

/** Everything that must be right, with the page first. */
export const listRequired = ({ first, others = [] }: Placement): readonly Check[] =>
  [first, ...others].filter(({ isOptional }) => !isOptional);

export interface PlacedTask<Task extends PreparedTask = PreparedTask> {
  readonly task: Task;
  readonly placement: Placement;
}

/** A file of the same delivery that failed before the channel began, such as an empty file. */
export interface FailedFile {
  readonly subject: string;
  readonly failure: DeliveryError;
}

/**
 * A channel publishes or removes files. Results come in the order of the files, and a failure does not stop the others.
 * @see protocol 1
 */
export interface Channel<Task extends PreparedTask = PreparedTask> {
  /** Finds the destinations and writes nothing. Whether it may write there is up to `preview` and `perform`. */
  prepare(items: readonly ChannelItem[]): Promise<readonly Result<Task>[]>;
  /** K1: whether a file or folder to remove exists. Writes nothing. */
  holds?(item: ChannelItem): Promise<boolean>;
  /** K1: finds the folder that `compare` names. @throws {DeliveryError} if it has no page */
  findCompared?(task: Task): Promise<ComparedFolder>;
  /** Describes what `perform` would do. Writes nothing. */
  preview(tasks: readonly Task[], absent?: FailedFile): Promise<readonly Result<string>[]>;
  /** Carries out the tasks together, in one push, release or bin. */
  perform(tasks: readonly Task[], absent?: FailedFile): Promise<readonly Result<Placement>[]>;
  /** Begins a wait for the host; absent if there is nothing to wait for. */
  watch?(): { ask(placed: PlacedTask<Task>): Promise<HostProgress> };
  /** Restores this tool's previous delivery. @param batch everything that was placed together with `failed` */
  restore?(
    failed: readonly PlacedTask<Task>[],
    batch: readonly PlacedTask<Task>[],
  ): Promise<readonly Result<Placement>[]>;
  /**
   * Checks after the proof whether anything changed since it was placed.
   * @returns what differs, for the line UNKNOWN; `NOT_PROVEN` for a delivery that no longer exists
   */
  recheck?(placed: readonly PlacedTask<Task>[]): Promise<readonly Result<readonly string[]>[]>;
  /** Finds this tool's deliveries and writes nothing; absent if the channel keeps no record. */
  audit?(): Promise<AuditFindings>;
  /** The same deliveries from a few requests, without a check. */
  list?(): Promise<Listing>;
}

/** What a channel's record says of a delivery. Nothing of it is verified. */
export interface ListedItem {
  readonly channel: ChannelKey;
  /** The branch or the release. */
  readonly place: string;
  readonly path: string;
  /** `null` if the site doesn't serve that path any more. */
  readonly url: string | null;
  /** ISO 8601. */
  readonly time: string | null;
  /** The workflow's file, or who else delivered it; and the run's URL. */
  readonly by: string | null;
  readonly run: string | null;
  readonly files: number;
  readonly size: number;
  readonly picture: string | null;
  /** Whether somebody changed a file since. */
  readonly changed: boolean;
}

export interface Listing {
  readonly deliveries: readonly ListedItem[];
  /** Which deliveries may be missing. */
  readonly unlisted: readonly string[];
}

export interface AuditFindings {
  readonly deliveries: readonly AuditedDelivery[];
  /** Deliveries whose record was not read, or no longer exists. */
  readonly unknown: readonly string[];
}

export interface AuditedDelivery {
  readonly plan: ChannelPlan;
  /** Called late, because all placements at once need much memory; absent if no file is left. */
  readonly composePlacement?: () => Placement;
  readonly changed?: { readonly text: string; readonly count: number };
  readonly failure?: DeliveryError;
  readonly unknown: readonly string[];
}

export type ChannelMap = Readonly<Record<ChannelKey, Channel>>;
