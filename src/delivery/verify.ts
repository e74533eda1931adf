import { poll } from '../async.ts';
import type { HostProgress, PlacedPart, Placement, PreparedTask } from '../channels/channel.ts';
import { DeliveryError, hasFailed, resultOf } from '../errors.ts';
import { countFiles } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { AGREEING_PROBES, FURTHER_PROBES, SECOND } from '../protocol/limits.ts';
import {
  BUSY_HINT,
  countMarker,
  describeCacheTime,
  describeProbe,
  loginPageError,
  type ProofWords,
} from './describe-probe.ts';
import {
  type Address,
  createWaitLog,
  type ProvenAddress,
  prove,
  type Verdict,
  type WaitLimits,
} from './prove.ts';
import {
  type ContentMatch,
  type ExpectedContent,
  isProof,
  newProbeSession,
  type ProbeResult,
  type ProbeSession,
  type ProbeTarget,
  UrlProbe,
} from './url-probe.ts';

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
  /** Whether a cache still has what was there before, or was not asked, as UNKNOWN says. */
  readonly isCached: boolean;
  /** Whether it was reached in a private network, as UNKNOWN says. */
  readonly isInternal: boolean;
}

/** What verification found, with what it could not see. */
export interface VerifiedPlacement {
  readonly proof: Proof;
  /** The raw address, where it was proven too. */
  readonly rawUrl: URL | null;
  readonly unknown: readonly string[];
}

/** A placement on the way to its proof: what its addresses must show, and how they are asked. */
export interface PlacementCheck {
  readonly placement: Placement;
  readonly expected: ExpectedContent;
  /** Asks the address that is handed over, with `?v=` where a cache has to be got past. */
  readonly probe: UrlProbe;
  readonly session: ProbeSession;
  readonly explainRefusal?: PreparedTask['explainRefusal'];
}

/** @param deadline milliseconds since the epoch */
export function openPlacement(
  placement: Placement,
  expected: ExpectedContent,
  deadline: number,
  ports: Ports,
): PlacementCheck {
  const session = newProbeSession(deadline, ports);
  return { placement, expected, session, probe: new UrlProbe(placement, expected, session, ports) };
}

/**
 * WAIT: until the address shows the file, or the host says that it has finished.
 *
 * @param ask how far the host is
 * @returns when the commit was made that the finished build contains: milliseconds since the epoch
 * @throws {DeliveryError} `BUILD_ERRORED`, or `BUILD_TIMEOUT` at the deadline.
 * @see protocol 3.2, 8
 */
export async function waitForSite(
  { probe, expected }: Pick<PlacementCheck, 'probe' | 'expected'>,
  ask: () => Promise<HostProgress>,
  limits: WaitLimits,
  ports: Ports,
): Promise<number | undefined> {
  let progress: HostProgress = { finished: false, detail: 'the host was not asked yet' };
  const log = createWaitLog('waited for the site', limits, ports);
  const finished = await poll({ ...limits, ...ports }, async () => {
    const result = await probe.probe();
    const shows = isProof(result);
    if (result.match === 'login') throw loginPageError(result);
    // Anything may answer a 404 once: what is removed is gone when the host has built without it.
    if (!shows || expected.gone) progress = await ask();
    if (shows && !(expected.gone && progress.building)) return `the site shows it: ${describeProbe(result)}`;
    log.write(`${describeProbe(result)}; ${progress.detail}`);
    return progress.finished ? progress.detail : undefined;
  }).finally(log.end);
  if (finished !== undefined) {
    ports.logger.info(finished);
    return progress.committedAt;
  }
  const seconds = limits.timeout / SECOND;
  throw new DeliveryError(
    'BUILD_TIMEOUT',
    `the site did not show the file within ${seconds} s: ${describeProbe(probe.last)}; ${progress.detail}`,
    {
      httpCode: probe.last?.httpCode ?? progress.httpCode,
      hint:
        (probe.last?.httpCode === 429 ? BUSY_HINT : progress.hint) ??
        'try again: the file is committed, so it only verifies',
    },
  );
}

