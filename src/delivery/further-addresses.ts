import { poll } from '../async.ts';
import type { Placement } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { FURTHER_PROBES, MINUTE } from '../protocol/limits.ts';
import { loginPageError, notProvenError } from './describe-probe.ts';
import { type ExpectedContent, type ProbeResult, UrlProbe } from './url-probe.ts';
import { createProbeSeries, type Proof, type WaitLimits } from './verify.ts';

/** What the further addresses of a proven page showed. */
export interface FurtherProof {
  /** The raw address, where it was proven too. */
  readonly rawUrl: URL | null;
  readonly unknown: readonly string[];
  /** Whether an address still answered with what was there before. */
  readonly isCached: boolean;
}

/** A proven address, with all that is known of it. */
export interface ProvenAddress {
  readonly placement: Placement;
  readonly proof: Proof;
  readonly expected: ExpectedContent;
  /** Asks the address with `?v=` once more; whether it is still proven. */
  readonly confirm: () => Promise<boolean>;
}

/**
 * Asks K1's further addresses: the page's as it is handed over, without `?v=`, and the raw one. The first must
 * show what the proof saw, or the copy from before that a cache still has. The raw address gets a few requests;
 * the delivery does not fail by it, and UNKNOWN says what was not seen.
 *
 * @throws {DeliveryError} `NOT_PROVEN` or `NOT_EXTERNAL` when the address shows anything else.
 * @see protocol 4.2 (both are verified)
 * @see design 5 (K1)
 */
export async function verifyFurtherAddresses(
  address: ProvenAddress,
  limits: WaitLimits,
  ports: Ports,
): Promise<FurtherProof> {
  const { placement } = address;
  // Both download the whole file, so they are asked at the same time.
  const [plain, raw] = await Promise.allSettled([
    placement.bypassCache ? verifyPlainAddress(address, limits, ports) : { unknown: [], isCached: false },
    verifyRawAddress(address, limits, ports),
  ]);
  if (plain.status === 'rejected') throw plain.reason;
  if (raw.status === 'rejected') throw raw.reason;
  return {
    rawUrl: raw.value.rawUrl,
    unknown: [...plain.value.unknown, ...raw.value.unknown],
    isCached: plain.value.isCached || raw.value.isCached,
  };
}

/** The raw address; `null` where there is none, or where it was not proven. */
async function verifyRawAddress(
  { placement: { rawUrl }, expected }: ProvenAddress,
  limits: WaitLimits,
  ports: Ports,
): Promise<FurtherProof> {
  const nothing = { rawUrl: null, unknown: [], isCached: false };
  if (rawUrl === undefined || (expected.file === null && !expected.gone)) return nothing;
  ports.logger.info('the raw address, at the same time');
  const isFile = ({ match }: ProbeResult): boolean => match === (expected.gone ? 'gone' : 'identical');
  const raw = await probeFurther(rawUrl, expected, isFile, { limits, ports });
  if (raw.shows === 'expected') return { ...nothing, rawUrl, unknown: raw.internal };
  if (expected.gone) {
    return { ...nothing, unknown: [describeCachedCopy('the raw address', raw.last)], isCached: true };
  }
  return {
    ...nothing,
    unknown: [`the raw address ${RAW_DESCRIPTIONS[raw.shows]}, so it was not verified`],
  };
}

/**
 * Until the address answers as it should several times in a row. A copy from before gets a few requests, since
 * a cache may be late; then it is accepted, if the address with `?v=` is still right.
 *
 * @returns what is unknown of it, and whether it still shows the copy from before
 */
async function verifyPlainAddress(
  { placement, proof, expected, confirm }: ProvenAddress,
  limits: WaitLimits,
  ports: Ports,
): Promise<Omit<FurtherProof, 'rawUrl'>> {
  ports.logger.info('the address without ?v=, as a person will open it');
  const probe = new UrlProbe({ ...placement, bypassCache: false }, expected, limits.deadline, ports);
  const series = createProbeSeries({ ...placement, bypassCache: false }, probe, limits, ports);
  const { isSame, isOld } = compareWith(proof);
  let oldAnswers = 0;
  const acceptNew = async (result: ProbeResult) => {
    if (isOld(result)) oldAnswers += 1;
    return isSame(result) ? result : undefined;
  };
  // Of several nodes some may already have the new page.
  const acceptEither = async (result: ProbeResult) =>
    isSame(result) || isOld(result) ? { ...result, match: 'previous' as const } : undefined;
  const proven = await poll({ ...limits, ...ports }, async () => {
    const first = await probe.probe();
    if (first.match === 'login') throw loginPageError(first);
    const isWaiting = oldAnswers + 1 < FURTHER_PROBES && ports.clock.now() < limits.deadline;
    if (isWaiting || (oldAnswers === 0 && !isOld(first))) {
      const result = await acceptNew(first);
      return result && (await series.confirm(result, acceptNew)) && { unknown: [], isCached: false };
    }
    const result = await acceptEither(first);
    if (result === undefined || (await series.confirm(result, acceptEither)) === undefined) return undefined;
    // A cache with the old copy says nothing of the new one: that must still be there.
    if (!(await confirm())) return undefined;
    const where = 'the address without ?v=';
    const line = expected.gone ? describeCachedCopy(where, first) : describeStaleCopy(where, first);
    return { unknown: [line], isCached: true };
  });
  if (proven === undefined) throw plainAddressError(probe.last, proof);
  return { ...proven, unknown: [...internalUnknown(probe), ...proven.unknown] };
}

