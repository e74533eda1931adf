import { DeliveryError, type Result } from '../errors.ts';
import type { Check } from '../proof/check.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { LocalSite } from '../rules/local-site.ts';
import type { BrowserDisplay } from '../rules/media-type.ts';
import type { Text } from '../words.ts';
import type { PagePictures, PlacedPictures } from './pages/pictures.ts';
import type { SiteChanges } from './site-changes.ts';

export interface ChannelItem {
  /** `null` for a link that is verified by its marker alone, and for a removal without a file to compare with. */
  readonly site: LocalSite | null;
  /** The name to give: checked, with its folders. Of a removal it may end in `/`: all that was delivered below it. */
  readonly name: string;
  /** Where it lies below the folder that all files of the step have in common; absent where it is the only one. */
  readonly relativePath?: string | undefined;
  /** Of a folder to remove: whether a path within it stays. */
  readonly isLeftOut?: ((path: string) => boolean) | undefined;
}

/** The files of an item, for a channel that publishes them. @throws {DeliveryError} for a link, which has none */
export function requireSite({ site }: ChannelItem): LocalSite {
  if (site !== null) return site;
  throw new DeliveryError('BAD_INPUT', 'this channel needs a file', { hint: 'name a file' });
}

/** What a channel will do, as plain data: no secret, and no address that is not proven yet. */
export interface ChannelPlan {
  readonly channel: ChannelKey;
  /** How the file is placed, such as `method B, object API`. */
  readonly method: string;
  /** Where it goes: branch and path, tag and asset, bin and name. */
  readonly destination: string;
  readonly name: string;
  /** The verb of the report's claim, such as `opens on the screen`. */
  readonly verb: string;
  /** K4: the same of what its host sends as a download. */
  readonly downloadVerb?: string;
}

/** What a channel has prepared for one item; each adds what it needs to carry it out. Nothing is written yet. */
export interface PreparedTask {
  readonly plan: ChannelPlan;
  /** Every path that it may write, those of pictures included; absent where that is the plan's destination alone. */
  readonly writes?: readonly string[];
  /** How it is served, once it is published: K1, and a folder of K4. */
  readonly served?: ServedFile;
  /** What a check can't know without the host. */
  readonly unknown?: readonly string[];
  /** K1: the pictures of the page, taken before anything is written. */
  readonly pictures?: PagePictures;
}

export const nameTask = ({ plan }: PreparedTask): string => plan.name;

/** A file, or the entry of a folder, as a host of pages will serve it. */
export interface ServedFile {
  /** Where it will be: no address to hand over, because nothing is proven yet. */
  readonly url: URL;
  /** Path of the folder that is delivered, or that the file is in, percent-encoded, such as `/repo/previews/pr-12/`. */
  readonly sitePath: string;
  readonly display: BrowserDisplay;
  /** Whether the host serves the bytes of the file, and does not build the page of them. */
  readonly isServedAsIs: boolean;
  /** Where a picture of the page will be, and the one of before; `null` where it can have none. */
  readonly pictureUrls: { readonly picture: URL; readonly before: URL } | null;
  /** Why the host would not show all of a folder as it is; thrown with what its pages miss. */
  readonly refusal?: DeliveryError | null;
}

/** How far the host is with making a placement public. */
export interface HostProgress {
  readonly finished: boolean;
  /** Whether it says that it is not done, or has yet to begin. */
  readonly building?: boolean;
  readonly detail: string;
  readonly httpCode?: number | undefined;
  /** When the finished build began, by the host's clock: milliseconds since the epoch. */
  readonly builtAt?: number | undefined;
  readonly hint?: Text | undefined;
}

