import type { Circumstances } from '../github/survey.ts';
import type { ChannelKey } from '../protocol/words.ts';
import type { LocalFile } from '../rules/inspect.ts';

/** What a channel will do, as plain data: no secret, no address that is not proven yet. */
export interface Plan {
  readonly channel: ChannelKey;
  /** How the file is placed, such as `method B: object API`. */
  readonly method: string;
  /** Where it goes, in words: branch and path, tag and asset, bin and name. */
  readonly destination: string;
  /** What should open there, for the report's claim. */
  readonly promise: string;
}

/** What a channel returned: the evidence for G1 and the final URL of G2. */
export interface Placement {
  /** Commit sha, HTTP 201 or asset identifier. @see protocol 3.1 */
  readonly evidence: string;
  readonly url: URL;
  readonly commitSha?: string;
  /** The machine's address of the same file, verified too. */
  readonly rawUrl?: URL;
  /** Whether `?v=` is put on each request, to get past caches. @see protocol 4.5 */
  readonly bustCaches: boolean;
  /** Whether the host may rightly change the bytes (a site's build, a viewer page). */
  readonly mayAlter: boolean;
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
export interface HostState {
  readonly finished: boolean;
  /** In words, for the log and for a failure. */
  readonly detail: string;
  readonly httpCode?: number | undefined;
}

/** A delivery that a channel has prepared: nothing is written before `place` is called. */
export interface Intent {
  readonly plan: Plan;
  /**
   * Puts the file in its place.
   *
   * @throws {DeliveryError} when G1 or G2 fails.
   */
  place(): Promise<Placement>;
  /**
   * One look at the host's own progress; absent where nothing has to be waited for.
   *
   * @throws {DeliveryError} `BUILD_ERRORED` when the host says that it will not come.
   */
  watch?(placement: Placement): Promise<HostState>;
}

/**
 * One of the protocol's channels.
 *
 * @see protocol 1 (channels)
 */
export interface Channel {
  readonly key: ChannelKey;
  /**
   * What would be done with the file. Reads, but writes nothing.
   *
   * @param file `null` for a link that is verified by its marker alone
   * @throws {DeliveryError} where the request can't be met, with what to change.
   */
  prepare(file: LocalFile | null, circumstances: Circumstances): Promise<Intent>;
}

export type Channels = Readonly<Record<ChannelKey, Channel>>;
