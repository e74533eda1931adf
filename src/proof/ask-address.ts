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
  /** Whether each URL gets one round only, because the caller repeats. */
  readonly once?: boolean;
}

/** Proves checks until a deadline; with what it has learned on the way. */
export function createProofRun(checks: readonly Check[], limits: WaitLimits, ports: Ports) {
  const { clock, random, signal: stop } = ports;
  const removed = checks.filter(isRemovedCheck).length;
  const startedAt = clock.now();
  const deadline = startedAt + limits.timeout;
  const salt = String(Math.floor(random() * 1e8)).padStart(8, '0');
  let stamps = 0;
  // Requests in the same second share a signal, because thousands of signals cost more than the requests.
  const getSignal = keepRecent(16, (second) =>
    AbortSignal.any([stop, clock.timeout(Number(second) * SECOND - clock.now())]),
  );
  return {
    ...{ limits, ports, startedAt, deadline },
    /** The number of files that must be shown, including the page, and that must be removed. */
    totals: { shown: checks.length - removed, removed },
    builtAt: undefined as KnownBuild['builtAt'],
    outdated: undefined as KnownBuild['outdated'],
    waitFailure: null as DeliveryError | null,
    internalReason: '',
    publicOnly: true,
    identical: new Set<string>(),
    downloads: 0,
    /** @returns a signal that aborts after `ms` milliseconds, at the deadline, or when the delivery stops */
    signalWithin(ms: number): AbortSignal {
      const left = Math.max(deadline - clock.now(), SECOND);
      return getSignal(String(Math.ceil((clock.now() + Math.min(ms, left)) / SECOND)));
    },
    /** @returns a new value for `?v=`, because a cache keeps the answer for each value */
    nextStamp(): string {
      stamps += 1;
      return `${Math.floor(clock.date() / SECOND)}${salt}${stamps}`;
    },
  };
}

export type ProofRun = ReturnType<typeof createProofRun>;

interface Look {
  readonly asBrowser: boolean;
  /** Each number gets its own connection, because a load balancer may choose the node by connection. */
  readonly nth: number;
}

interface AskOptions extends Look {
  readonly cookies: CookieJar | undefined;
  readonly isBeginning: boolean;
}

/**
 * Fetches a URL as a new visitor, without cookies. A host's failure is a result, not an error.
 * @param seen the previous answer: only the start of a large file is read again, unless its version changed
 * @throws {DeliveryError} `NOT_EXTERNAL` for a redirect to this machine, or to a host that must be public and isn't
 */
export async function askAddress(
  check: Check,
  run: ProofRun,
  { asBrowser, nth }: Look,
  seen: ProbeResult | null = null,
): Promise<ProbeResult> {
  if (check.host.warnsBrowsers) return askBin(check, run);
  const { prefixSha256, size = 0 } = check.expect.file ?? {};
  const isBeginning = seen?.match === 'identical' && prefixSha256 !== undefined && size > PARTIAL_PROBE;
  const how = { cookies: undefined, asBrowser, nth, isBeginning };
  const result = await askOnce(check, run, how);
  const isOther = isBeginning && result.match === 'identical' && result.version !== seen.version;
  return isOther ? askOnce(check, run, { ...how, isBeginning: false }) : result;
}

/**
 * Downloads a file-bin's file as a browser does, past the warning page that people leave with one click. The bin shows
 * that page only while the file may still be downloaded.
 */
async function askBin(check: Check, run: ProofRun): Promise<ProbeResult> {
  const ask = async (cookies: CookieJar | undefined) => {
    const answer = await askOnce(check, run, { cookies, asBrowser: true, nth: 0, isBeginning: false });
    // The bin itself answered with neither a page nor a refusal.
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
  // A new `?v=` each time, so that no cache gives two requests the same answer.
  let asked = addsVersion ? withVersion(url, run.nextStamp()) : url;
  // A host that the user named may be internal to a network, but never on this machine.
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
    // The name resolves to an internal address: fetch again from inside this network.
    run.publicOnly = false;
    run.internalReason ||= failure.message;
    return askOnce(check, run, how);
  }
}

function summarizeAnswer(fetched: FetchedContent, clock: Ports['clock']): Omit<ProbeResult, 'match'> {
  const { status, addresses, fingerprint, refusal } = fetched;
  // Successes and 404s are fetched again without a pause, because each answer counts once.
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

/** @returns milliseconds for one request, so that a very slow answer leaves time for another */
function maxProbeTime({ expect: { is, file } }: Check): number {
  if (is === 'marker') return Number.POSITIVE_INFINITY;
  return PROBE_TIME.least + ((file?.size ?? 0) / MEGABYTE) * PROBE_TIME.perMegabyte;
}
