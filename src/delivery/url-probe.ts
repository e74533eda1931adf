import type { Placement } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { type FetchedContent, fetchBack } from '../http/fetch-back.ts';
import type { CookieJar } from '../http/follow.ts';
import type { Ports, Progress } from '../ports.ts';
import { MEGABYTE, PROBE_TIME, SECOND } from '../protocol/limits.ts';
import { getReach, parseExternalAddress } from '../rules/external-address.ts';
import type { ContentFingerprint } from '../rules/fingerprint.ts';
import type { LocalFile } from '../rules/inspect.ts';

/**
 * How a body relates to the file. Only the first three prove anything: `marked` is a body that holds the
 * marker where no file was given to compare it with; `gone` is what a withdrawn address must answer. In an
 * `altered` one the bytes are others than the file's.
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

/** What one look at an address showed. */
export interface ProbeResult {
  readonly httpCode: number | null;
  /** How the body relates to the file. */
  readonly match: ContentMatch;
  readonly fingerprint: ContentFingerprint | null;
  readonly hosts: readonly string[];
  /** Why there was no answer to judge. */
  readonly failure?: DeliveryError;
}

/** What the body must be. */
export interface ExpectedContent {
  /** `null` for a link that is verified by its marker alone. */
  readonly file: LocalFile | null;
  readonly marker: string | undefined;
  /** Whether there must be nothing at the address any more. */
  readonly gone?: boolean;
}

/** What a host answers where nothing is. */
const GONE = [404, 410];

/** Somebody who opens an address as anybody would, again and again, and remembers what it showed last. */
export interface UrlProbe {
  /**
   * Asks the address once. A host's failure is a sight like any other.
   *
   * @throws {DeliveryError} `NOT_EXTERNAL` when a hop is this machine's own, or no public host where it
   * must be one; the abort's reason.
   */
  probe(): Promise<ProbeResult>;
  /** Why the address may open only inside this network, of one that was looked at; empty where nothing says so. */
  readonly internalReason: string;
  readonly last: ProbeResult | undefined;
  readonly attempts: number;
  /** How often the marker stood in what was seen; `null` without a marker. */
  markerCount(sight: ProbeResult): number | null;
}

const PROOFS: readonly ContentMatch[] = ['identical', 'marked', 'gone'];

/** Whether a sight proves the delivery, or the withdrawal, at once. */
export const isProof = ({ match }: ProbeResult): boolean => PROOFS.includes(match);

export type ProbeTarget = Pick<Placement, 'url' | 'bypassCache' | 'mustBeExternal' | 'previousSha256'>;

/**
 * @param deadline milliseconds since the epoch at which a look in progress is broken off
 */
export function createUrlProbe(
  address: ProbeTarget,
  expected: ExpectedContent,
  deadline: number,
  ports: Ports,
): UrlProbe {
  const { clock, http } = ports;
  const cookies: CookieJar = new Map();
  const needles = expected.marker === undefined ? [] : [Buffer.from(expected.marker)];
  let inner = '';
  let fromOutside = true;
  /** An address on a host that the user named may be a network's own; one of this machine is never a delivery. */
  function guard(url: URL): void {
    const { reach, why } = getReach(url);
    if (address.mustBeExternal || reach === 'machine') parseExternalAddress(url.href, 'the address');
    inner ||= why;
  }
  const startProgress = (total: number): Progress => ports.logger.progress('fetched back', total, 'bytes');
  let stamp = 0;
  let last: ProbeResult | undefined;
  let looks = 0;

  /** Each request carries a later timestamp, so that no cache can answer two of them alike. */
  function stamped(): URL {
    if (!address.bypassCache) return address.url;
    const url = new URL(address.url);
    stamp = Math.max(stamp + 1, Math.floor(clock.now() / SECOND));
    url.searchParams.set('v', String(stamp));
    return url;
  }

  async function ask(): Promise<ProbeResult> {
    const left = Math.min(maxProbeTime(expected), Math.max(deadline - clock.now(), SECOND));
    const signal = AbortSignal.any([ports.signal, clock.timeout(left)]);
    try {
      const fetched = await fetchBack(
        http,
        stamped(),
        { signal, guard, cookies, startProgress, publicOnly: fromOutside },
        needles,
      );
      return { ...fetched, match: await matchContent(fetched, expected, address.previousSha256) };
    } catch (thrown) {
      ports.signal.throwIfAborted();
      const failure = signal.aborted ? stalledError() : thrown;
      if (!(failure instanceof DeliveryError)) throw failure;
      if (failure.code === 'NOT_EXTERNAL') {
        if (address.mustBeExternal || !fromOutside) throw failure;
        // What is refused to anybody outside is asked once more as somebody of this network.
        fromOutside = false;
        inner ||= failure.message;
        return ask();
      }
      return { httpCode: failure.httpCode ?? null, match: 'absent', fingerprint: null, hosts: [], failure };
    }
  }

  return {
    async probe() {
      looks += 1;
      const known = cookies.size;
      last = await ask();
      // A host that hands out a cookie with its warning page gives the file to whoever brings it back.
      if (!isProof(last) && cookies.size > known) last = await ask();
      return last;
    },
    get internalReason() {
      return inner;
    },
    get last() {
      return last;
    },
    get attempts() {
      return looks;
    },
    markerCount: ({ fingerprint }) => (expected.marker === undefined ? null : (fingerprint?.counts[0] ?? 0)),
  };
}

/** Judges a body against the file, and against what stood there before. */
async function matchContent(
  { fingerprint, httpCode, login }: FetchedContent,
  { file, marker, gone = false }: ExpectedContent,
  previous?: string,
): Promise<ContentMatch> {
  if (gone && GONE.includes(httpCode)) return 'gone';
  if (fingerprint !== null && fingerprint.sha256 === file?.sha256) return 'identical';
  // Whatever marker stands in it.
  if (login) return 'login';
  if (fingerprint === null) return 'absent';
  if (gone) return 'previous';
  if (fingerprint.sha256 === previous) return 'previous';
  if (file !== null && (await isBeginningOf(fingerprint, file))) return 'cut-short';
  if (marker === undefined || fingerprint.counts[0] === 0) return 'different';
  return file === null ? 'marked' : 'altered';
}

async function isBeginningOf({ size, sha256 }: ContentFingerprint, file: LocalFile): Promise<boolean> {
  if (size >= file.size) return false;
  return size === 0 || (await file.headSha256(size)) === sha256;
}

/** Milliseconds that one look may take: an answer that only drips must leave time for another. */
function maxProbeTime({ file, gone }: ExpectedContent): number {
  // How much a link brings that has no file is not known.
  if (file === null) return gone ? PROBE_TIME.least : Number.POSITIVE_INFINITY;
  return PROBE_TIME.least + (file.size / MEGABYTE) * PROBE_TIME.perMegabyte;
}

function stalledError(): DeliveryError {
  return new DeliveryError('NOT_PROVEN', 'the address gave no complete answer in time');
}