/** Whether an answer shows what was proven, or the copy from before, and comes from the same host. */
function compareWith(proof: Proof): Record<'isSame' | 'isOld', (result: ProbeResult) => boolean> {
  const isEnd = ({ hosts }: ProbeResult): boolean => hosts.at(-1) === proof.hosts.at(-1);
  const isSame = (result: ProbeResult): boolean =>
    isEnd(result) &&
    result.match !== 'not-shown' &&
    (proof.match === 'identical' || proof.match === 'gone'
      ? result.match === proof.match
      : result.fingerprint?.sha256 === proof.sha256);
  return {
    isSame,
    isOld: (result) => !isSame(result) && result.match === 'previous' && isEnd(result),
  };
}

/** An address that leads to another host than the one that was proven is not the one to hand over. */
function plainAddressError(last: ProbeResult | null, { hosts }: Proof): DeliveryError {
  const [end, proven] = [last?.hosts.at(-1), hosts.at(-1)];
  if (end === undefined || end === proven) return notProvenError(last, { which: 'without ?v=' });
  const message = `the address without ?v= leads to ${end}, and not to ${proven}, where it was proven`;
  return new DeliveryError('NOT_PROVEN', message, {
    httpCode: last?.httpCode ?? undefined,
    hint: "remove the redirect from the site's settings, or set `pages-base:` to the address that it leads to",
  });
}

function describeStaleCopy(where: string, { keptFor }: ProbeResult): string {
  return `${where} still answered an older copy; a cache may show it ${describeCacheTime(keptFor)}`;
}

/** What is withdrawn may still be read there. */
function describeCachedCopy(where: string, last: ProbeResult | null): string {
  if (last?.httpCode !== 200) return `whether ${where} still shows content: it gave no clear answer`;
  return `${where} still shows content to anybody; a cache may keep it ${describeCacheTime(last.keptFor)}`;
}

export function describeCacheTime(keptFor: number | null): string {
  if (keptFor === null) return 'for a time that the host does not tell';
  const minutes = Math.ceil(keptFor / MINUTE);
  return `for up to ${minutes} minute${minutes === 1 ? '' : 's'}`;
}

const RAW_DESCRIPTIONS = {
  login: 'answers with a login page',
  other: 'did not show the file yet',
} as const;

interface FurtherResult {
  readonly shows: 'expected' | 'login' | 'other';
  readonly internal: readonly string[];
  readonly last: ProbeResult | null;
}

async function probeFurther(
  url: URL,
  expected: ExpectedContent,
  isExpected: (result: ProbeResult) => boolean,
  { limits, ports }: { readonly limits: WaitLimits; readonly ports: Ports },
): Promise<FurtherResult> {
  const soon = ports.clock.now() + limits.interval * (FURTHER_PROBES - 1);
  const deadline = Math.min(soon, limits.deadline);
  // A request that has begun may take longer: a large file needs its time.
  const probe = new UrlProbe(
    { url, bypassCache: false, mustBeExternal: false },
    expected,
    limits.deadline,
    ports,
  );
  const series = createProbeSeries({ bypassCache: false, mustBeExternal: false }, probe, limits, ports);
  const accept = async (result: ProbeResult) => (isExpected(result) ? result : undefined);
  const shows = await poll<FurtherResult['shows']>({ ...limits, ...ports, deadline }, async () => {
    const result = await probe.probe();
    if (isExpected(result)) return (await series.confirm(result, accept)) && 'expected';
    return result.match === 'login' ? 'login' : undefined;
  }).catch(ignoreLocalAddress);
  return { shows: shows ?? 'other', internal: internalUnknown(probe), last: probe.last };
}

/** A further address on this machine is not handed over, and the delivery does not depend on it. */
function ignoreLocalAddress(thrown: unknown): undefined {
  if (!(thrown instanceof DeliveryError) || thrown.code !== 'NOT_EXTERNAL') throw thrown;
}

/** A host that the user named may be internal: then nothing was fetched from outside. @see protocol 1 (rule 2) */
export function internalUnknown({ internalReason }: UrlProbe): readonly string[] {
  return internalReason === '' ? [] : [`whether the address opens outside this network: ${internalReason}`];
}

/**
 * A page of K1 may be at another host, such as the site's own domain. What is there can change without the
 * repository.
 *
 * @see design 5 (K1)
 */
export function otherHostUnknown({ url, bypassCache }: Placement, { hosts }: Proof): readonly string[] {
  const end = hosts.at(-1);
  return !bypassCache || end === undefined || end === url.host
    ? []
    : [
        `whether ${end}, where the address leads to, is a part of the site: what it shows can change without the repository`,
      ];
}
