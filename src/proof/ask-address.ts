import { keepRecent } from '../async.ts';
import { DeliveryError } from '../errors.ts';
import { type FetchBackOptions, type FetchedContent, fetchBack } from '../http/fetch-back.ts';
import type { CookieJar } from '../http/follow.ts';
import {
  firstHeader,
  isAbsence,
  isDownloaded,
  isShownAsPage,
  parseRetryAfter,
  readCacheTime,
  readLastModified,
  readType,
  readVersion,
} from '../http/response.ts';
import type { Ports } from '../ports.ts';
import { MAX_JUDGED_PAGE, MEGABYTE, PARTIAL_PROBE, PROBE_TIME, SECOND, TEXT } from '../protocol/limits.ts';
import { getReach, parseExternalAddress } from '../rules/external-address.ts';
import { withVersion } from '../rules/naming.ts';
import { type Check, isRemovedCheck, type KnownBuild } from './check.ts';
import { matchAnswer } from './match-content.ts';
import { failedProbe, type ProbeResult, provesAlone } from './probe-result.ts';

/** Milliseconds between two requests, and for waiting and verifying together. */
export interface WaitLimits {
  readonly interval: number;
  readonly timeout: number;
  /** Whether each address is looked at once, with all of the time: the caller asks again. */
  readonly once?: boolean;
}

/** A placement on the way to its proof: what the requests for all its addresses share. */
export class ProofRun {
  /** How many files must be shown, the page among them, and how many must be gone. */
  readonly totals: { readonly shown: number; readonly gone: number };
  readonly limits: WaitLimits;
  readonly ports: Ports;
  /** When it began, and when it must end, by `Clock.now`. */
  readonly startedAt: number;
  readonly deadline: number;
  builtAt: KnownBuild['builtAt'];
  outdated: KnownBuild['outdated'];
  /** Why the site did not come, if so: then each address is asked once. */
  waitFailure: DeliveryError | null = null;
  /** Why the addresses may open only inside this network; empty where nothing says so. */
  internalReason = '';
  publicOnly = true;
  /** The addresses that showed their file byte for byte when they were asked last. */
  readonly identical = new Set<string>();
  /** Downloads of a bin's file. */
  downloads = 0;
  /** Digits that nobody else has. */
  readonly salt: string;
  #stamps = 0;
  // A signal for each of thousands of requests would cost more than the request: those of one second share theirs.
  readonly #signals = keepRecent(RECENT_SIGNALS, (second) => {
    const { clock, signal } = this.ports;
    return AbortSignal.any([signal, clock.timeout(Number(second) * SECOND - clock.now())]);
  });

  /** @param checks everything that must be right */
  constructor(checks: readonly Check[], limits: WaitLimits, ports: Ports) {
    const gone = checks.filter(isRemovedCheck).length;
    this.totals = { shown: checks.length - gone, gone };
    this.limits = limits;
    this.ports = ports;
    this.startedAt = ports.clock.now();
    this.deadline = this.startedAt + limits.timeout;
    this.salt = String(Math.floor(ports.random() * 1e8)).padStart(8, '0');
  }

  /** Aborts when the delivery stops, after so many milliseconds, or at the deadline. */
  signalWithin(ms: number): AbortSignal {
    const now = this.ports.clock.now();
    const left = Math.max(this.deadline - now, SECOND);
    return this.#signals(String(Math.ceil((now + Math.min(ms, left)) / SECOND)));
  }

  /** A new value for `?v=`: a cache keeps the answer to each. */
  nextStamp(): string {
    this.#stamps += 1;
    return `${Math.floor(this.ports.clock.date() / SECOND)}${this.salt}${this.#stamps}`;
  }
}

const RECENT_SIGNALS = 16;

interface Look {
  readonly asBrowser: boolean;
  /** Looks with different numbers never share a connection: a balancer may choose the node by connection. */
  readonly nth: number;
}

interface AskOptions extends Look {
  readonly cookies: CookieJar | undefined;
  /** Whether only the beginning of the file is read and compared. */
  readonly isBeginning: boolean;
}

/**
 * Gets one answer as somebody new would, without a cookie. A host's failure is a result like any other.
 *
 * @param seen what it answered before: of a large file only the beginning is read, unless it is another version
 * @throws {DeliveryError} `NOT_EXTERNAL` for a redirect to this machine, or to no public host where it must be one
 */
export async function askAddress(
  check: Check,
  run: ProofRun,
  { asBrowser, nth }: Look,
  seen: ProbeResult | null = null,
): Promise<ProbeResult> {
  if (check.host.warnsBrowsers) return askBin(check, run);
  const { prefixSha256: headSha256, size = 0 } = check.expect.file ?? {};
  const isBeginning = seen?.match === 'identical' && headSha256 !== undefined && size > PARTIAL_PROBE;
  const how = { cookies: undefined, asBrowser, nth, isBeginning };
  const result = await askOnce(check, run, how);
  const isOther = isBeginning && result.match === 'identical' && result.version !== seen.version;
  return isOther ? askOnce(check, run, { ...how, isBeginning: false }) : result;
}

/**
 * Gets one answer of a file-bin as a browser does, which is a download. A person leaves its warning page with one click;
 * it comes only before a file that may still be downloaded.
 */
