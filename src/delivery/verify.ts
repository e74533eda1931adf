import { poll } from '../async.ts';
import type { HostProgress, Placement, PreparedTask, RefusalMeaning } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { AGREEING_PROBES, LATER_PROBE, SECOND } from '../protocol/limits.ts';
import { BUSY_HINT, countMarker, describeProbe, loginPageError, notProvenError } from './describe-probe.ts';
import {
  type ContentMatch,
  type ExpectedContent,
  isProof,
  type ProbeResult,
  type UrlProbe,
} from './url-probe.ts';

/** How long, and how often, the address is asked. */
export interface WaitLimits {
  /** Milliseconds between two requests. */
  readonly interval: number;
  /** Milliseconds that build and verification may take together. */
  readonly timeout: number;
  /** When they began, and when they must end: milliseconds since the epoch. */
  readonly begun: number;
  readonly deadline: number;
}

/** What verification found: the evidence for G3. */
export interface Proof {
  readonly httpCode: number;
  /** `null` without a marker. */
  readonly markerCount: number | null;
  /** SHA-256 of the body, lowercase hex; `null` where nothing is served any more. */
  readonly sha256: string | null;
  /** How the body relates to the file. */
  readonly match: ContentMatch;
  readonly hosts: readonly string[];
  /** How many further files of a site were proven. */
  readonly parts: number;
  /** Whether an address of it still answered with what was there before, as UNKNOWN says. */
  readonly isCached: boolean;
  /** Whether it was reached in a private network, as UNKNOWN says. */
  readonly isInternal: boolean;
}

/**
 * WAIT: until the address shows the file, or the host says that it has finished.
 *
 * @throws {DeliveryError} `BUILD_ERRORED`, or `BUILD_TIMEOUT` at the deadline.
 * @see protocol 3.2, 8
 */
export async function waitForSite(
  task: PreparedTask,
  { placement, probe }: { readonly placement: Placement; readonly probe: UrlProbe },
  limits: WaitLimits,
  ports: Ports,
): Promise<void> {
  if (task.watch === undefined) return;
  let progress: HostProgress = { finished: false, detail: 'the host was not asked yet' };
  const log = createWaitLog('waited for the site', limits, ports);
  const finished = await poll({ ...limits, ...ports }, async () => {
    const result = await probe.probe();
    if (isProof(result)) return `the site shows it: ${describeProbe(result)}`;
    if (result.match === 'login') throw loginPageError(result);
    progress = (await task.watch?.(placement)) ?? progress;
    log.write(`${describeProbe(result)}; ${progress.detail}`);
    return progress.finished ? progress.detail : undefined;
  }).finally(log.end);
  if (finished !== undefined) return ports.logger.info(finished);
  const seconds = limits.timeout / SECOND;
  throw new DeliveryError(
    'BUILD_TIMEOUT',
    `the site did not show the file within ${seconds} s: ${describeProbe(probe.last)}; ${progress.detail}`,
    {
      httpCode: probe.last?.httpCode ?? progress.httpCode,
      hint:
        (probe.last?.httpCode === 429 ? BUSY_HINT : progress.hint) ??
        'run the step again: the file is committed, so it only verifies',
    },
  );
}

/** The address of a placement, and what it must show. */
export interface AddressCheck {
  readonly probe: UrlProbe;
  readonly expected: ExpectedContent;
  /** Asks the host how far the build is that contains the commit; absent where nothing is built. */
  readonly watch?: (() => Promise<HostProgress | undefined>) | undefined;
  /** What the host means when it refuses the address. */
  readonly explainRefusal?: PreparedTask['explainRefusal'];
}

/**
 * VERIFY: fetches the address back until it shows the bytes of the file, in several answers in a row. Where the
 * host may rightly change the bytes, the marker is enough if the host also says that it has built our commit,
 * and the page is not older than that commit. A link has no build: there the marker in other bytes counts at
 * the deadline alone.
 *
 * @throws {DeliveryError} `NOT_PROVEN` at the deadline, with what the address showed last.
 * @see protocol 4.5
 * @see design 5
 */
export async function verifyAddress(
  placement: Placement,
  check: AddressCheck,
  limits: WaitLimits,
  ports: Ports,
): Promise<Proof> {
  const { probe, expected } = check;
  const series = createProbeSeries(placement, probe, limits, ports);
  const accept = (result: ProbeResult) => acceptResult(result, placement, check);
  const seen = probe.last !== null && isProof(probe.last) ? probe.last : null;
  const result =
    (seen && (await series.confirm(seen, accept))) ??
    (await pollForProof(series, accept, { check, limits, ports })) ??
    (await believeAtDeadline(series, probe, placement));
  if (result === undefined || result.httpCode === null) {
    throw notProvenError(probe.last, { meaning: explainResult(probe.last, check) });
  }
  ports.logger.info(describeProbe(result));
  return {
    httpCode: result.httpCode,
    markerCount: countMarker(result, expected),
    sha256: result.fingerprint?.sha256 ?? null,
    match: result.match,
    hosts: result.hosts,
    parts: 0,
    isCached: false,
    isInternal: probe.internalReason !== '',
  };
}

/** What the host means by its refusal, where its channel knows it. */
function explainResult(
  result: ProbeResult | null,
  { explainRefusal }: AddressCheck,
): RefusalMeaning | undefined {
  if (result?.refusal === undefined || result.httpCode === null) return undefined;
  return explainRefusal?.({ httpCode: result.httpCode, text: result.refusal });
}