/**
 * VERIFY: proves every address of a placement, in this order: the one to hand over with `?v=`; the other files of a
 * site; the first one as it is handed over, and those of the others that changed, without `?v=`. Nothing is asked
 * without `?v=` before it is right with it, and nothing that was withdrawn: a cache would keep our own 404 for
 * everybody. The raw address is asked at the same time; the delivery does not fail by it.
 *
 * @param builtAt when the commit was made that the host says it has built: what it renders must not be older
 * @throws {DeliveryError} `NOT_PROVEN` with what an address showed last; `NOT_EXTERNAL`.
 * @see protocol 4.2, 4.5, design 5
 */
export async function verifyPlacement(
  check: PlacementCheck,
  builtAt: number | undefined,
  limits: WaitLimits,
  ports: Ports,
): Promise<VerifiedPlacement> {
  const { placement, expected, session } = check;
  const result = await provePage(check, builtAt, limits, ports);
  const parts = listParts(check, result, ports);
  const [rest, raw] = await Promise.allSettled([
    proveRest(check, parts, { result, builtAt }, limits, ports),
    verifyRawAddress(check, limits, ports),
  ]);
  if (rest.status === 'rejected') throw rest.reason;
  if (raw.status === 'rejected') throw raw.reason;
  const unknown = [
    ...(session.internalReason === ''
      ? []
      : [`whether the address opens outside this network: ${session.internalReason}`]),
    ...otherHostUnknown(placement, result, expected),
    ...rest.value,
    ...raw.value.unknown,
  ];
  return {
    proof: {
      httpCode: result.httpCode ?? 0,
      markerCount: countMarker(result, expected),
      sha256: result.fingerprint?.sha256 ?? null,
      match: result.match,
      hosts: result.hosts,
      parts: parts.length,
      isCached: rest.value.length > 0,
      isInternal: session.internalReason !== '',
    },
    rawUrl: raw.value.rawUrl,
    unknown,
  };
}

/**
 * The first step of the proof: the address that is handed over, with `?v=` where a cache has to be got past.
 *
 * @returns its answer
 * @throws {DeliveryError} as `verifyPlacement`
 */
export async function provePage(
  check: PlacementCheck,
  builtAt: number | undefined,
  limits: WaitLimits,
  ports: Ports,
): Promise<ProbeResult> {
  const { last } = check.probe;
  const known = last !== null && isProof(last) ? last : undefined;
  const words = { which: '', gone: check.expected.gone ?? false };
  const page = { ...pageAddress(check, builtAt), known };
  const [{ result } = noAnswer()] = await prove([page], words, limits, ports);
  ports.logger.info(describeProbe(result));
  return result;
}

/** The loop returns every address that it was given. */
function noAnswer(): never {
  throw new DeliveryError('INTERNAL', 'an address was left out of its proof');
}

/**
 * The address that is handed over. Where the host may rightly change the bytes, the marker is enough if the host also
 * says that it has built our commit, and the page is not older than that commit. A link has no build: there the
 * marker in other bytes counts at the deadline alone.
 */
function pageAddress(
  { placement, expected, probe, explainRefusal }: PlacementCheck,
  builtAt: number | undefined,
): Address {
  const { answers = AGREEING_PROBES.usual, bypassCache, hostMayChangeBytes, mustBeExternal } = placement;
  return {
    path: null,
    open: () => probe,
    // With `?v=` one right answer is enough where the address without it is asked next.
    answers: bypassCache && expected.gone !== true ? 1 : answers,
    isExternal: mustBeExternal,
    explainRefusal,
    judge(result, isLast) {
      if (isProof(result)) return 'right';
      if (!hostMayChangeBytes || result.match !== 'altered') return 'wrong';
      return (mustBeExternal ? isLast : isNotOlder(result, builtAt)) ? 'right' : 'wrong';
    },
  };
}

