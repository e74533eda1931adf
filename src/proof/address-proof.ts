import { DeliveryError } from '../errors.ts';
import { AGREEING_ANSWERS, MAX_ROUNDS, SITE } from '../protocol/limits.ts';
import { askAddress, type ProofRun } from './ask-address.ts';
import { type Check, findMeaning, judgeAnswer, type KnownRefusal } from './check.ts';
import { failedProbe, loginPageError, type ProbeResult, provesAlone } from './probe-result.ts';

/** One address on the way to its proof. */
export class AddressProof {
  readonly check: Check;
  readonly run: ProofRun;
  /** What it answered last; `null` where it was not asked. */
  last: ProbeResult | null = null;
  /** What it has answered, once it is proven. */
  proven: ProbeResult | undefined;
  /** Whether that was the copy from before, which a cache still has. */
  isOld = false;
  /** The last answer that was wrong; `null` where it was not asked. */
  lastWrong: ProbeResult | null = null;
  /** A right answer before it. */
  lastRight: ProbeResult | undefined;
  rounds = 0;
  /** How often a cache had the copy from before. */
  oldRounds = 0;
  /** The longest time in milliseconds that a cache may keep such a copy; `null` where one does not tell. */
  freshFor: number | null = 0;
  #needed: number;
  #isReached: boolean;
  /** When it was asked last, by `Clock.now`. */
  #askedAt = Number.NEGATIVE_INFINITY;

  /** The same address with `?v=`: a page that the host has built must show the same bytes. */
  readonly #fresh: AddressProof | undefined;

  /** @param same the same address: `before`, whose last answer counts, or `fresh` */
  constructor(
    check: Check,
    run: ProofRun,
    { before, fresh }: { readonly before?: AddressProof; readonly fresh?: AddressProof | undefined } = {},
  ) {
    this.check = check;
    this.run = run;
    this.#fresh = fresh;
    this.#needed = check.series.answers;
    this.last = before?.last ?? null;
    this.#isReached = before !== undefined;
    if (before) this.#askedAt = before.#askedAt;
  }

