import type { Result } from '../errors.ts';
import type { RepositoryContext } from '../github/api/repository.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { LocalFile } from '../rules/inspect.ts';

/** What a channel will do, as plain data: no secret, no address that is not proven yet. */
export interface UploadPlan {
  readonly channel: ChannelKey;
  /** How the file is placed, such as `method B: object API`. */
  readonly method: string;
  /** Where it goes, in words: branch and path, tag and asset, bin and name. */
  readonly destination: string;
  /** The name that it has there, in short. */
  readonly name: string;
  /** What should open there, for the report's claim. */
  readonly claim: string;
}

/** What a channel returned: the evidence for G1 and the final URL of G2. */
export interface Placement {
  /** Commit sha, HTTP 201 or asset identifier. @see protocol 3.1 */
  readonly evidence: string;
  readonly url: URL;
  /** Whether anything was written; what stood there already has no build to wait for. */
  readonly written: boolean;
  readonly commitSha?: string;
  /** The machine's address of the same file, verified too. */
  readonly rawUrl?: URL;
  /** Whether `?v=` is put on each request, to get past caches. @see protocol 4.5 */
  readonly bypassCache: boolean;
  /** Whether the host may rightly change the bytes (a site's build, a viewer page). */
  readonly hostMayChangeBytes: boolean;
  /** SHA-256 of what the address answered before, where it was replaced. */
  readonly previousSha256?: string | undefined;
  /** Whether every hop must be a public host: the address came from outside. */
  readonly mustBeExternal: boolean;
  /** What a person should know: expiry, a warning page, a name that was changed. */
  readonly notes: readonly string[];
  /** What could not be verified while placing. */
  readonly unknown: readonly string[];
}

/** How far the host is with bringing a placement live. */
export interface LiveStatus {
  readonly finished: boolean;
  /** In words, for the log and for a failure. */
  readonly detail: string;
  readonly httpCode?: number | undefined;
  /** What to change where it never finishes. */
  readonly hint?: string;
}

/** A file on its way into a channel. */
export interface UploadItem {
  /** `null` for a link that is verified by its marker alone, and where something is taken away. */
  readonly file: LocalFile | null;
  /** The name to give: checked, with the folders that it keeps, such as `css/page.css`. */
  readonly name: string;
}

/** What a channel has prepared for one parcel: nothing is written yet. */
export interface PreparedUpload<Task = unknown> {
  readonly plan: UploadPlan;
  /** What the channel itself must know to place it. */
  readonly task: Task;
  /**
   * One look at the host's own progress; absent where nothing has to be waited for.
   *
   * @throws {DeliveryError} `BUILD_ERRORED` when the host says that it will not come.
   */
  watch?(placement: Placement): Promise<LiveStatus>;
}

/**
 * One of the protocol's channels. It takes any number of parcels together, so that what they share is done
 * once: one push, one release, one bin. Each has its own result: one that fails doesn't stop the others.
 *
 * @see protocol 1 (channels)
 */
export interface Channel<Task = unknown> {
  readonly key: ChannelKey;
  /**
   * What would be done with each parcel. Reads, but writes nothing.
   *
   * @returns by parcel; the failures say what to change
   */
  prepare(
    parcels: readonly UploadItem[],
    circumstances: RepositoryContext,
  ): Promise<readonly Result<PreparedUpload<Task>>[]>;
  /** What placing them would come upon, in words, by intent. Reads, but writes nothing. */
  preview(intents: readonly PreparedUpload<Task>[]): Promise<readonly Result<string>[]>;
  /** Puts each in its place; the failures are those of G1 and G2. */
  publish(intents: readonly PreparedUpload<Task>[]): Promise<readonly Result<Placement>[]>;
}

export type ChannelMap = Readonly<Record<ChannelKey, Channel>>;
