import type { Intent, Placement, Plan } from '../channels/channel.ts';
import { asDeliveryError, type DeliveryError } from '../errors.ts';
import { poll } from '../poll.ts';
import type { Ports } from '../ports.ts';
import { BESIDE_LOOKS } from '../protocol/limits.ts';
import type { Step } from '../protocol/words.ts';
import { type Proof, type Patience, verify, wait } from './verify.ts';
import { createWitness, type Expectation, type Witness } from './witness.ts';

/** How one channel fared: what it brought, and what it failed at. */
export interface Outcome {
  readonly plan: Plan;
  readonly placement: Placement | null;
  readonly proof: Proof | null;
  /** What the address answered last; `null` where it was not asked, or gave no answer. */
  readonly httpCode: number | null;
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
    httpCode: null,
    rawUrl: null,
    unknown: [],
    failure: null,
    took,
  };

  let witness: Witness | undefined;

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
    const opened = createWitness(placement, expected, patience.deadline, ports);
    witness = opened;
    if (intent.watch !== undefined) {
      await step('wait', 'Wait for the site', () => wait(intent, placement, opened, patience, ports));
    }
    const seen = await step('verify', 'Verify the public address', async () => {
      const proof = await verify(placement, opened, patience, ports);
      return { proof, ...(await verifyBeside(placement, proof, expected, patience, ports)) };
    });
    return {
      ...outcome,
      ...seen,
      httpCode: seen.proof.httpCode,
      unknown: [...placement.unknown, ...seen.unknown],
    };
  } catch (thrown) {
    return { ...outcome, httpCode: witness?.last?.httpCode ?? null, failure: asDeliveryError(thrown) };
  }
}

/**
 * K1's further addresses: the page's without `?v=`, as a person will open it, and the raw one. Both may lag
 * behind in caches: they get a few looks, the delivery stands, and UNKNOWN says what was not seen.
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
  const shows = async (what: string, url: URL, sha256: string): Promise<boolean> => {
    ports.logger.info(what);
    const soon = ports.clock.now() + patience.interval * (BESIDE_LOOKS - 1);
    const deadline = Math.min(soon, patience.deadline);
    // A look that has begun may last: a large file takes its time.
    const witness = createWitness(
      { url, bustCaches: false, mustBeExternal: false },
      expected,
      patience.deadline,
      ports,
    );
    const seen = await poll({ ...patience, ...ports, deadline }, async () => {
      const sight = await witness.look();
      return sight.print?.sha256 === sha256 ? sight : undefined;
    });
    return seen !== undefined;
  };
  const unknown: string[] = [];
  const bare = 'the address without ?v=, as a person will open it';
  if (placement.bustCaches && !(await shows(bare, placement.url, proof.sha256))) {
    unknown.push(
      'the address without ?v= still answered an older copy; a cache may show it for up to ten minutes',
    );
  }
  const { rawUrl } = placement;
  if (rawUrl === undefined || expected.file === null) return { rawUrl: null, unknown };
  if (await shows('the raw address', rawUrl, expected.file.sha256)) return { rawUrl, unknown };
  unknown.push('the raw address did not show the file yet, so it was not verified');
  return { rawUrl: null, unknown };
}