/** What a channel returned: the evidence for G1, and everything that must be proven. */
export interface Placement {
  /** Commit sha, HTTP 201 or asset identifier. @see protocol 3.1 */
  readonly evidence: string;
  /** Whether anything was written; `false` where everything was already as wanted. */
  readonly written: boolean;
  /** Of a withdrawal: whether `!` lines leave out what is still there. */
  readonly leavesFiles?: boolean;
  /** The page or file whose address is the final URL of G2. */
  readonly first: Check;
  /** The other files of a site, the pictures of a page, and what was removed. */
  readonly others?: readonly Check[];
  /** What turned out otherwise than it was planned: how and where it was placed, or the verb of the claim. */
  readonly plan?: Partial<ChannelPlan>;
  readonly commitSha?: string;
  /** K1: the id of the Pages deployment that publishes it, where this action deploys the site. */
  readonly deployment?: string;
  /** The pictures of the page; they are among the others. */
  readonly pictures?: PlacedPictures | undefined;
  readonly changes?: SiteChanges;
  /** Git's id of a site's files as a tree. */
  readonly treeSha?: string | undefined;
  /** Bytes of everything that Pages serves from the branch with the site. */
  readonly servedSize?: number;
  /** K1, of a file that is removed: whether the branch's history knows it as this tool's. */
  readonly wasOurs?: boolean;
  /** K1: git's id of what the branch must hold at each path, also after the proof; `null` for nothing. */
  readonly expectedBlobs?: ReadonlyMap<string, string | null>;
  /** What a person should know: expiry, a warning page, a changed name. */
  readonly notes?: readonly string[];
  readonly unknown?: readonly string[];
}

/** Every file that must be right, the first one before the others. */
export const listRequired = ({ first, others = [] }: Placement): readonly Check[] =>
  [first, ...others].filter(({ isOptional }) => !isOptional);

export interface PlacedTask<Task extends PreparedTask = PreparedTask> {
  readonly task: Task;
  readonly placement: Placement;
}

/** A file of the same step that failed before the channel was asked, such as an empty one. */
export interface FailedFile {
  readonly subject: string;
  readonly failure: DeliveryError;
}

/**
 * One of the protocol's channels, which publishes files or removes them. Each file has its own result, in the order of
 * the files: one that fails does not stop the others.
 *
 * @see protocol 1
 */
export interface Channel<Task extends PreparedTask = PreparedTask> {
  /** Finds out where each item goes. Writes nothing; `preview` and `perform` find out whether it may be written there. */
  prepare(items: readonly ChannelItem[]): Promise<readonly Result<Task>[]>;
  /** K1, of a removal: whether a file or a folder is there. Writes nothing. */
  holds?(item: ChannelItem): Promise<boolean>;
  /** Describes what `perform` would do. Writes nothing. */
  preview(tasks: readonly Task[], absent?: FailedFile): Promise<readonly Result<string>[]>;
  /** Carries out the tasks together: one push, one release, one bin. The errors are those of G1 and G2. */
  perform(tasks: readonly Task[], absent?: FailedFile): Promise<readonly Result<Placement>[]>;
  /** Begins a wait for the host, which is asked once at a time how far it is; absent where nothing is waited for. */
  watch?(): { ask(placed: PlacedTask<Task>): Promise<HostProgress> };
  /** Puts back what this tool delivered before what is not proven. @param batch everything that was placed with it */
  restore?(
    failed: readonly PlacedTask<Task>[],
    batch: readonly PlacedTask<Task>[],
  ): Promise<readonly Result<Placement>[]>;
  /**
   * After the proof: looks once more at what may have changed since it was placed.
   *
   * @returns for UNKNOWN: what is not as it was left; `NOT_PROVEN` for what is not there any more
   */
  recheck?(placed: readonly PlacedTask<Task>[]): Promise<readonly Result<readonly string[]>[]>;
  /** Finds everything that this tool delivered; absent where nothing tells it. Writes nothing. */
  audit?(): Promise<AuditFindings>;
}

/** What an audit finds in a channel. */
export interface AuditFindings {
  readonly deliveries: readonly AuditedDelivery[];
  /** What could not be found out: deliveries of which no record was read, or none is left. */
  readonly unknown: readonly string[];
}

/** What an audit finds of one delivery, and how it is proven again. */
export interface AuditedDelivery {
  readonly plan: ChannelPlan;
  /** Called when it is asked, since those of all deliveries would take much memory; absent where nothing is left. */
  readonly composePlacement?: () => Placement;
  /** What somebody has changed of it since, in words, and how many files. */
  readonly changed?: { readonly text: string; readonly count: number };
  /** Why it is lost, where no address tells it. */
  readonly failure?: DeliveryError;
  readonly unknown: readonly string[];
}

export type ChannelMap = Readonly<Record<ChannelKey, Channel>>;
