import type { Placement } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { AGREEING_PROBES, FURTHER_PROBES, LATER_PROBE, SITE } from '../protocol/limits.ts';
import { loginPageError, type WrongAnswer } from './describe-probe.ts';
import { failedProbe, isProof, type ProbeResult } from './match-content.ts';
import type { UrlProbe } from './url-probe.ts';
import type { WaitLimits } from './wait-log.ts';

/** What an answer is: what is wanted, the copy from before that a cache may have, or anything else. */
export type Verdict = 'right' | 'old' | 'wrong';

/** One address to prove. */
export interface Address {
  /** Its path within a site; `null` for the page whose address is handed over. */
  readonly path: string | null;
  /** Opens it; made for each address that is not proven yet. */
  readonly open: () => UrlProbe;
  /** How many answers in a row must be right. */
  readonly answers: number;
  readonly judge: (result: ProbeResult) => Verdict;
  /** Whether its second answer comes some seconds after the first, and may look different to each. */
  readonly isExternal?: boolean;
  /** Whether it is asked once more at the end, where others were late. */
  readonly isAskedAgain?: boolean;
  /** Whether every answer is asked for as a browser does; by default the second one is. */
  readonly asBrowser?: boolean;
  /** What it has answered already. */
  readonly known?: ProbeResult | undefined;
  readonly refusals?: Placement['refusals'];
}

/** An address that is proven. */
export interface ProvenAddress {
  readonly address: Address;
  readonly result: ProbeResult;
  /** Whether a cache still has the copy from before. */
  readonly isOld: boolean;
}

/** Which further answer is asked for as a browser does: a person opens the address with one. */
const BROWSER_PROBE = 1;

/** One address on the way to its proof. */
export class AddressProof {
  readonly address: Address;
  /** Its last answers, where they were right. */
  proven: ProvenAddress | undefined;
  readonly #limits: Pick<WaitLimits, 'deadline'>;
  readonly #ports: Ports;
  #probe: UrlProbe | undefined;
  #needed: number;
  #oldLooks = 0;
  #known: ProbeResult | undefined;
  #isReached = false;
  /** The last wrong answer, and a right one that it followed. */
  #wrong: ProbeResult | null = null;
  #earlier: ProbeResult | undefined;

  constructor(address: Address, limits: Pick<WaitLimits, 'deadline'>, ports: Ports) {
    this.address = address;
    this.#needed = address.answers;
    this.#known = address.known;
    this.#limits = limits;
    this.#ports = ports;
  }

  /** Whether it is a link whose host has never answered. */
  get isUnreached(): boolean {
    return this.address.isExternal === true && !this.#isReached;
  }

  /** Whether a cache has the copy from before, which may be accepted after some looks. */
  get isOld(): boolean {
    return this.#oldLooks > 0;
  }

  /** Asks as often as is needed, and stops at the first wrong answer. @returns whether it is proven now */
  async look(isLast: boolean): Promise<boolean> {
    // Of thousands of files, a second each would add up to many minutes.
    const isOver = this.#ports.clock.now() > this.#limits.deadline + SITE.overtime;
    if (isOver && this.address.path !== null) return false;
    const first = this.#known ?? (await this.#ask('whole', this.address.asBrowser ?? false));
    this.#known = undefined;
    const verdict = this.address.judge(first);
    if (verdict === 'old') this.#oldLooks += 1;
    const acceptsOld = this.#oldLooks >= FURTHER_PROBES || (isLast && this.#oldLooks > 0);
    const accepts = (one: Verdict): boolean => one === 'right' || (one === 'old' && acceptsOld);
    if (!accepts(verdict)) {
      this.#wrong = first;
      return false;
    }
    const accept = (one: ProbeResult): boolean => accepts(this.address.judge(one));
    const proven = await this.#confirm(first, verdict === 'old', accept);
    if (proven === null) return false;
    this.proven = proven;
    this.#probe = undefined;
    this.#wrong = null;
    return true;
  }

  /** Further answers in a row, which must be the same: of several nodes of a cache each answers once. */
  async #confirm(
    first: ProbeResult,
    wasOld: boolean,
    accepts: (result: ProbeResult) => boolean,
  ): Promise<ProvenAddress | null> {
    const { address } = this;
    const { clock, signal } = this.#ports;
    let result = first;
    let isOld = wasOld;
    for (let count = 1; count < this.#needed; count += 1) {
      const left = Math.max(this.#limits.deadline - clock.now(), 0);
      // Where answers differed, a series that the deadline cuts short proves nothing.
      if (left === 0 && count >= address.answers) return null;
      if (address.isExternal && count === 1) await clock.sleep(Math.min(LATER_PROBE, left), signal);
      const asBrowser = address.asBrowser ?? count === BROWSER_PROBE;
      const next = await this.#ask(isProof(first) ? 'part' : 'whole', asBrowser);
      const isNowOld = address.judge(next) === 'old';
      if (isNowOld) this.#oldLooks += 1;
      const mayDiffer = isOld || isNowOld || (asBrowser && address.isExternal);
      if (!accepts(next) || !(mayDiffer || isSameAnswer(next, result))) {
        this.#earlier = result;
        this.#wrong = next;
        this.#needed = Math.min(this.#needed * 2, AGREEING_PROBES.most);
        return null;
      }
      isOld ||= isNowOld;
      // A part has another fingerprint than the whole.
      if (!isProof(next) && !asBrowser) result = next;
    }
    return { address, result, isOld };
  }

  async #ask(size: 'whole' | 'part', asBrowser: boolean): Promise<ProbeResult> {
    this.#probe ??= this.address.open();
    const { path } = this.address;
    try {
      const result = await this.#probe.probe(size, asBrowser);
      this.#isReached ||= result.failure?.code !== 'NO_NETWORK';
      if (path === null && (result.match === 'login' || this.#isWall(result))) {
        throw loginPageError(result, this.address.isExternal);
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
    const { isExternal = false, refusals } = this.address;
    return isExternal && refusals === undefined && (httpCode === 401 || httpCode === 403);
  }

  /** What is wrong with it. */
  describe(): WrongAnswer {
    const { path, refusals = [] } = this.address;
    const { refusal = '', httpCode } = this.#wrong ?? {};
    const meaning = refusals.find(
      ({ httpCodes, text }) => httpCode != null && httpCodes.includes(httpCode) && text.test(refusal),
    );
    return { path, last: this.#wrong, earlier: this.#earlier, meaning };
  }
}

/** Two nodes that each show a page with the marker, but not the same one, do not agree. */
const isSameAnswer = (one: ProbeResult, other: ProbeResult): boolean =>
  one.match === other.match &&
  one.hosts.at(-1) === other.hosts.at(-1) &&
  (one.match !== 'altered' || one.fingerprint?.sha256 === other.fingerprint?.sha256);
