import { join } from 'node:path';
import { runRequest } from '../../src/context.ts';
import type { Report } from '../../src/delivery/report.ts';
import { requestWith } from '../delivery/builders.ts';
import { FakeLogger } from '../support/ports.ts';
import type { Repository } from '../world/repository.ts';
import type { World } from '../world/world.ts';
import { KINDS, type Kind } from './deliveries.ts';
import type { Asked, Doorway } from './doorway.ts';
import { MovingClock } from './moving-clock.ts';

/** One way in which an exchange goes wrong. */
export interface Fault {
  readonly name: string;
  /** Whether it goes away by itself: what happens once must not end a delivery. */
  readonly passes: boolean;
  /** The requests, by their names, that can go wrong like this; any where absent. */
  readonly on?: RegExp;
}

/** One cell of the matrix: this request of this delivery fails like this. */
export interface Cell<F extends Fault = Fault> {
  readonly kind: Kind;
  readonly request: Pick<Asked, 'name' | 'nth'>;
  readonly fault: F;
  /** Whether it fails from then on for ever, and not once. */
  readonly forEver: boolean;
}

/** Opens the door for a delivery, in which a cell's request fails. */
export type Opening<F extends Fault> = (scene: {
  readonly clock: MovingClock;
  readonly repository: Repository;
  readonly cell: Cell<F> | undefined;
}) => Doorway;

/** A delivery that was played to its end, and the world as it left it. */
export interface Played {
  readonly kind: Kind;
  readonly repository: Repository;
  readonly report: Report;
  readonly logger: FakeLogger;
  readonly doorway: Doorway;
  readonly clock: MovingClock;
  readonly token: string;
  /** Commits of the branch before. */
  readonly commitsBefore: number;
  /** Where a delivery before this one had put the file. */
  readonly stoodAt: string | null;
}

/** Real milliseconds after which a delivery counts as hanging. */
const HANGING = 20_000;

/** Plays deliveries in one world, each in a repository of its own. */
export class Stage<F extends Fault> {
  readonly #world: World;
  readonly #open: Opening<F>;
  #played = 0;

  /** @param world with the files of the deliveries in its folder */
  constructor(world: World, open: Opening<F>) {
    this.#world = world;
    this.#open = open;
  }

  /** The cells of a kind, by the requests that it makes when nothing goes wrong. */
  async cellsOf(kind: Kind, faults: readonly F[]): Promise<Cell<F>[]> {
    const { doorway, report } = await this.play(kind);
    if (!report.ready) {
      throw new Error(`${kind.name} is not even ready without a fault: ${report.lines.RESULT}`);
    }
    // What is asked a third time, and so on, is a poll like the second.
    const requests = doorway.asked.filter(({ name, nth }) => nth < 2 && (kind.only?.test(name) ?? true));
    return requests.flatMap((request) =>
      faults
        .filter(({ on }) => on?.test(request.name) ?? true)
        .flatMap((fault) => [false, true].map((forEver) => ({ kind, request, fault, forEver }))),
    );
  }

  /** A delivery, in which a cell's request fails. */
  async play(kind: Kind, cell?: Cell<F>): Promise<Played> {
    this.#played += 1;
    const name = `cell-${this.#played}`;
    const { spec } = kind;
    const repository = await this.#world.repository({
      owner: 'octo',
      name,
      inMemory: true,
      ...spec,
      pages: spec?.pages ?? {},
    });
    this.#world.human.script = ['pending', 'grant'];
    const token = this.#world.token();
    let stoodAt: string | null = null;
    await kind.before?.(repository, async (file) => {
      const inputs = { ...kind.inputs, operation: 'deliver' };
      const first = await this.#deliver({ ...kind, file, inputs, withdraws: false }, { repository, token });
      stoodAt = first.report.url;
    });
    const commitsBefore = (await repository.log()).length;
    const played = await this.#deliver(kind, { repository, token }, cell);
    return { kind, repository, token, commitsBefore, stoodAt, ...played };
  }

  async #deliver(
    kind: Kind,
    { repository, token }: Pick<Played, 'repository' | 'token'>,
    cell?: Cell<F>,
  ): Promise<Pick<Played, 'report' | 'logger' | 'doorway' | 'clock'>> {
    const clock = new MovingClock(kind.spec?.pages === false ? undefined : buildsOf(repository));
    const doorway = this.#open({ clock, repository, cell });
    const logger = new FakeLogger();
    const signal = new AbortController().signal;
    const ports = { http: doorway.http, clock, logger, signal, random: chance(this.#played) };
    const request = requestWith({
      file: join(this.#world.folder, kind.file),
      path: KINDS.find(({ name }) => name === kind.name)?.file ?? kind.file,
      repository: repository.fullName,
      token,
      bin: `bin-of-${repository.name}`,
      ...kind.inputs,
    });
    const [report] = await beforeHanging(runRequest(request, ports));
    if (report === undefined) throw new Error('there is no report');
    return { report, logger, doorway, clock };
  }
}

/** Holds the site's builds until time passes, whatever the machine is busy with; then lets all of them end. */
function buildsOf({ pages }: Repository): () => Promise<void> {
  let waiting = Promise.withResolvers<void>();
  pages.pause = () => waiting.promise;
  return async () => {
    waiting.resolve();
    await pages.whenBuilt();
    waiting = Promise.withResolvers();
  };
}

/** Whether a request is the one that is to fail now. */
export function hits({ request, forEver }: Cell, { name, nth }: Pick<Asked, 'name' | 'nth'>): boolean {
  return name === request.name && (forEver ? nth >= request.nth : nth === request.nth);
}

/** Numbers in [0, 1) that are the same in every run, and never the same twice in one. @see mulberry32 */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function beforeHanging<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const guard = setTimeout(() => late.reject(new Error('it hangs')), HANGING);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(guard);
  }
}