async function askBin(check: Check, run: ProofRun): Promise<ProbeResult> {
  const ask = async (cookies: CookieJar | undefined) => {
    const answer = await askOnce(check, run, { cookies, asBrowser: true, nth: 0, isBeginning: false });
    // Anything but a page or a refusal of the bin itself.
    if (answer.hosts.length !== 1 || provesAlone(answer)) run.downloads += 1;
    const isWarning = answer.httpCode === 200 && !provesAlone(answer) && (cookies?.size ?? 0) > 0;
    return { ...answer, isWarning };
  };
  const cookies: CookieJar | undefined = check.expect.file && new Map();
  const first = await ask(cookies);
  if (!first.isWarning) return first;
  const result = await ask(cookies);
  if (!provesAlone(result)) return result;
  const again = await ask(new Map());
  return [403, 404, 410].includes(again.httpCode ?? 0) ? again : { ...result, opensAgain: again.isWarning };
}

async function askOnce(check: Check, run: ProofRun, how: AskOptions): Promise<ProbeResult> {
  const { clock, http, signal: stop } = run.ports;
  const { url, addsVersion, expect, host } = check;
  const signal = run.signalWithin(maxProbeTime(check));
  // Each time with another `?v=`, so that no cache can give two requests the same answer.
  let asked = addsVersion ? withVersion(url, run.nextStamp()) : url;
  // A host that the user named may be internal to a network; one on this machine is never a delivery.
  const guard = (next: URL): void => {
    asked = next;
    const { reach, why } = getReach(next);
    if (host.mustBePublic || reach === 'machine') parseExternalAddress(next, 'the URL');
    run.internalReason ||= why;
  };
  try {
    const options = { ...fetchOptions(check, run, how), guard, signal };
    const fetched = await fetchBack(http, asked, options, expect.marker);
    const match = await matchAnswer(fetched, check, how.isBeginning);
    return {
      ...match,
      ...summarizeAnswer(fetched, clock),
      ...(how.asBrowser && !host.warnsBrowsers && { asBrowser: true }),
    };
  } catch (thrown) {
    stop.throwIfAborted();
    const stalled = new DeliveryError('NOT_PROVEN', 'the URL gave no complete answer in time');
    const failure = signal.aborted ? stalled : thrown;
    if (!(failure instanceof DeliveryError)) throw failure;
    if (failure.code !== 'NOT_EXTERNAL') return failedProbe(failure);
    if (host.mustBePublic || !run.publicOnly || getReach(asked).reach === 'machine') throw failure;
    // The name resolves to an internal address: it is asked once more from within this network.
    run.publicOnly = false;
    run.internalReason ||= failure.message;
    return askOnce(check, run, how);
  }
}

function summarizeAnswer(fetched: FetchedContent, clock: Ports['clock']): Omit<ProbeResult, 'match'> {
  const { status, addresses, fingerprint, refusal } = fetched;
  // What may be a proof is asked for again: each answer counts once.
  const pause = status === 200 || isAbsence(status) ? undefined : parseRetryAfter(fetched, clock.date());
  return {
    httpCode: status,
    hosts: addresses.map(({ host }) => host),
    fingerprint,
    refusal,
    lastModified: readLastModified(fetched),
    version: readVersion(fetched),
    ...readCacheTime(fetched),
    hasPolicy: isShownAsPage(fetched) && firstHeader(fetched, 'content-security-policy') !== undefined,
    isDownload: isDownloaded(fetched),
    type: readType(fetched).slice(0, TEXT.message),
    ...(pause !== undefined && { notBefore: clock.now() + pause }),
  };
}

function fetchOptions(
  check: Check,
  run: ProofRun,
  { asBrowser, nth, cookies, isBeginning }: AskOptions,
): Omit<FetchBackOptions, 'guard' | 'signal'> {
  const { host, isPage } = check;
  const { file, marker, before = [], display, judge } = check.expect;
  const isComparedOnly = display === undefined && marker === undefined && file !== undefined;
  // Bytes of the largest body that means anything.
  const largest = Math.max(file?.size ?? 0, ...before.map(({ size }) => size));
  const isShown = !isComparedOnly && isPage;
  return {
    publicOnly: run.publicOnly,
    connections: nth,
    asBrowser,
    plainRefusals: host.warnsBrowsers,
    cookies,
    readAtMost: isBeginning ? PARTIAL_PROBE : isComparedOnly ? largest + 1 : undefined,
    prefixSize: isComparedOnly ? (judge ? undefined : 0) : judge && MAX_JUDGED_PAGE,
    startProgress: isShown ? (total) => run.ports.logger.progress('fetched back', total, 'bytes') : undefined,
    blobs: file?.sha256 === null ? [{ size: file.size, sha: file.blobSha ?? '' }, ...before] : before,
  };
}

/** Milliseconds that one request may take: a very slow answer must leave time for another request. */
function maxProbeTime({ expect: { is, file } }: Check): number {
  if (is === 'marker') return Number.POSITIVE_INFINITY;
  return PROBE_TIME.least + ((file?.size ?? 0) / MEGABYTE) * PROBE_TIME.perMegabyte;
}
