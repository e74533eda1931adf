import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { readJobRuntime } from '../../src/channels/pages/deploy/job-runtime.ts';
import { stoppedError } from '../../src/errors.ts';
import { findFiles } from '../../src/request/find-files.ts';
import { createRandom } from '../faults/fault-runner.ts';
import { runInProcess } from '../faults/in-process.ts';
import { createResponse, createWorldHttp, type FaultHandler } from '../faults/recorded-http.ts';
import type { TestRepository } from '../world/repository.ts';
import { writeFiles } from '../world/runner.ts';
import type { TestWorld } from '../world/set-up-world.ts';
import { createPage } from './scenario.ts';

const RECEIPT = '.well-known/screen-delivery.json';
const MAIN = './';
const PLACES = [MAIN, 'previews/a/', 'previews/b/', 'previews/c/'];
const JOBS = 10;
const AT_ONCE = 4;
const FREE = 20;

type Contents = Readonly<Record<string, string>>;

/** A delivery or a withdrawal of a sequence. */
interface Job {
  readonly name: string;
  readonly place: string;
  /** By their paths on the site; empty for a withdrawal. */
  readonly files: Contents;
  /** The number of its request at which it is stopped or killed. */
  readonly endsAt: number;
  readonly isKilled: boolean;
  readonly stop: AbortController;
  /** Its requests that wait for their turn. */
  readonly held: (() => void)[];
  requests: number;
  /** How many of its next requests need not wait. */
  free: number;
  started: number;
  ended: number;
  result: string;
}

/**
 * Plays sequences of deliveries, withdrawals and killed runs, each on a site of its own. The seed decides in which
 * order their requests arrive. A failure names it.
 */
export async function playSequences(
  setup: TestWorld,
  seeds: { first: number; count: number },
): Promise<void> {
  const jobs: Job[] = [];
  for (let seed = seeds.first; seed < seeds.first + seeds.count; seed += 1) {
    // A CDN may show the old site for some requests. If the run that did not see a newer one is killed, it is lost.
    const liveAfterRequests = hasGaps(seed) ? (seed / 2) % 3 : 0;
    const pages = { buildType: 'workflow', built: false, liveAfterRequests } as const;
    const repository = await setup.repository({ pages });
    const sequence = new Sequence(setup, seed, repository);
    const flaws = await sequence.play();
    const told = sequence.jobs.map(
      ({ name, started, ended, result }) => `${name}: ${started}-${ended}, ${result}`,
    );
    expect(flaws.length === 0 ? [] : [`seed ${seed}`, ...flaws, ...told]).toEqual([]);
    jobs.push(...sequence.jobs);
    setup.world.forget(repository);
  }
  // If few were ready, the sequences would show little.
  const ready = jobs.filter(({ result }) => result === READY);
  expect(ready.length / jobs.length).toBeGreaterThan(0.5);
}

const READY = 'ready';

const hasGaps = (seed: number): boolean => seed % 2 === 0;

class Sequence {
  readonly jobs: Job[] = [];
  readonly #setup: TestWorld;
  readonly #repository: TestRepository;
  readonly #random: () => number;
  /** Then no job is killed: only the job that replaced another one's deployment can repair that. */
  readonly #hasGaps: boolean;
  #running: Job[] = [];
  #turn = 0;
  #changed = Promise.withResolvers<void>();

  constructor(setup: TestWorld, seed: number, repository: TestRepository) {
    this.#setup = setup;
    this.#repository = repository;
    this.#random = createRandom(seed);
    this.#hasGaps = hasGaps(seed);
  }

