import type { Placement } from '../channels/channel.ts';
import { poll } from '../poll.ts';
import type { Ports } from '../ports.ts';
import { BESIDE_LOOKS } from '../protocol/limits.ts';
import type { Patience, Proof } from './verify.ts';
import { createWitness, type Expectation, type Sight } from './witness.ts';

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
  const shows = (what: string, address: URL, proves: (sight: Sight) => boolean): Promise<boolean> => {
    ports.logger.info(what);
    return isShown(address, expected, proves, patience, ports);
  };
  const asProven = (sight: Sight): boolean =>
    proof.sha256 === null ? sight.likeness === 'gone' : sight.print?.sha256 === proof.sha256;
  const asFile = (sight: Sight): boolean => sight.likeness === (expected.gone ? 'gone' : 'identical');

  const unknown: string[] = [];
  if (bustCaches && !(await shows('the address without ?v=, as a person will open it', url, asProven))) {
    unknown.push(
      'the address without ?v= still answered an older copy; a cache may show it for up to ten minutes',
    );
  }
  if (rawUrl === undefined || (expected.file === null && !expected.gone)) return { rawUrl: null, unknown };
  if (await shows('the raw address', rawUrl, asFile)) return { rawUrl, unknown };
  unknown.push(
    expected.gone
      ? 'the raw address still answered an older copy'
      : 'the raw address did not show the file yet, so it was not verified',
  );
  return { rawUrl: null, unknown };
}

async function isShown(
  url: URL,
  expected: Expectation,
  proves: (sight: Sight) => boolean,
  patience: Patience,
  ports: Ports,
): Promise<boolean> {
  const soon = ports.clock.now() + patience.interval * (BESIDE_LOOKS - 1);
  const deadline = Math.min(soon, patience.deadline);
  // A look that has begun may last: a large file takes its time.
  const address = { url, bustCaches: false, mustBeExternal: false };
  const witness = createWitness(address, expected, patience.deadline, ports);
  const seen = await poll({ ...patience, ...ports, deadline }, async () => {
    const sight = await witness.look();
    return proves(sight) ? sight : undefined;
  });
  return seen !== undefined;
}
