import type { Placement } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { type FetchedContent, fetchBack } from '../http/fetch-back.ts';
import type { CookieJar } from '../http/follow.ts';
import type { Ports } from '../ports.ts';
import { MEGABYTE, PROBE_TIME, SECOND } from '../protocol/limits.ts';
import { getReach, parseExternalAddress } from '../rules/external-address.ts';
import type { ContentFingerprint } from '../rules/fingerprint.ts';
import type { LocalFile } from '../rules/inspect.ts';

/**
 * How a body relates to the file. Only the first three prove anything: `marked` is a body with the marker
 * where no file was given to compare with; `gone` is what a withdrawn address must answer. An `altered` body
 * has the marker, but other bytes than the file.
 */
export type ContentMatch =
  | 'identical'
  | 'marked'
  | 'gone'
  | 'altered'
  | 'previous'
  | 'cut-short'
  | 'different'
  | 'login'
  | 'absent';

/** What one request to an address showed. */
export interface ProbeResult {
  readonly httpCode: number | null;
  readonly match: ContentMatch;
  readonly fingerprint: ContentFingerprint | null;
  readonly hosts: readonly string[];
  /** Why there was no answer to compare. */
  readonly failure?: DeliveryError;
}

/** What the address must show. */
export interface ExpectedContent {
  /** `null` for a link that is verified by its marker alone. */
  readonly file: LocalFile | null;
  readonly marker: string | undefined;
  /** Whether there must be nothing at the address any more. */
  readonly gone?: boolean;
}

/** The address, and how it is asked. */
export type ProbeTarget = Pick<Placement, 'url' | 'bypassCache' | 'mustBeExternal' | 'previousSha256'>;

/** What a host answers where nothing exists. */
const GONE = [404, 410];

const PROOFS: readonly ContentMatch[] = ['identical', 'marked', 'gone'];

/** Whether one answer is enough to prove the delivery or the withdrawal. */
export const isProof = ({ match }: ProbeResult): boolean => PROOFS.includes(match);

/** How often the marker was found in an answer; `null` without a marker. */
export function countMarker(result: ProbeResult | null, { marker }: ExpectedContent): number | null {
  return marker === undefined ? null : (result?.fingerprint?.counts[0] ?? 0);
}

/** Opens an address as anybody would, as often as it is asked to, and remembers the last answer. */
export class UrlProbe {
  last: ProbeResult | null = null;
  /** How often the address was asked. */
  attempts = 0;
  /** Why the address may open only inside this network; empty where nothing says so. */
  internalReason = '';
  readonly #target: ProbeTarget;
  readonly #expected: ExpectedContent;
  readonly #deadline: number;
  readonly #ports: Ports;
  readonly #cookies: CookieJar = new Map();
  #publicOnly = true;
  #stamp = 0;
  /** Milliseconds since the epoch; the host asked for no request before. */
  #notBefore = 0;

  /** @param deadline milliseconds since the epoch at which a request in progress is canceled */
  constructor(target: ProbeTarget, expected: ExpectedContent, deadline: number, ports: Ports) {
    this.#target = target;
    this.#expected = expected;
    this.#deadline = deadline;
    this.#ports = ports;
  }

