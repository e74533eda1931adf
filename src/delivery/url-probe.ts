import { keepRecent } from '../async.ts';
import { DeliveryError } from '../errors.ts';
import { type FetchBackOptions, fetchBack } from '../http/fetch-back.ts';
import type { CookieJar } from '../http/follow.ts';
import {
  firstHeader,
  isAbsence,
  isShownAsPage,
  parseRetryAfter,
  readCacheTime,
  readLastModified,
  readVersion,
} from '../http/response.ts';
import type { Ports } from '../ports.ts';
import { MEGABYTE, PARTIAL_PROBE, PROBE_TIME, SECOND } from '../protocol/limits.ts';
import { getReach, parseExternalAddress } from '../rules/external-address.ts';
import { withVersion } from '../rules/naming.ts';
import type { Address } from './addresses.ts';
import { comparesPage, LINK_HEAD_SIZE, matchAnswer } from './match-content.ts';
import { failedProbe, type ProbeResult, provesAlone } from './probe-result.ts';

/** How long, and how often, addresses are asked. */
export interface WaitLimits {
  /** Milliseconds between two requests. */
  readonly interval: number;
  /** Milliseconds that build and verification may take together. */
  readonly timeout: number;
  /** When they began, and when they must end: milliseconds since the epoch. */
  readonly begun: number;
  readonly deadline: number;
}

/** What all probes of one placement share. */
export interface ProbeSession {
  readonly ports: Ports;
  /** The deadline comes early where the site does not come. */
  limits: WaitLimits;
  /** Aborts when the delivery stops, after so many milliseconds, or at the first deadline. */
  readonly signalWithin: (ms: number) => AbortSignal;
  /** A new value for `?v=`, the time and digits that nobody else has: a cache keeps the answer to each. */
  readonly nextStamp: () => string;
  /** Why the addresses may open only inside this network; empty where nothing says so. */
  internalReason: string;
  publicOnly: boolean;
}

export function newProbeSession(limits: WaitLimits, ports: Ports): ProbeSession {
  const { clock, random, signal } = ports;
  const own = String(Math.floor(random() * 1e8)).padStart(8, '0');
  let asked = 0;
  const nextStamp = (): string => {
    asked += 1;
    return `${Math.floor(clock.now() / SECOND)}${own}${asked}`;
  };
  // A signal for each of thousands of requests would cost more than the request: those of one second share theirs.
  const getSignal = keepRecent(RECENT_SIGNALS, (second) =>
    AbortSignal.any([signal, clock.timeout(Number(second) * SECOND - clock.now())]),
  );
  const signalWithin = (ms: number): AbortSignal => {
    const left = Math.max(limits.deadline - clock.now(), SECOND);
    return getSignal(String(Math.ceil((clock.now() + Math.min(ms, left)) / SECOND)));
  };
  return { ports, limits, signalWithin, nextStamp, internalReason: '', publicOnly: true };
}

const RECENT_SIGNALS = 16;

interface AskOptions {
  readonly cookies: CookieJar | undefined;
  readonly readsBeginning: boolean;
  readonly asBrowser: boolean;
}

/** Opens an address as anybody would, as often as it is asked to, and remembers the last answer. */
export class UrlProbe {
  last: ProbeResult | null = null;
  /** When it was asked last: milliseconds since the epoch. */
  askedAt = 0;
  readonly #address: Address;
  readonly #session: ProbeSession;
  /** Whether an address was refused by its name. */
  #isRefused = false;
  /** The version of the last answer that was the file as a whole. */
  #version: string | undefined;
  /** Milliseconds since the epoch; the host asked for no request before. */
  #notBefore = 0;

  constructor(address: Address, session: ProbeSession) {
    this.#address = address;
    this.#session = session;
  }

