import { findMeaning } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { AGREEING_PROBES, FURTHER_PROBES, SITE } from '../protocol/limits.ts';
import { type Address, judgeAnswer } from './addresses.ts';
import { loginPageError, type WrongAnswer } from './describe-probe.ts';
import { failedProbe, type ProbeResult, provesAlone } from './probe-result.ts';
import { type ProbeSession, UrlProbe } from './url-probe.ts';

/** One address on the way to its proof. */
export class AddressProof {
  readonly address: Address;
  readonly probe: UrlProbe;
  /** What it has answered, once it is proven. */
  proven: ProbeResult | undefined;
  /** Whether that was the copy from before, which a cache still has. */
  isOld = false;
  readonly #session: ProbeSession;
  #needed: number;
  #looks = 0;
  #oldLooks = 0;
  #known: ProbeResult | undefined;
  #isReached: boolean;
  /** The last wrong answer, and a right one that it followed. */
  #wrong: ProbeResult | null = null;
  #earlier: ProbeResult | undefined;

  /** @param probe asks it; a new one where it was not asked before */
  constructor(address: Address, session: ProbeSession, probe = new UrlProbe(address, session)) {
    this.address = address;
    this.probe = probe;
    this.#session = session;
    this.#needed = address.answers;
    this.#known = address.known;
    this.#isReached = address.known !== undefined;
  }

  /** Whether a cache had the copy from before, which may be accepted after some looks. */
  get wasOld(): boolean {
    return this.#oldLooks > 0;
  }

  /** Whether one look was not enough. */
  get wasLate(): boolean {
    return this.#looks > 1;
  }

  /** @returns whether it is proven now, or is optional and was asked often enough */
  async look(isLast: boolean): Promise<boolean> {
    const { path, isOptional = false } = this.address;
    // Of thousands of files, a second each would add up to many minutes.
    if (path !== null && this.#isOver(SITE.overtime)) return false;
    this.#looks += 1;
    const isProven = await this.#askInARow(isLast);
    const isEnough = isLast || this.#looks >= FURTHER_PROBES || this.#wrong?.match === 'login';
    return isProven || (isOptional && isEnough);
  }

  /**
   * Asks as often as is needed, and stops at the first wrong answer. The answers must be the same: of several nodes of
   * a cache each answers once.
   *
   * @returns whether it is proven now
   */
  async #askInARow(isLast: boolean): Promise<boolean> {
    const { address } = this;
    let result: ProbeResult | undefined;
    let isOld = false;
    for (let count = 0; count < this.#needed; count += 1) {
      // Where answers differed, a series that the deadline cuts short proves nothing.
      if (count >= address.answers && this.#isOver()) return false;
      if (count === 1) await this.#wait();
      const asBrowser = address.asBrowser ?? count === BROWSER_PROBE;
      const known = this.#known;
      this.#known = undefined;
      const next = known ?? (await this.#ask(result && provesAlone(result) ? 'part' : 'whole', asBrowser));
      const verdict = judgeAnswer(next, address);
      if (verdict === 'old') this.#oldLooks += 1;
      isOld ||= verdict === 'old';
      const acceptsOld = this.#oldLooks >= FURTHER_PROBES || (isLast && this.#oldLooks > 0);
      const isAccepted = verdict === 'right' || (verdict === 'old' && acceptsOld);
      const mayDiffer = isOld || (address.isLink && asBrowser);
      if (!isAccepted || (result && !mayDiffer && !isSameAnswer(next, result))) {
        this.#wrong = next;
        this.#earlier = result ?? this.#earlier;
        if (result) this.#needed = Math.min(this.#needed * 2, AGREEING_PROBES.most);
        return false;
      }
      // A part has another fingerprint than the whole.
      if (result === undefined || (!provesAlone(next) && !asBrowser)) result = next;
    }
    this.proven = result;
    this.isOld = isOld;
    return result !== undefined;
  }

  /** Whether the deadline has passed so many milliseconds ago. */
  #isOver(overtime = 0): boolean {
    const { ports, limits } = this.#session;
    return ports.clock.now() >= limits.deadline + overtime;
  }

  /** Until so long after the first answer, or the deadline. */
  async #wait(): Promise<void> {
    const { ports, limits } = this.#session;
    const { clock, signal } = ports;
    const left = Math.min(this.probe.askedAt + (this.address.pause ?? 0), limits.deadline) - clock.now();
    if (left > 0) await clock.sleep(left, signal);
  }

  async #ask(size: 'whole' | 'part', asBrowser: boolean): Promise<ProbeResult> {
    const { path, isLink } = this.address;
    try {
      const result = await this.probe.probe(size, asBrowser);
      this.#isReached ||= result.failure?.code !== 'NO_NETWORK';
      if (path === null && (result.match === 'login' || this.#isWall(result))) {
        throw loginPageError(result, isLink);
      }
      return result;
    } catch (thrown) {
      // One of many files is named; only the page itself ends the delivery at once.
      if (path === null || !(thrown instanceof DeliveryError)) throw thrown;
      return failedProbe(thrown);
    }
  }

  /** Whether a link is closed to the public, and its host says nothing else of it. */
  #isWall({ httpCode }: ProbeResult): boolean {
    const { isLink, refusals } = this.address;
    return isLink === true && refusals === undefined && (httpCode === 401 || httpCode === 403);
  }

  /** What is wrong with it. */
  describe(): WrongAnswer {
    const { isLink, refusals = [] } = this.address;
    const { refusal = '', httpCode } = this.#wrong ?? {};
    const meaning = findMeaning(refusals, httpCode ?? 0, refusal);
    const isUnreached = isLink && !this.#isReached && this.#looks > UNREACHED_LOOKS;
    return {
      address: this.address,
      last: this.#wrong,
      earlier: this.#earlier,
      meaning: isUnreached ? { isFinal: true } : meaning,
    };
  }
}

/**
 * After so many looks a link on a host that nothing reaches is given up; a name that is new may come to resolve. What a
 * channel placed is waited for: its host has answered before.
 */
const UNREACHED_LOOKS = 12;

/** Which further answer is asked for as a browser does: a person opens the address with one. */
const BROWSER_PROBE = 1;

/** Two nodes that each show a page with the marker, but not the same one, do not agree. */
const isSameAnswer = (one: ProbeResult, other: ProbeResult): boolean =>
  one.match === other.match &&
  one.hosts.at(-1) === other.hosts.at(-1) &&
  (one.match !== 'altered' || one.fingerprint?.sha256 === other.fingerprint?.sha256);
