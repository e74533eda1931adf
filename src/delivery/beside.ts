import type { Placement } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { poll } from '../poll.ts';
import type { Ports } from '../ports.ts';
import { BESIDE_LOOKS } from '../protocol/limits.ts';
import type { Patience, Proof } from './verify.ts';
import { createWitness, type Expectation, type Sight, type Witness } from './witness.ts';

/** What was seen of K1's further addresses. */
export interface Beside {
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
export async function verifyBeside(
  placement: Placement,
  proof: Proof,
  expected: Expectation,
  patience: Patience,
  ports: Ports,
): Promise<Beside> {
  const { rawUrl, bustCaches, url } = placement;
  const unknown: string[] = [];
  const look = async (what: string, address: URL, proves: (sight: Sight) => boolean): Promise<Shown> => {
    ports.logger.info(what);
    const { shown, inner } = await lookAt(address, expected, proves, patience, ports);
    if (shown === 'right') unknown.push(...inner);
    return shown;
  };
  const asProven = (sight: Sight): boolean =>
    proof.sha256 === null ? sight.likeness === 'gone' : sight.print?.sha256 === proof.sha256;
  const asFile = (sight: Sight): boolean => sight.likeness === (expected.gone ? 'gone' : 'identical');

  const bare = 'the address without ?v=, as a person will open it';
  if (bustCaches && (await look(bare, url, asProven)) !== 'right') {
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
type Shown = 'right' | 'login' | 'other';

const RAW_IN_WORDS = {
  login: 'answers with a login page',
  other: 'did not show the file yet',
  stale: 'still answered an older copy',
} as const;

async function lookAt(
  url: URL,
  expected: Expectation,
  proves: (sight: Sight) => boolean,
  patience: Patience,
  ports: Ports,
): Promise<{ readonly shown: Shown; readonly inner: readonly string[] }> {
  const soon = ports.clock.now() + patience.interval * (BESIDE_LOOKS - 1);
  const deadline = Math.min(soon, patience.deadline);
  // A look that has begun may last: a large file takes its time.
  const address = { url, bustCaches: false, mustBeExternal: false };
  const witness = createWitness(address, expected, patience.deadline, ports);
  const shown = await poll<Shown>({ ...patience, ...ports, deadline }, async () => {
    const sight = await witness.look();
    if (proves(sight)) return 'right';
    return sight.likeness === 'login' ? 'login' : undefined;
  }).catch(unlessLocal);
  return { shown: shown ?? 'other', inner: onlyInside(witness) };
}

/** A further address on this very machine is not handed over; the delivery does not hang on it. */
function unlessLocal(thrown: unknown): undefined {
  if (!(thrown instanceof DeliveryError) || thrown.code !== 'NOT_EXTERNAL') throw thrown;
}

/** A host that the user named may be a network's own: then nobody has looked from elsewhere. @see protocol 1 (rule 2) */
export function onlyInside({ inner }: Witness): readonly string[] {
  return inner === '' ? [] : [`whether the address opens outside this network: ${inner}`];
}
