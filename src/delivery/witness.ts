import type { Placement } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { type Fetched, fetchBack } from '../http/fetch-back.ts';
import type { CookieJar } from '../http/follow.ts';
import type { Meter, Ports } from '../ports.ts';
import { LOOK, MEGABYTE, SECOND } from '../protocol/limits.ts';
import { externalAddress, reachOf } from '../rules/external-address.ts';
import type { Fingerprint } from '../rules/fingerprint.ts';
import type { LocalFile } from '../rules/inspect.ts';

/**
 * How a body relates to the file. Only the first three prove anything: `marked` is a body that holds the
 * marker where no file was given to compare it with; `gone` is what a withdrawn address must answer. In an
 * `altered` one the bytes are others than the file's.
 */
export type Likeness =
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
export interface Sight {
  readonly httpCode: number | null;
  /** How the body relates to the file. */
  readonly likeness: Likeness;
  readonly print: Fingerprint | null;
  readonly hosts: readonly string[];
  /** Why there was no answer to judge. */
  readonly failure?: DeliveryError;
}

/** What the body must be. */
export interface Expectation {
  /** `null` for a link that is verified by its marker alone. */
  readonly file: LocalFile | null;
  readonly marker: string | undefined;
  /** Whether there must be nothing at the address any more. */
  readonly gone?: boolean;
}

/** What a host answers where nothing is. */
const GONE = [404, 410];

/** Somebody who opens an address as anybody would, again and again, and remembers what it showed last. */
export interface Witness {
  /**
   * Asks the address once. A host's failure is a sight like any other.
   *
   * @throws {DeliveryError} `NOT_EXTERNAL` when a hop is this machine's own, or no public host where it
   * must be one; the abort's reason.
   */
  look(): Promise<Sight>;
  /** Why the address may open only inside this network, of one that was looked at; empty where nothing says so. */
  readonly inner: string;
  readonly last: Sight | undefined;
  readonly looks: number;
  /** How often the marker stood in what was seen; `null` without a marker. */
  markerCount(sight: Sight): number | null;
}

const PROOFS: readonly Likeness[] = ['identical', 'marked', 'gone'];

/** Whether a sight proves the delivery, or the withdrawal, at once. */
export const proves = ({ likeness }: Sight): boolean => PROOFS.includes(likeness);

export type Address = Pick<Placement, 'url' | 'bustCaches' | 'mustBeExternal' | 'previousSha256'>;

/**
 * @param deadline milliseconds since the epoch at which a look in progress is broken off
 */
export function createWitness(
  address: Address,
  expected: Expectation,
  deadline: number,
  ports: Ports,
): Witness {
  const { clock, http } = ports;
  const cookies: CookieJar = new Map();
  const needles = expected.marker === undefined ? [] : [Buffer.from(expected.marker)];
  let inner = '';
  let fromOutside = true;
  /** An address on a host that the user named may be a network's own; one of this machine is never a delivery. */
  function guard(url: URL): void {
    const { reach, why } = reachOf(url);
    if (address.mustBeExternal || reach === 'machine') externalAddress(url.href, 'the address');
    inner ||= why;
  }
  const meter = (total: number): Meter => ports.logger.meter('fetched back', total, 'bytes');
  let stamp = 0;
  let last: Sight | undefined;
  let looks = 0;

  /** Each request carries a later timestamp, so that no cache can answer two of them alike. */
  function stamped(): URL {
    if (!address.bustCaches) return address.url;
    const url = new URL(address.url);
    stamp = Math.max(stamp + 1, Math.floor(clock.now() / SECOND));
    url.searchParams.set('v', String(stamp));
    return url;
  }

  async function ask(): Promise<Sight> {
    const left = Math.min(lookTime(expected), Math.max(deadline - clock.now(), SECOND));
    const signal = AbortSignal.any([ports.signal, clock.timeout(left)]);
    try {
      const fetched = await fetchBack(
        http,
        stamped(),
        { signal, guard, cookies, meter, publicOnly: fromOutside },
        needles,
      );
      return { ...fetched, likeness: await judge(fetched, expected, address.previousSha256) };
    } catch (thrown) {
      ports.signal.throwIfAborted();
      const failure = signal.aborted ? stalled() : thrown;
      if (!(failure instanceof DeliveryError)) throw failure;
      if (failure.code === 'NOT_EXTERNAL') {
        if (address.mustBeExternal || !fromOutside) throw failure;
        // What is refused to anybody outside is asked once more as somebody of this network.
        fromOutside = false;
        inner ||= failure.message;
        return ask();
      }
      return { httpCode: failure.httpCode ?? null, likeness: 'absent', print: null, hosts: [], failure };
    }
  }

  return {
    async look() {
      looks += 1;
      const known = cookies.size;
      last = await ask();
      // A host that hands out a cookie with its warning page gives the file to whoever brings it back.
      if (!proves(last) && cookies.size > known) last = await ask();
      return last;
    },
    get inner() {
      return inner;
    },
    get last() {
      return last;
    },
    get looks() {
      return looks;
    },
    markerCount: ({ print }) => (expected.marker === undefined ? null : (print?.counts[0] ?? 0)),
  };
}

/** Judges a body against the file, and against what stood there before. */
async function judge(
  { print, httpCode, login }: Fetched,
  { file, marker, gone = false }: Expectation,
  previous?: string,
): Promise<Likeness> {
  if (gone && GONE.includes(httpCode)) return 'gone';
  if (print !== null && print.sha256 === file?.sha256) return 'identical';
  // Whatever marker stands in it.
  if (login) return 'login';
  if (print === null) return 'absent';
  if (gone) return 'previous';
  if (print.sha256 === previous) return 'previous';
  if (file !== null && (await isBeginning(print, file))) return 'cut-short';
  if (marker === undefined || print.counts[0] === 0) return 'different';
  return file === null ? 'marked' : 'altered';
}

async function isBeginning({ size, sha256 }: Fingerprint, file: LocalFile): Promise<boolean> {
  if (size >= file.size) return false;
  return size === 0 || (await file.headSha256(size)) === sha256;
}

/** Milliseconds that one look may take: an answer that only drips must leave time for another. */
function lookTime({ file, gone }: Expectation): number {
  // How much a link brings that has no file is not known.
  if (file === null) return gone ? LOOK.least : Number.POSITIVE_INFINITY;
  return LOOK.least + (file.size / MEGABYTE) * LOOK.perMegabyte;
}

function stalled(): DeliveryError {
  return new DeliveryError('NOT_PROVEN', 'the address gave no complete answer in time');
}