  /** What the host means by its wrong answer. */
  get meaning(): Partial<KnownRefusal> | undefined {
    const { refusals, maxUnreachedRounds } = this.check.host;
    if (!this.#isReached && this.rounds > maxUnreachedRounds) return { isFinal: true };
    const { refusal = '', httpCode } = this.lastWrong ?? {};
    return findMeaning(refusals, httpCode ?? 0, refusal);
  }

  /**
   * @param mustAgree whether one right answer of a site's file is not enough
   * @returns whether it is proven now, or is optional and was asked often enough
   */
  async runRound(isLast: boolean, mustAgree = false): Promise<boolean> {
    const { isPage, isOptional } = this.check;
    // Of thousands of files, a second each would add up to many minutes.
    if (!isPage && this.#isOver(SITE.overtime)) return false;
    this.rounds += 1;
    const least = mustAgree && !isPage && !isOptional ? AGREEING_ANSWERS.usual : 1;
    const isProven = await this.askInARow(isLast, Math.max(this.#needed, least));
    const isEnough = isLast || this.rounds >= MAX_ROUNDS || this.lastWrong?.match === 'login';
    return isProven || (isOptional === true && isEnough);
  }

  /** Asks as often as is needed, up to the first answer that is wrong or another. @returns whether it is proven */
  async askInARow(isLast: boolean, needed: number): Promise<boolean> {
    const { check, run } = this;
    const { series } = check;
    let result: ProbeResult | undefined;
    let isOld = false;
    let extended: ProbeResult | undefined;
    for (let count = 0; count < needed; count += 1) {
      // Where answers differed, a series that the deadline cuts short proves nothing.
      if (count >= series.answers && this.#isOver()) return false;
      if (count === 1) await this.#wait();
      const asBrowser = series.as === 'both' ? count === BROWSER_PROBE : series.as === 'browser';
      // What was right before the first look is not asked again, and neither is a login page.
      const known = count === 0 && this.rounds === 1 && this.last && isKnown(this.last) && this.last;
      const next = known || (await this.ask(count, asBrowser));
      const verdict = judgeAnswer(next, check, run, this.#fresh?.proven?.fingerprint?.sha256);
      isOld ||= verdict === 'old';
      const isAccepted = verdict === 'old' ? this.#acceptsOld(next, isLast) : verdict === 'right';
      const mayDiffer = isOld || (check.host.addsForBrowsers && asBrowser);
      if (!isAccepted || (result && !mayDiffer && !isSameAnswer(next, result))) {
        run.identical.delete(check.url.href);
        // Another build may have changed the page since.
        if (verdict === 'wrong' && next.match === 'altered') await this.#fresh?.runRound(isLast);
        this.lastWrong = next;
        this.lastRight = result ?? this.lastRight;
        if (result) this.#needed = Math.min(needed * 2, AGREEING_ANSWERS.most);
        return false;
      }
      // What a host adds for browsers alone, a person sees.
      if (next.match === 'extended') extended ??= next;
      // A part has another fingerprint than the whole.
      if (result === undefined || (!provesAlone(next) && !asBrowser)) result = next;
    }
    this.proven = extended ?? result;
    this.isOld = isOld;
    if (this.proven?.match === 'identical') run.identical.add(check.url.href);
    return this.proven !== undefined;
  }

  /** Whether the copy from before counts by now: a cache may be late. */
  #acceptsOld({ freshFor }: ProbeResult, isLast: boolean): boolean {
    this.oldRounds += 1;
    this.freshFor = this.freshFor === null || !freshFor ? null : Math.max(this.freshFor, freshFor);
    return isLast || this.oldRounds >= MAX_ROUNDS;
  }

  /** Whether the deadline has passed so many milliseconds ago. */
  #isOver(overtime = 0): boolean {
    const { ports, deadline } = this.run;
    return ports.clock.now() >= deadline + overtime;
  }

  /** Until so long after the first answer, or the deadline. */
  async #wait(): Promise<void> {
    const { ports, deadline } = this.run;
    const { clock, signal } = ports;
    const left = Math.min(this.#askedAt + (this.check.series.pause ?? 0), deadline) - clock.now();
    if (left > 0) await clock.sleep(left, signal);
  }

  /** Asks once, unless the host asks to wait. @throws {DeliveryError} `NOT_EXTERNAL` for the page itself */
  async ask(nth = 0, asBrowser = false): Promise<ProbeResult> {
    const { check, run, last } = this;
    const { isPage, host } = check;
    const now = run.ports.clock.now();
    this.#askedAt = now;
    if (last?.notBefore !== undefined && now < last.notBefore) return last;
    try {
      const result = await askAddress(check, run, { asBrowser, nth }, nth === 0 ? null : last);
      this.last = result;
      this.#isReached ||= result.failure?.code !== 'NO_NETWORK';
      // Closed to the public, if its host says nothing else of it.
      const { httpCode, refusal = '' } = result;
      const isWall = host.mustBePublic && !host.warnsBrowsers && [401, 403].includes(httpCode ?? 0);
      const isClosed = isWall && findMeaning(host.refusals, httpCode ?? 0, refusal) === undefined;
      if (isPage && (result.match === 'login' || isClosed)) throw loginPageError(result, host.hints.login);
      return result;
    } catch (thrown) {
      // One of many files is named.
      if (isPage || !(thrown instanceof DeliveryError)) throw thrown;
      return failedProbe(thrown);
    }
  }
}

/** Which further answer is asked for as a browser does: a person opens the address with one. */
const BROWSER_PROBE = 1;

const isKnown = (answer: ProbeResult): boolean => provesAlone(answer) || answer.match === 'login';

/** Two nodes that each show a page with the marker, but not the same one, do not agree. */
const isSameAnswer = (answer: ProbeResult, other: ProbeResult): boolean =>
  answer.match === other.match &&
  answer.hosts.at(-1) === other.hosts.at(-1) &&
  (answer.match !== 'altered' || answer.fingerprint?.sha256 === other.fingerprint?.sha256);
