import { join } from 'node:path';
import { readJobRuntime } from '../../src/channels/pages/deploy/job-runtime.ts';
import type { TestRepository } from '../world/repository.ts';
import type { GitHubWorld } from '../world/world.ts';
import { DELIVERY_KINDS, type DeliveryKind } from './delivery-kinds.ts';
import { type InProcessResult, runInProcess } from './in-process.ts';
import type { RecordedHttp, RecordedRequest } from './recorded-http.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** One way in which an HTTP exchange can fail. */
export interface InjectedFault {
  readonly name: string;
  /** Whether the delivery must still succeed if the fault happens once. */
  readonly isTransient: boolean;
  /** The names of requests that can fail like this; all requests by default. */
  readonly on?: RegExp;
}

/** One cell of the matrix: a request of a delivery, and its fault. */
export interface MatrixCell<F extends InjectedFault = InjectedFault> {
  readonly deliveryKind: DeliveryKind;
  readonly request: Pick<RecordedRequest, 'name' | 'nth'>;
  readonly fault: F;
  /** Whether all later requests of that name fail as well. */
  readonly isPermanent: boolean;
}

/** Creates the HTTP client of a delivery, in which a cell's request fails. */
export type CreateRecordedHttp<F extends InjectedFault> = (scene: {
  readonly clock: SimulatedClock;
  readonly repository: TestRepository;
  readonly cell: MatrixCell<F> | undefined;
}) => RecordedHttp;

/** The result of a delivery, and the state that it left. */
export interface DeliveryRun extends InProcessResult {
  readonly deliveryKind: DeliveryKind;
  readonly repository: TestRepository;
  readonly token: string;
  /** Tokens that the device flow gave to this delivery. */
  readonly grantedTokens: readonly string[];
  /** Commits of the branch before. */
  readonly commitsBefore: number;
  /** The URL of the earlier delivery. */
  readonly earlierUrl: string | null;
}

/** Real milliseconds after which a delivery counts as hanging. */
const HANG_TIMEOUT_MS = 120_000;

/** Runs deliveries against one local GitHub, each in a new repository. */
export class FaultRunner<F extends InjectedFault> {
  readonly #world: GitHubWorld;
  readonly #open: CreateRecordedHttp<F>;
  #run = 0;
  #last: TestRepository | null = null;

  /** @param world its folder must contain the files of the deliveries */
  constructor(world: GitHubWorld, open: CreateRecordedHttp<F>) {
    this.#world = world;
    this.#open = open;
  }

  /** Lists the cells of a delivery kind, from the requests of a run without faults. */
  async listCells(deliveryKind: DeliveryKind, faults: readonly F[]): Promise<MatrixCell<F>[]> {
    const { recordedHttp, report } = await this.run(deliveryKind);
    if (!report.ready) {
      throw new Error(`${deliveryKind.name} is not ready without a fault: ${report.lines.RESULT}`);
    }
    // The third and later requests are polls like the second.
    const requests = recordedHttp.requests.filter(
      ({ name, nth }) =>
        (nth < 2 || deliveryKind.each?.test(name)) && (deliveryKind.requests?.test(name) ?? true),
    );
    return requests.flatMap((request) =>
      faults
        .filter(({ on }) => on?.test(request.name) ?? true)
        .map((fault) => (deliveryKind.endsAfter?.test(fault.name) ? { ...fault, isTransient: false } : fault))
        .flatMap((fault) =>
          [false, true].map((isPermanent) => ({ deliveryKind, request, fault, isPermanent })),
        ),
    );
  }

  /** Runs a delivery in which a cell's request fails. The repository of the run before is forgotten. */
  async run(deliveryKind: DeliveryKind, cell?: MatrixCell<F>): Promise<DeliveryRun> {
    this.#run += 1;
    if (this.#last !== null) this.#world.forget(this.#last);
    const name = `cell-${this.#run}`;
    const { repository: spec } = deliveryKind;
    const repository = await this.#world.repository({
      owner: 'octo',
      name,
      ...spec,
      pages: spec?.pages ?? {},
    });
    this.#last = repository;
    const { deviceUser } = this.#world;
    deviceUser.script = ['pending', 'grant'];
    const grantedBefore = deviceUser.tokens.length;
    const token = this.#world.token({}, deliveryKind.login);
    let earlierUrl: string | null = null;
    await deliveryKind.before?.(repository, async (file, path) => {
      const inputs = { ...deliveryKind.inputs, operation: 'deliver', ...(path && { path }) };
      const first = await this.#deliver(
        { ...deliveryKind, file, inputs, withdraws: false },
        { repository, token },
      );
      earlierUrl = first.report.url;
    });
    const commitsBefore = (await repository.log()).length;
    const run = await this.#deliver(deliveryKind, { repository, token }, cell);
    const grantedTokens = deviceUser.tokens.slice(grantedBefore);
    return { deliveryKind, repository, token, grantedTokens, commitsBefore, earlierUrl, ...run };
  }

  async #deliver(
    deliveryKind: DeliveryKind,
    { repository, token }: Pick<DeliveryRun, 'repository' | 'token'>,
    cell?: MatrixCell<F>,
  ): Promise<InProcessResult> {
    const job = { commit: (await repository.head()) ?? '', repository: repository.fullName };
    const runtime = deliveryKind.deploys ? readJobRuntime(this.#world.actions.startJob(job)) : null;
    const inputs = {
      file: join(this.#world.folder, deliveryKind.file),
      path: DELIVERY_KINDS.find(({ name }) => name === deliveryKind.name)?.file ?? deliveryKind.file,
      repository: repository.fullName,
      token,
      bin: `bin-of-${repository.name}`,
      ...deliveryKind.inputs,
    };
    const open = (clock: SimulatedClock) => this.#open({ clock, repository, cell });
    const random = createRandom(this.#run);
    const machine = { env: process.env, tempFolder: this.#world.folder };
    return failIfHanging(runInProcess({ repository, inputs, around: { runtime }, random, machine, open }));
  }
}

/** Whether a request must fail now. */
export function isTargetRequest(
  { request, isPermanent }: MatrixCell,
  { name, nth }: Pick<RecordedRequest, 'name' | 'nth'>,
): boolean {
  return name === request.name && (isPermanent ? nth >= request.nth : nth === request.nth);
}

/** A random generator with a seed: the same numbers in every run. @see mulberry32 */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function failIfHanging<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const guard = setTimeout(() => late.reject(new Error('The delivery hangs')), HANG_TIMEOUT_MS);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(guard);
  }
}
