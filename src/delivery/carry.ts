import type { Intent, Placement, Plan } from '../channels/channel.ts';
import { asDeliveryError, type DeliveryError } from '../errors.ts';
import { poll } from '../poll.ts';
import type { Ports } from '../ports.ts';
import { RAW_LOOKS } from '../protocol/limits.ts';
import type { Step } from '../protocol/words.ts';
import { type Proof, type Patience, verify, wait } from './verify.ts';
import { createWitness, type Expectation } from './witness.ts';

/** How one channel fared: what it brought, and what it failed at. */
export interface Outcome {
  readonly plan: Plan;
  readonly placement: Placement | null;
  readonly proof: Proof | null;
  /** The machine's address, where it was proven too. */
  readonly rawUrl: URL | null;
  readonly unknown: readonly string[];
  readonly failure: DeliveryError | null;
  /** Milliseconds that each step took. */
  readonly took: Readonly<Partial<Record<Step, number>>>;
}

/**
 * One file through one channel: place → wait → verify. A failure is part of the outcome.
 *
 * @param limits milliseconds between looks, and for waiting and verifying together
 */
export async function carry(
  intent: Intent,
  expected: Expectation,
  limits: Pick<Patience, 'interval' | 'timeout'>,
  ports: Ports,
): Promise<Outcome> {
  const { clock, logger } = ports;
  const { plan } = intent;
  const took: Partial<Record<Step, number>> = {};
  let outcome: Outcome = {
    plan,
    placement: null,
    proof: null,
    rawUrl: null,
    unknown: [],
    failure: null,
    took,
  };

  async function step<T>(name: Step, title: string, work: () => Promise<T>): Promise<T> {
    const begun = clock.now();
    try {
      return await logger.group(title, work);
    } catch (thrown) {
      throw asDeliveryError(thrown).at(name);
    } finally {
      took[name] = clock.now() - begun;
    }
  }

  try {
    const placement = await step('place', `Place: ${plan.channel}, ${plan.destination}`, async () => {
      const placed = await intent.place();
      logger.info(placed.evidence);
      return placed;
    });
    outcome = { ...outcome, placement, unknown: placement.unknown };
    const patience = { ...limits, deadline: clock.now() + limits.timeout };
    const witness = createWitness(placement, expected, patience.deadline, ports);
    if (intent.watch !== undefined) {
      await step('wait', 'Wait for the site', () => wait(intent, placement, witness, patience, ports));
    }
    const seen = await step('verify', 'Verify the public address', async () => {
      const proof = await verify(placement, witness, patience, ports);
      return { proof, ...(await verifyBeside(placement, proof, expected, patience, ports)) };
    });
    return { ...outcome, ...seen, unknown: [...placement.unknown, ...seen.unknown] };
  } catch (thrown) {
    return { ...outcome, failure: asDeliveryError(thrown) };
  }
}

/**
 * K1's further addresses: the page's without `?v=`, as a person will open it, until the deadline; and the
 * raw one, a few looks. Both may lag behind in caches; the delivery stands, and UNKNOWN says what was not seen.
 *
 * @see protocol 4.2 (both are verified)
 */
async function verifyBeside(
  placement: Placement,
  proof: Proof,
  expected: Expectation,
  patience: Patience,
  ports: Ports,
): Promise<{ rawUrl: URL | null; unknown: string[] }> {
  const shows = async (url: URL, sha256: string, deadline: number): Promise<boolean> => {
    const witness = createWitness(
      { url, bustCaches: false, mustBeExternal: false },
      expected,
      deadline,
      ports,
    );
    const seen = await poll({ ...patience, ...ports, deadline }, async () => {
      const sight = await witness.look();
      return sight.print?.sha256 === sha256 ? sight : undefined;
    });
    return seen !== undefined;
  };
  const unknown: string[] = [];
  if (placement.bustCaches) ports.logger.info('the address without ?v=, as a person will open it');
  if (placement.bustCaches && !(await shows(placement.url, proof.sha256, patience.deadline))) {
    unknown.push(
      'the address without ?v= still answered an older copy; a cache may show it for up to ten minutes',
    );
  }
  const { rawUrl } = placement;
  if (rawUrl === undefined || expected.file === null) return { rawUrl: null, unknown };
  ports.logger.info('the raw address');
  const soon = ports.clock.now() + patience.interval * (RAW_LOOKS - 1);
  if (await shows(rawUrl, expected.file.sha256, Math.min(soon, patience.deadline)))
    return { rawUrl, unknown };
  unknown.push('the raw address did not show the file yet, so it was not verified');
  return { rawUrl: null, unknown };
}
