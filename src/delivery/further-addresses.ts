import { poll } from '../async.ts';
import type { Placement } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { FURTHER_PROBES } from '../protocol/limits.ts';
import { type ExpectedContent, type ProbeResult, UrlProbe } from './url-probe.ts';
import type { Proof, WaitLimits } from './verify.ts';

/** What the further addresses of a proven page showed. */
export interface FurtherProof {
  /** The raw address, where it was proven too. */
  readonly rawUrl: URL | null;
  readonly unknown: readonly string[];
}

/** A proven address, with all that is known of it. */
export interface ProvenAddress {
  readonly placement: Placement;
  readonly proof: Proof;
  readonly expected: ExpectedContent;
}

/**
 * Asks K1's further addresses: the page's without `?v=`, as a person will open it, and the raw one. Caches may
 * delay both: each gets a few requests, the delivery does not fail by them, and UNKNOWN says what was not seen.
 *
 * @see protocol 4.2 (both are verified)
 */
export async function verifyFurtherAddresses(
  { placement, proof, expected }: ProvenAddress,
  limits: WaitLimits,
  ports: Ports,
): Promise<FurtherProof> {
  const unknown: string[] = [];
  if (placement.bypassCache) {
    ports.logger.info('the address without ?v=, as a person will open it');
    const isSame = (result: ProbeResult): boolean =>
      proof.sha256 === null ? result.match === 'gone' : result.fingerprint?.sha256 === proof.sha256;
    const plain = await probeFurther(placement.url, expected, isSame, { limits, ports });
    unknown.push(...(plain.shows === 'expected' ? plain.internal : [STALE_COPY]));
  }
  const { rawUrl } = placement;
  if (rawUrl === undefined || (expected.file === null && !expected.gone)) return { rawUrl: null, unknown };
  ports.logger.info('the raw address');
  const isFile = ({ match }: ProbeResult): boolean => match === (expected.gone ? 'gone' : 'identical');
  const raw = await probeFurther(rawUrl, expected, isFile, { limits, ports });
  if (raw.shows === 'expected') return { rawUrl, unknown: [...unknown, ...raw.internal] };
  const description = RAW_DESCRIPTIONS[expected.gone ? 'stale' : raw.shows];
  return { rawUrl: null, unknown: [...unknown, `the raw address ${description}, so it was not verified`] };
}

const STALE_COPY =
  'the address without ?v= still answered an older copy; a cache may show it for up to ten minutes';

const RAW_DESCRIPTIONS = {
  login: 'answers with a login page',
  other: 'did not show the file yet',
  stale: 'still answered an older copy',
} as const;

interface FurtherResult {
  readonly shows: 'expected' | 'login' | 'other';
  readonly internal: readonly string[];
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
  const shows = await poll<FurtherResult['shows']>({ ...limits, ...ports, deadline }, async () => {
    const result = await probe.probe();
    if (isExpected(result)) return 'expected';
    return result.match === 'login' ? 'login' : undefined;
  }).catch(ignoreLocalAddress);
  return { shows: shows ?? 'other', internal: internalUnknown(probe) };
}

/** A further address on this machine is not handed over, and the delivery does not depend on it. */
function ignoreLocalAddress(thrown: unknown): undefined {
  if (!(thrown instanceof DeliveryError) || thrown.code !== 'NOT_EXTERNAL') throw thrown;
}

/** A host that the user named may be internal: then nothing was fetched from outside. @see protocol 1 (rule 2) */
export function internalUnknown({ internalReason }: UrlProbe): readonly string[] {
  return internalReason === '' ? [] : [`whether the address opens outside this network: ${internalReason}`];
}
