import { DeliveryError } from '../errors.ts';
import { AGREEING_ANSWERS, MAX_ROUNDS, SITE } from '../protocol/limits.ts';
import { askAddress, type ProofRun } from './ask-address.ts';
import { type Check, findMeaning, judgeAnswer, type KnownRefusal } from './check.ts';
import { failedProbe, loginPageError, type ProbeResult, provesAlone } from './probe-result.ts';

export class AddressProof {
  readonly check: Check;
  readonly run: ProofRun;
  last: ProbeResult | null = null;
  proven: ProbeResult | undefined;
  isOld = false;
  lastWrong: ProbeResult | null = null;
  lastRight: ProbeResult | undefined;
  rounds = 0;
  oldRounds = 0;
  /** Milliseconds that a cache may keep that copy at most; `null` if a cache doesn't tell. */
  freshFor: number | null = 0;
  #needed: number;
  #isReached: boolean;
  /** The same URL with `?v=`: a page that the host built must have the same bytes. */
  readonly #versionedProof: AddressProof | undefined;

  constructor(check: Check, run: ProofRun, before?: AddressProof, versioned?: AddressProof) {
    this.check = check;
    this.run = run;
    this.#versionedProof = versioned;
    this.#needed = check.series.answers;
    this.last = before?.last ?? null;
    this.#isReached = before !== undefined;
  }

  get meaning(): Partial<KnownRefusal> | undefined {
    const { refusals, maxUnreachedRounds } = this.check.host;
    if (!this.#isReached && this.rounds > maxUnreachedRounds) return { isFinal: true };
    const { refusal = '', httpCode } = this.lastWrong ?? {};
    return findMeaning(refusals, httpCode ?? 0, refusal);
  }

  /**
   * @param mustAgree whether one of the site's files needs more than one right answer
   * @returns whether the URL is verified, or is optional and was fetched often enough
   */
  async runRound(isLast: boolean, mustAgree = false): Promise<boolean> {
    const { isPage, isOptional } = this.check;
    // A second for each of thousands of files would add up to many minutes.
    if (!isPage && this.#isOver(SITE.overtime)) return false;
    this.rounds += 1;
    const least = mustAgree && !isPage && !isOptional ? AGREEING_ANSWERS.usual : 1;
    const isProven = await this.#askInARow(isLast, Math.max(this.#needed, least));
    const isEnough = isLast || this.rounds >= MAX_ROUNDS || this.lastWrong?.match === 'login';
    return isProven || (isOptional === true && isEnough);
  }

  /** Stops at the first answer that is wrong or differs. @returns whether the URL is verified */
  async #askInARow(isLast: boolean, needed: number): Promise<boolean> {
    const { check, run } = this;
    const { series } = check;
    let result: ProbeResult | undefined;
    let isOld = false;
    let extended: ProbeResult | undefined;
    for (let count = 0; count < needed; count += 1) {
      // After differing answers, a series that the deadline cuts short proves nothing.
      if (count >= series.answers && this.#isOver()) return false;
      const asBrowser = series.as === 'both' ? count === BROWSER_PROBE : series.as === 'browser';
      // A login page, or an answer that was right before the first round, isn't fetched again.
      const known = count === 0 && this.rounds === 1 && this.last && isKnown(this.last) && this.last;
      const next = known || (await this.ask(count, asBrowser));
      const verdict = judgeAnswer(next, check, run, this.#versionedProof?.proven?.fingerprint?.sha256);
      isOld ||= verdict === 'old';
      const isAccepted = verdict === 'old' ? this.#acceptsOld(next, isLast) : verdict === 'right';
      const mayDiffer = isOld || (check.host.addsForBrowsers && asBrowser);
      if (!isAccepted || (result && !mayDiffer && !isSameAnswer(next, result))) {
        run.identical.delete(check.url.href);
        // A later build may have changed the page.
        if (verdict === 'wrong' && next.match === 'altered') await this.#versionedProof?.runRound(isLast);
        this.lastWrong = next;
        this.lastRight = result ?? this.lastRight;
        if (result) this.#needed = Math.min(needed * 2, AGREEING_ANSWERS.most);
        return false;
      }
      // People see what a host adds for browsers alone.
      if (next.match === 'extended') extended ??= next;
      // The fingerprint of a part differs from the whole file's.
      if (result === undefined || (!provesAlone(next) && !asBrowser)) result = next;
    }
    this.proven = extended ?? result;
    this.isOld = isOld;
    if (this.proven?.match === 'identical') run.identical.add(check.url.href);
    return this.proven !== undefined;
  }

  /** Accepts the previous copy after a few rounds, because a cache may be late. */
  #acceptsOld({ freshFor }: ProbeResult, isLast: boolean): boolean {
    this.oldRounds += 1;
    this.freshFor = this.freshFor === null || !freshFor ? null : Math.max(this.freshFor, freshFor);
    return isLast || this.oldRounds >= MAX_ROUNDS;
  }

  #isOver(overtime = 0): boolean {
    const { ports, deadline } = this.run;
    return ports.clock.now() >= deadline + overtime;
  }

  /** Fetches once, unless the host asked to wait. @throws {DeliveryError} `NOT_EXTERNAL` for the page only */
  async ask(nth = 0, asBrowser = false): Promise<ProbeResult> {
    const { check, run, last } = this;
    const { isPage, host } = check;
    const now = run.ports.clock.now();
    if (last?.notBefore !== undefined && now < last.notBefore) return last;
    try {
      const result = await askAddress(check, run, { asBrowser, nth }, nth === 0 ? null : last);
      this.last = result;
      this.#isReached ||= result.failure?.code !== 'NO_NETWORK';
      // The page is closed to the public, unless the host gives another reason.
      const { httpCode, refusal = '' } = result;
      const isWall = host.mustBePublic && !host.warnsBrowsers && [401, 403].includes(httpCode ?? 0);
      const isClosed = isWall && findMeaning(host.refusals, httpCode ?? 0, refusal) === undefined;
      if (isPage && (result.match === 'login' || isClosed)) throw loginPageError(result, host.hints.login);
      return result;
    } catch (thrown) {
      // The error for many files names this file.
      if (isPage || !(thrown instanceof DeliveryError)) throw thrown;
      return failedProbe(thrown);
    }
  }
}

/** The second answer is fetched as a browser, because people open the URL with a browser. */
const BROWSER_PROBE = 1;

const isKnown = (answer: ProbeResult): boolean => provesAlone(answer) || answer.match === 'login';

/** Two different pages that both have the marker don't agree. */
const isSameAnswer = (answer: ProbeResult, other: ProbeResult): boolean =>
  answer.match === other.match &&
  answer.hosts.at(-1) === other.hosts.at(-1) &&
  (answer.match !== 'altered' || answer.fingerprint?.sha256 === other.fingerprint?.sha256);