  async play(): Promise<readonly string[]> {
    const flaws = new Set<string>();
    let seen = '';
    for (;;) {
      await this.#whenAllWait();
      const state = `${this.#running.length} ${this.jobs.length} ${this.#repository.pages.liveVersion?.builtAt}`;
      // With gaps, a delivery may be absent until the run that replaced it deploys again.
      if (state !== seen && !this.#hasGaps) for (const flaw of this.#listFlaws()) flaws.add(flaw);
      seen = state;
      const isOpen = this.jobs.length < JOBS && this.#running.length < AT_ONCE;
      const next = this.#pick([...this.#running, ...(isOpen ? [null] : [])]);
      if (next === undefined) break;
      this.#turn += 1;
      if (next === null) this.#start(this.#createJob());
      else this.#continue(next);
    }
    // Whatever happened, the site can still be delivered to.
    const last = this.#createJob('previews/last/');
    this.#start(last);
    while (last.ended === Number.POSITIVE_INFINITY) {
      await this.#whenAllWait();
      this.#turn += 1;
      if (this.#running.length > 0) this.#continue(last);
    }
    if (last.result !== READY) flaws.add(`the last delivery is ${last.result}`);
    return [...flaws, ...this.#listFlaws()];
  }

  #pick<T>(among: readonly T[]): T | undefined {
    return among[Math.floor(this.#random() * among.length)];
  }

  /** Each running job waits with a request, or has ended. */
  async #whenAllWait(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#running.some(({ held }) => held.length === 0)) {
      await this.#changed.promise;
      this.#changed = Promise.withResolvers();
    }
  }

  #createJob(place?: string): Job {
    const number = this.jobs.length;
    const isDelivery = place !== undefined || this.#random() < 0.7;
    const at = place ?? this.#pick(PLACES) ?? MAIN;
    const folder = at === MAIN ? '' : at;
    const page = { [`${folder}index.html`]: createPage(`${number}`), [`${folder}a.css`]: `/* ${number} */` };
    const more = this.#random() < 0.5 ? { [`${folder}only-${number}.txt`]: `${number}` } : {};
    const ends = place === undefined && !this.#hasGaps && this.#random() < 0.25;
    return {
      name: `${number} ${isDelivery ? 'delivers' : 'withdraws'} ${at}`,
      place: at,
      files: isDelivery ? { ...page, ...more } : {},
      endsAt: ends ? 1 + Math.floor(this.#random() * 40) : Number.POSITIVE_INFINITY,
      isKilled: this.#random() < 0.5,
      stop: new AbortController(),
      held: [],
      requests: 0,
      free: 0,
      started: this.#turn,
      ended: Number.POSITIVE_INFINITY,
      result: '',
    };
  }

  #start(job: Job): void {
    this.jobs.push(job);
    this.#running.push(job);
    this.#run(job)
      .catch((thrown: unknown) => `crashed: ${thrown}`)
      .then((result) => this.#end(job, result));
  }

  #end(job: Job, result: string): void {
    job.ended = this.#turn;
    job.result = result;
    this.#running = this.#running.filter((one) => one !== job);
    this.#changed.resolve();
  }

  /** Lets a job go on until its next request, or ends it: a killed one gets no answer any more. */
  #continue(job: Job): void {
    job.requests += 1;
    if (job.requests >= job.endsAt && job.isKilled) {
      this.#end(job, 'killed');
      return;
    }
    if (job.requests === job.endsAt) job.stop.abort(stoppedError());
    job.held.shift()?.();
  }