const isNotOlder = ({ lastModified }: ProbeResult, builtAt: number | undefined): boolean =>
  builtAt !== undefined && lastModified !== null && lastModified >= builtAt;

/** The other files of a site, each at its own address. */
function listParts(
  { placement: { parts = [] }, expected, session }: PlacementCheck,
  { hosts }: ProbeResult,
  ports: Ports,
): readonly PartAddress[] {
  const { gone = false } = expected;
  return parts.map((part) => {
    const file = gone ? null : part;
    const target = { url: part.url, mustBeExternal: false, ...(part.earlier && { earlier: part.earlier }) };
    const open = (bypassCache: boolean): UrlProbe =>
      new UrlProbe({ ...target, bypassCache }, { file, marker: undefined, gone }, session, ports);
    // A browser would be at another host after a redirect.
    const judge: Address['judge'] = (result) => judgeCached(result, hosts.at(-1));
    const plain = { path: part.path, open: () => open(false), answers: 1, judge, asBrowser: true };
    return {
      part,
      plain,
      fresh: { ...plain, open: () => open(true), judge: pastCaches(judge), asBrowser: false },
    };
  });
}

interface PartAddress {
  readonly part: PlacedPart;
  readonly fresh: Address;
  readonly plain: Address;
}

/** An answer that a cache may have given: right, or the copy from before. @param host where it must come from */
function judgeCached(result: ProbeResult, host: string | undefined): Verdict {
  if (host !== undefined && result.hosts.at(-1) !== host) return 'wrong';
  return isProof(result) ? 'right' : result.match === 'previous' ? 'old' : 'wrong';
}

/** With `?v=` no cache has answered: the copy from before is wrong. */
const pastCaches =
  (judge: Address['judge']): Address['judge'] =>
  (result, isLast) =>
    judge(result, isLast) === 'right' ? 'right' : 'wrong';

/**
 * What follows the first proof: the other files of a site, and then what a person's browser gets, without `?v=`.
 *
 * @returns for UNKNOWN: what a cache still has
 */
async function proveRest(
  check: PlacementCheck,
  parts: readonly PartAddress[],
  { result, builtAt }: { readonly result: ProbeResult; readonly builtAt: number | undefined },
  limits: WaitLimits,
  ports: Ports,
): Promise<readonly string[]> {
  const { placement, expected } = check;
  const words: ProofWords = { which: '', gone: expected.gone ?? false, host: result.hosts.at(-1) };
  if (parts.length > 0) {
    ports.logger.info(`${parts.length} further file${parts.length === 1 ? '' : 's'}`);
    await prove(
      parts.map(({ fresh }) => fresh),
      words,
      limits,
      ports,
    );
  }
  if (!placement.bypassCache) return [];
  if (words.gone) return [UNASKED_CACHES];
  ports.logger.info('without ?v=, as a person will open it');
  const page = plainAddress(check, result, builtAt, ports);
  const changed = parts.filter(({ part }) => part.earlier !== undefined);
  const freshOf = new Map([
    [page, { ...pageAddress(check, builtAt), answers: 1 }],
    ...changed.map(({ plain, fresh }) => [plain, fresh] as const),
  ]);
  const proven = await prove([...freshOf.keys()], { ...words, which: 'without ?v=' }, limits, ports);
  const old = proven.filter(({ isOld }) => isOld);
  // A cache with the old copy says nothing of the new one: that must still be there.
  const again = old.flatMap(({ address }) => freshOf.get(address) ?? []);
  if (again.length > 0) await prove(again, words, limits, ports);
  return describeOld(old);
}

/**
 * The address as it is handed over: it must show what the proof saw, or the copy from before that a cache still has. A
 * page that the host renders is known by its date to be from before.
 */
