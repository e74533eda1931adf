import { poll } from '../async.ts';
import type { Placement } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { FURTHER_PROBES } from '../protocol/limits.ts';
import { createUrlProbe, type ExpectedContent, type ProbeResult, type UrlProbe } from './url-probe.ts';
import type { Proof, WaitLimits } from './verify.ts';

/** What was seen of K1's further addresses. */
export interface FurtherProof {
  /** The machine's address, where it was proven too. */
  readonly rawUrl: URL | null;
  readonly unknown: readonly string[];
}

/**
 * K1's further addresses: the page's without `?v=`, as a person will open it, and the raw one. Both may lag
 * behind in caches: they get a few looks, the delivery stands, and UNKNOWN says what was not seen.
 *
 * @see protocol 4.2 (both are verified)
 */
export async function verifyFurtherAddresses(
  placement: Placement,
  proof: Proof,
  expected: ExpectedContent,
  patience: WaitLimits,
  ports: Ports,
): Promise<FurtherProof> {
  const { rawUrl, bypassCache, url } = placement;
  const unknown: string[] = [];
  const look = async (
    what: string,
    address: URL,
    proves: (sight: ProbeResult) => boolean,
  ): Promise<FurtherResult> => {
    ports.logger.info(what);
    const { shown, inner } = await probeFurther(address, expected, proves, patience, ports);
    if (shown === 'right') unknown.push(...inner);
    return shown;
  };
  const asProven = (sight: ProbeResult): boolean =>
    proof.sha256 === null ? sight.match === 'gone' : sight.fingerprint?.sha256 === proof.sha256;
  const asFile = (sight: ProbeResult): boolean => sight.match === (expected.gone ? 'gone' : 'identical');

  const bare = 'the address without ?v=, as a person will open it';
  if (bypassCache && (await look(bare, url, asProven)) !== 'right') {
    unknown.push(
      'the address without ?v= still answered an older copy; a cache may show it for up to ten minutes',
    );
  }
  if (rawUrl === undefined || (expected.file === null && !expected.gone)) return { rawUrl: null, unknown };
  const shown = await look('the raw address', rawUrl, asFile);
  if (shown === 'right') return { rawUrl, unknown };
  unknown.push(`the raw address ${RAW_IN_WORDS[expected.gone ? 'stale' : shown]}, so it was not verified`);
  return { rawUrl: null, unknown };
}

/** What a further address showed. */
type FurtherResult = 'right' | 'login' | 'other';

const RAW_IN_WORDS = {
  login: 'answers with a login page',
  other: 'did not show the file yet',
  stale: 'still answered an older copy',
} as const;

async function probeFurther(
  url: URL,
  expected: ExpectedContent,
  proves: (sight: ProbeResult) => boolean,
  patience: WaitLimits,
  ports: Ports,
): Promise<{ readonly shown: FurtherResult; readonly inner: readonly string[] }> {
  const soon = ports.clock.now() + patience.interval * (FURTHER_PROBES - 1);
  const deadline = Math.min(soon, patience.deadline);
  // A look that has begun may last: a large file takes its time.
  const address = { url, bypassCache: false, mustBeExternal: false };
  const witness = createUrlProbe(address, expected, patience.deadline, ports);
  const shown = await poll<FurtherResult>({ ...patience, ...ports, deadline }, async () => {
    const sight = await witness.probe();
    if (proves(sight)) return 'right';
    return sight.match === 'login' ? 'login' : undefined;
  }).catch(unlessLocal);
  return { shown: shown ?? 'other', inner: internalNetworkUnknown(witness) };
}

/** A further address on this very machine is not handed over; the delivery does not hang on it. */
function unlessLocal(thrown: unknown): undefined {
  if (!(thrown instanceof DeliveryError) || thrown.code !== 'NOT_EXTERNAL') throw thrown;
}

/** A host that the user named may be a network's own: then nobody has looked from elsewhere. @see protocol 1 (rule 2) */
export function internalNetworkUnknown({ internalReason }: UrlProbe): readonly string[] {
  return internalReason === '' ? [] : [`whether the address opens outside this network: ${internalReason}`];
}