  /**
   * Asks the address once. A host's failure is a result like any other. As long as the host asks to wait, its last
   * answer is returned, and nothing is sent.
   *
   * @throws {DeliveryError} `NOT_EXTERNAL` when a redirect leads to this machine, or to no public host where it
   * must be one; the abort's reason.
   */
  async probe(): Promise<ProbeResult> {
    if (this.last !== null && this.#ports.clock.now() < this.#notBefore) return this.last;
    this.attempts += 1;
    const cookies = this.#cookies.size;
    this.last = await this.#ask();
    // A host that sets a cookie with its warning page sends the file once the cookie comes back.
    if (!isProof(this.last) && this.#cookies.size > cookies) this.last = await this.#ask();
    return this.last;
  }

  async #ask(): Promise<ProbeResult> {
    const { clock, http, logger, signal: stop } = this.#ports;
    const left = Math.min(maxProbeTime(this.#expected), Math.max(this.#deadline - clock.now(), SECOND));
    const signal = AbortSignal.any([stop, clock.timeout(left)]);
    const options = {
      signal,
      guard: (url: URL) => this.#guard(url),
      cookies: this.#cookies,
      startProgress: (total: number) => logger.progress('fetched back', total, 'bytes'),
      publicOnly: this.#publicOnly,
    };
    const { marker } = this.#expected;
    try {
      const needles = marker === undefined ? [] : [Buffer.from(marker)];
      const fetched = await fetchBack(http, this.#url(), options, needles);
      this.#notBefore = clock.now() + (fetched.retryAfter ?? 0);
      const match = await matchContent(fetched, this.#expected, this.#target.previousSha256);
      return { ...fetched, match };
    } catch (thrown) {
      stop.throwIfAborted();
      return this.#failed(signal.aborted ? stalledError() : thrown);
    }
  }

  /** A host that the user named may be internal to a network; one on this machine is never a delivery. */
  #guard(url: URL): void {
    const { reach, why } = getReach(url);
    if (this.#target.mustBeExternal || reach === 'machine') parseExternalAddress(url.href, 'the address');
    this.internalReason ||= why;
  }

  /** The address, each time with a later `?v=`, so that no cache can give two requests the same answer. */
  #url(): URL {
    if (!this.#target.bypassCache) return this.#target.url;
    const url = new URL(this.#target.url);
    this.#stamp = Math.max(this.#stamp + 1, Math.floor(this.#ports.clock.now() / SECOND));
    url.searchParams.set('v', String(this.#stamp));
    return url;
  }

  async #failed(failure: unknown): Promise<ProbeResult> {
    if (!(failure instanceof DeliveryError)) throw failure;
    if (failure.code !== 'NOT_EXTERNAL') {
      return { httpCode: failure.httpCode ?? null, match: 'absent', fingerprint: null, hosts: [], failure };
    }
    if (this.#target.mustBeExternal || !this.#publicOnly) throw failure;
    // The name resolves to an internal address: it is asked once more from within this network.
    this.#publicOnly = false;
    this.internalReason ||= failure.message;
    return this.#ask();
  }
}

/** Compares a body with the file, and with what the address showed before. */
async function matchContent(
  { fingerprint, httpCode, login }: FetchedContent,
  { file, marker, gone = false }: ExpectedContent,
  previousSha256?: string,
): Promise<ContentMatch> {
  if (gone && GONE.includes(httpCode)) return 'gone';
  if (fingerprint !== null && fingerprint.sha256 === file?.sha256) return 'identical';
  // A login page may contain any marker.
  if (login) return 'login';
  if (fingerprint === null) return 'absent';
  if (gone || fingerprint.sha256 === previousSha256) return 'previous';
  if (file !== null && (await isBeginningOf(file, fingerprint))) return 'cut-short';
  if (marker === undefined || fingerprint.counts[0] === 0) return 'different';
  return file === null ? 'marked' : 'altered';
}

async function isBeginningOf(file: LocalFile, { size, sha256 }: ContentFingerprint): Promise<boolean> {
  if (size >= file.size) return false;
  return size === 0 || (await file.headSha256(size)) === sha256;
}

/** Milliseconds that one request may take: a very slow answer must leave time for another request. */
function maxProbeTime({ file, gone }: ExpectedContent): number {
  // The size of a link's content is not known.
  if (file === null) return gone ? PROBE_TIME.least : Number.POSITIVE_INFINITY;
  return PROBE_TIME.least + (file.size / MEGABYTE) * PROBE_TIME.perMegabyte;
}

function stalledError(): DeliveryError {
  return new DeliveryError('NOT_PROVEN', 'the address gave no complete answer in time');
}