function plainAddress(
  { placement, expected, session }: PlacementCheck,
  proven: ProbeResult,
  builtAt: number | undefined,
  ports: Ports,
): Address {
  const probe = new UrlProbe({ ...placement, bypassCache: false }, expected, session, ports);
  const isBytes = isProof(proven);
  return {
    path: null,
    open: () => probe,
    answers: AGREEING_PROBES.usual,
    judge(result) {
      if (isBytes || result.match === 'previous') return judgeCached(result, proven.hosts.at(-1));
      if (result.hosts.at(-1) !== proven.hosts.at(-1) || result.httpCode !== 200) return 'wrong';
      if (result.fingerprint?.sha256 === proven.fingerprint?.sha256) {
        return result.match === 'not-shown' ? 'wrong' : 'right';
      }
      const isContent = result.match === 'altered' || result.match === 'different';
      return isContent && result.lastModified !== null && !isNotOlder(result, builtAt) ? 'old' : 'wrong';
    },
  };
}

/** A look at what is withdrawn would be kept as a 404, and its next delivery would not be seen for as long. */
const UNASKED_CACHES =
  'whether caches still show it without ?v= and at the raw address, for up to ten minutes';

/** What caches still have: of one address what and how long, of several how many. */
function describeOld(old: readonly ProvenAddress[]): readonly string[] {
  if (old.length === 0) return [];
  const times = old.map(({ result }) => result.keptFor);
  const time = describeCacheTime(times.includes(null) ? null : Math.max(...times.map(Number)));
  const isPage = old.length === 1 && old[0]?.address.path === null;
  return [
    isPage
      ? `the address without ?v= still answered an older copy; a cache may show it ${time}`
      : `without ?v= a cache still answered older copies of ${countFiles(old.length)}; it may show them ${time}`,
  ];
}

/** The raw address: a few looks, of which one must show the file's very bytes. @see protocol 4.2 */
async function verifyRawAddress(
  { placement: { rawUrl }, expected, session }: PlacementCheck,
  limits: WaitLimits,
  ports: Ports,
): Promise<Omit<VerifiedPlacement, 'proof'>> {
  if (rawUrl === undefined || expected.file === null) return { rawUrl: null, unknown: [] };
  ports.logger.info('the raw address, at the same time');
  const target: ProbeTarget = { url: rawUrl, bypassCache: false, mustBeExternal: false };
  const probe = new UrlProbe(target, { ...expected, marker: undefined }, session, ports);
  const judge: Address['judge'] = (result) => judgeCached(result, undefined);
  const address: Address = { path: null, open: () => probe, answers: 1, judge };
  // A request that has begun may take longer: a large file needs its time.
  const soon = ports.clock.now() + limits.interval * (FURTHER_PROBES - 1);
  const few = { ...limits, deadline: Math.min(soon, limits.deadline) };
  const proven = await resultOf(() => prove([address], { which: '', gone: false }, few, ports));
  if (!hasFailed(proven)) return { rawUrl, unknown: [] };
  if (!RAW_FAILURES.includes(proven.code)) throw proven;
  const why = probe.last?.match === 'login' ? 'answers with a login page' : 'did not show the file yet';
  return { rawUrl: null, unknown: [`the raw address ${why}, so it was not verified`] };
}

/** The raw address is not proven, or on this machine: it is not handed over then. */
const RAW_FAILURES: readonly string[] = ['NOT_PROVEN', 'NOT_EXTERNAL'];

/**
 * A page of K1 may be at another host, such as the site's own domain. What is there can change without the
 * repository.
 *
 * @see design 5 (K1)
 */
function otherHostUnknown(
  { url, bypassCache }: Placement,
  { hosts }: ProbeResult,
  { gone = false }: ExpectedContent,
): readonly string[] {
  const end = hosts.at(-1);
  if (gone || !bypassCache || end === undefined || end === url.host) return [];
  return [
    `whether ${end}, where the address leads to, is a part of the site: what it shows can change without the repository`,
  ];
}