  async #run(job: Job): Promise<string> {
    const { world } = this.#setup;
    const repository = this.#repository;
    const folder = await mkdtemp(join(world.folder, 'sequence-'));
    const prefix = job.place === MAIN ? '' : job.place;
    const local = Object.entries(job.files).map(([path, text]) => [
      `site/${path.slice(prefix.length)}`,
      text,
    ]);
    await writeFiles(folder, Object.fromEntries(local));
    const env = world.actions.startJob({
      commit: (await repository.head()) ?? '',
      repository: repository.fullName,
    });
    const isDelivery = local.length > 0;
    const { report } = await runInProcess({
      repository,
      inputs: {
        channel: 'K1',
        file: isDelivery ? 'site/' : '',
        path: job.place,
        operation: isDelivery ? 'deliver' : 'withdraw',
        token: world.token(),
        repository: repository.fullName,
      },
      around: { folder, findFiles, allowedRoots: [folder], runtime: readJobRuntime(env) },
      random: createRandom(this.jobs.indexOf(job)),
      signal: job.stop.signal,
      machine: { env: { PATH: '/nowhere' }, tempFolder: world.folder },
      open: (clock) => createWorldHttp(world, clock, () => this.#hold(job)),
    });
    const { notReady } = report;
    if (notReady === null) return READY;
    const { step, reason, hint, code } = notReady;
    return reason === '' || hint === '' || code === 'INTERNAL'
      ? `crashed: ${JSON.stringify(notReady)}`
      : `not ready: ${step}: ${reason}`;
  }

  /**
   * Each request waits for its turn. GitHub takes no condition, so another deployment may go live between the look
   * at the receipt and the request for a deployment; that takes longer than the requests directly after it.
   */
  #hold(job: Job): FaultHandler {
    return async ({ request, callHost }) => {
      const isDeployment = /pages\/deployments$/.test(request.url.pathname);
      if (isDeployment ? !this.#hasGaps : job.free > 0) job.free -= 1;
      else {
        const turn = Promise.withResolvers<void>();
        job.held.push(turn.resolve);
        this.#changed.resolve();
        await turn.promise;
      }
      if (isDeployment && this.#hasGaps) job.free = FREE;
      request.signal?.throwIfAborted();
      const answer = await callHost();
      const isLost = isDeployment && this.#random() < 0.1;
      return createResponse(isLost ? { ...answer, status: 502 } : answer);
    };
  }

  #listFlaws(): string[] {
    const files = this.#repository.pages.liveVersion?.files ?? new Map();
    const live = new Map([...files.keys()].map((path) => [path, `${this.#repository.pages.readLive(path)}`]));
    const receipt = JSON.parse(live.get(RECEIPT) ?? '{"deliveries":[]}') as Receipt;
    live.delete(RECEIPT);
    const listed = receipt.deliveries.flatMap((one) => one.files.map(({ path }) => path));
    const isListed = [...live.keys()].sort().join() === listed.sort().join();
    const crashed = this.jobs.filter(({ result }) => result.startsWith('crashed'));
    return [
      ...(isListed ? [] : [`the receipt lists ${listed}, and the site has ${[...live.keys()]}`]),
      ...crashed.map(({ name }) => `${name} crashed`),
      ...[...PLACES, 'previews/last/'].flatMap((place) => this.#listFlawsAt(place, live)),
    ];
  }

  /** What a place shows is exactly one job's, and no job that was ready there began after that one's end. */
  #listFlawsAt(place: string, live: ReadonlyMap<string, string>): string[] {
    const jobs = this.jobs.filter((job) => job.place === place);
    const isHere = (path: string): boolean =>
      place === MAIN ? !path.startsWith('previews/') : path.startsWith(place);
    const shown = [...live].filter(([path]) => isHere(path)).sort();
    const isShown = ({ files }: Job): boolean =>
      JSON.stringify(Object.entries(files).sort()) === JSON.stringify(shown);
    // A withdrawal of the main site removes the previews as well.
    const sources = this.jobs.filter((job) => (job.place === place || isSweep(job)) && isShown(job));
    if (sources.length === 0 && shown.length > 0) return [`${place} shows ${shown}, which nobody delivered`];
    return jobs
      .filter(({ result, started }) => result === READY && !sources.some(({ ended }) => ended >= started))
      .map(({ name }) => `${name} was ready, and ${place} shows ${shown.length === 0 ? 'nothing' : shown}`);
  }
}

const isSweep = ({ place, files }: Job): boolean => place === MAIN && Object.keys(files).length === 0;

interface Receipt {
  readonly deliveries: readonly { readonly files: readonly { readonly path: string }[] }[];
}