  /**
   * Gets one answer of the address, as somebody new would: without a cookie of an earlier request. A host's failure is a
   * result like any other. As long as the host asks to wait, its last answer is returned, and nothing is sent.
   *
   * @param size `part` reads only the beginning of a large file that was seen as a whole
   * @param asBrowser whether to ask as a browser does
   * @throws {DeliveryError} `NOT_EXTERNAL` when a redirect leads to this machine, or to no public host where it
   * must be one; the abort's reason.
   */
  async probe(size: 'whole' | 'part' = 'whole', asBrowser = false): Promise<ProbeResult> {
    this.askedAt = this.#session.ports.clock.now();
    if (this.last !== null && this.askedAt < this.#notBefore) return this.last;
    const { isInBin = false, file } = this.#address;
    // The bin's warning page is the one exception: a person leaves it with one click, and then the bytes decide.
    const cookies: CookieJar | undefined = isInBin && file !== null ? new Map() : undefined;
    // Where each look counts, the only one is that of a browser.
    const how = { cookies, readsBeginning: size === 'part', asBrowser: asBrowser || isInBin };
    this.last = await this.#askAndCheckVersion(how);
    if (this.last.httpCode === 200 && !provesAlone(this.last) && cookies !== undefined && cookies.size > 0) {
      this.last = await this.#askAndCheckVersion(how);
    }
    return this.last;
  }

  /** The beginning says nothing of the rest where the host calls it another version: then all of it is read. */
  async #askAndCheckVersion(how: AskOptions): Promise<ProbeResult> {
    const result = await this.#ask(how);
    if (result.match !== 'identical' || result.version === this.#version) return result;
    if (this.#isBeginning(how)) return this.#askAndCheckVersion({ ...how, readsBeginning: false });
    this.#version = result.version;
    return result;
  }

  /** Whether only the beginning of the file is compared. */
  #isBeginning({ readsBeginning }: AskOptions): boolean {
    const { size = 0, headSha256 } = this.#address.file ?? {};
    return readsBeginning && this.#version !== undefined && headSha256 !== undefined && size > PARTIAL_PROBE;
  }

  async #ask(how: AskOptions): Promise<ProbeResult> {
    const { clock, http, signal: stop } = this.#session.ports;
    const signal = this.#session.signalWithin(maxProbeTime(this.#address));
    const { marker } = this.#address;
    try {
      const fetched = await fetchBack(http, this.#url(), this.#fetchOptions(how, signal), marker);
      const { status, addresses, fingerprint, refusal } = fetched;
      // What may be a proof is asked for again: each answer counts once.
      const isBusy = status !== 200 && !isAbsence(status);
      this.#notBefore = clock.now() + ((isBusy && parseRetryAfter(fetched, clock.now())) || 0);
      return {
        httpCode: status,
        hosts: addresses.map(({ host }) => host),
        fingerprint,
        refusal,
        lastModified: readLastModified(fetched),
        version: readVersion(fetched),
        ...readCacheTime(fetched),
        hasPolicy: isShownAsPage(fetched) && firstHeader(fetched, 'content-security-policy') !== undefined,
        ...(await matchAnswer(fetched, this.#address, this.#isBeginning(how))),
        ...(how.asBrowser && !this.#address.isInBin && { asBrowser: true }),
      };
    } catch (thrown) {
      stop.throwIfAborted();
      const stalled = new DeliveryError('NOT_PROVEN', 'the address gave no complete answer in time');
      return this.#failed(signal.aborted ? stalled : thrown, how);
    }
  }

  #fetchOptions(how: AskOptions, signal: AbortSignal): FetchBackOptions {
    const { file, marker, earlier = [], display, isInBin = false, path, home } = this.#address;
    const isLink = file === null || comparesPage(this.#address);
    const isComparedOnly = display === undefined && marker === undefined && !isLink;
    return {
      signal,
      guard: (url) => this.#guard(url),
      publicOnly: this.#session.publicOnly,
      asBrowser: how.asBrowser,
      plainRefusals: isInBin,
      ...(how.cookies && { cookies: how.cookies }),
      ...(isComparedOnly && { readAtMost: this.#largestKnown() + 1 }),
      ...(isComparedOnly && home === undefined && { headSize: 0 }),
      ...(!isComparedOnly &&
        path === null && {
          startProgress: (total) => this.#session.ports.logger.progress('fetched back', total, 'bytes'),
        }),
      ...(this.#isBeginning(how) && { readAtMost: PARTIAL_PROBE }),
      ...(isLink && { headSize: LINK_HEAD_SIZE }),
      blobs: file?.sha256 === null ? [{ size: file.size, sha: file.blobSha ?? '' }, ...earlier] : earlier,
    };
  }

  /** Bytes of the largest body that means anything. */
  #largestKnown(): number {
    const { file, earlier = [], fallbacks = [] } = this.#address;
    return Math.max(file?.size ?? 0, ...[...earlier, ...fallbacks].map(({ size }) => size));
  }

  /** A host that the user named may be internal to a network; one on this machine is never a delivery. */
  #guard(url: URL): void {
    const { reach, why } = getReach(url);
    if (this.#address.isLink || reach === 'machine') {
      // Stays set where the next line throws: what is refused is not asked again.
      this.#isRefused = true;
      parseExternalAddress(url, 'the address');
      this.#isRefused = false;
    }
    this.#session.internalReason ||= why;
  }

  /** The address, each time with another `?v=`, so that no cache can give two requests the same answer. */
  #url(): URL {
    const { url, bypassCache } = this.#address;
    return bypassCache ? withVersion(url, this.#session.nextStamp()) : url;
  }

  async #failed(failure: unknown, how: AskOptions): Promise<ProbeResult> {
    if (!(failure instanceof DeliveryError)) throw failure;
    if (failure.code !== 'NOT_EXTERNAL') return failedProbe(failure);
    if (this.#isRefused || this.#address.isLink || !this.#session.publicOnly) throw failure;
    // The name resolves to an internal address: it is asked once more from within this network.
    this.#session.publicOnly = false;
    this.#session.internalReason ||= failure.message;
    return this.#ask(how);
  }
}

/** Milliseconds that one request may take: a very slow answer must leave time for another request. */
function maxProbeTime({ file, gone }: Address): number {
  // The size of a link's content is not known.
  if (file === null && !gone) return Number.POSITIVE_INFINITY;
  return PROBE_TIME.least + ((file?.size ?? 0) / MEGABYTE) * PROBE_TIME.perMegabyte;
}