/** What an answer proves; `undefined` for nothing yet. */
type AcceptResult = (result: ProbeResult) => Promise<ProbeResult | undefined>;

/** @see design 5 (K1) */
export async function acceptResult(
  result: ProbeResult,
  { hostMayChangeBytes }: Placement,
  { watch, expected }: AddressCheck,
): Promise<ProbeResult | undefined> {
  if (isProof(result)) return result;
  // What the build renders may be the same page as before: then its date tells that it was built again.
  const mayBeBuilt = result.match === 'altered' || (result.match === 'previous' && result.hasMarker);
  if (!hostMayChangeBytes || !mayBeBuilt || expected.gone || watch === undefined) return undefined;
  const { finished, committedAt } = (await watch()) ?? { finished: false };
  if (!finished || committedAt === undefined || result.lastModified === null) return undefined;
  return result.lastModified >= committedAt ? { ...result, match: 'altered' } : undefined;
}

/** A link whose page changes the bytes, such as a viewer's: nothing else can become known of it. */
function believeAtDeadline(
  series: ProbeSeries,
  { last }: UrlProbe,
  { hostMayChangeBytes, mustBeExternal }: Placement,
): Promise<ProbeResult | undefined> | undefined {
  if (!hostMayChangeBytes || !mustBeExternal || last?.match !== 'altered') return undefined;
  return series.confirm(last, async (result) => (result.match === 'altered' ? result : undefined));
}

/** Answers in a row: one right answer may come from one of several cache nodes, or from a link that opens once. */
export interface ProbeSeries {
  /**
   * Asks again until as many answers in a row are right as needed.
   *
   * @param first the right answer that is known already
   * @returns `undefined` as soon as one is not; from then on more of them are needed
   */
  confirm(first: ProbeResult, accept: AcceptResult): Promise<ProbeResult | undefined>;
}

/** Which further answer is asked for as a browser does: a person opens the address with one. */
const BROWSER_PROBE = 2;

/**
 * A link from outside is asked again later, all others at once. With `?v=` one right answer is enough: the
 * address without it is asked next.
 */
export function createProbeSeries(
  {
    mustBeExternal,
    bypassCache,
    countsDownloads,
    recheck,
  }: Pick<Placement, 'mustBeExternal' | 'bypassCache' | 'countsDownloads' | 'recheck'>,
  probe: UrlProbe,
  { deadline }: Pick<WaitLimits, 'deadline'>,
  { clock, signal }: Ports,
): ProbeSeries {
  const { counted, rechecked } = AGREEING_PROBES;
  const fewest = recheck === undefined ? counted : rechecked;
  const usual = countsDownloads ? fewest : AGREEING_PROBES.usual;
  let needed: number = bypassCache ? 1 : usual;
  return {
    async confirm(first, accept) {
      let result = first;
      for (let count = 1; count < needed; count += 1) {
        const left = Math.max(deadline - clock.now(), 0);
        // Where answers differed, a series that the deadline cuts short proves nothing.
        if (left === 0 && count >= usual) return undefined;
        if (mustBeExternal && count === 1) await clock.sleep(Math.min(LATER_PROBE, left), signal);
        const asBrowser = count === BROWSER_PROBE;
        // A page from outside may look different to each; the site's own may not.
        const mayDiffer = asBrowser && mustBeExternal;
        const next = await accept(await probe.probe(isProof(first) ? 'part' : 'whole', asBrowser));
        if (next === undefined || !(mayDiffer || isSameAnswer(next, result))) {
          needed = Math.min(needed * 2, AGREEING_PROBES.most);
          return undefined;
        }
        // A part has another fingerprint than the whole.
        result = isProof(next) || asBrowser ? result : next;
      }
      return result;
    },
  };
}

/** Two nodes that each show a page with the marker, but not the same one, do not agree. */
const isSameAnswer = (one: ProbeResult, other: ProbeResult): boolean =>
  one.match === other.match &&
  one.hosts.at(-1) === other.hosts.at(-1) &&
  (one.match !== 'altered' || one.fingerprint?.sha256 === other.fingerprint?.sha256);

function pollForProof(
  series: ProbeSeries,
  accept: AcceptResult,
  {
    check,
    limits,
    ports,
  }: { readonly check: AddressCheck; readonly limits: WaitLimits; readonly ports: Ports },
): Promise<ProbeResult | undefined> {
  const { probe } = check;
  const log = createWaitLog('waited for the address', limits, ports);
  return poll({ ...limits, ...ports }, async () => {
    const first = await probe.probe();
    const accepted = await accept(first);
    const result = accepted && (await series.confirm(accepted, accept));
    if (result !== undefined) return result;
    if (probe.last?.match === 'login') throw loginPageError(probe.last);
    const meaning = explainResult(probe.last, check);
    if (meaning?.isFinal) throw notProvenError(probe.last, { meaning });
    log.write(`${describeProbe(probe.last)}${accepted === undefined ? '' : ', after a right answer'}`);
    return undefined;
  }).finally(log.end);
}

/** Logs a wait: a line when something changed, and how much of the time is over. */
function createWaitLog(title: string, { begun, timeout }: WaitLimits, { clock, logger }: Ports) {
  const progress = logger.progress(title, timeout, 'milliseconds');
  let lastLine = '';
  let shown = 0;
  return {
    write(line: string): void {
      const elapsed = clock.now() - begun;
      if (line !== lastLine) logger.info(`${(elapsed / SECOND).toFixed(0)} s: ${line}`);
      lastLine = line;
      progress.advance(elapsed - shown);
      shown = elapsed;
    },
    end: () => progress.end(),
  };
}
