import { runRequest } from '../../src/context.ts';
import type { Report } from '../../src/delivery/report.ts';
import type { Ports } from '../../src/ports.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import type { DeliveryRequest, RunContext } from '../../src/request/parse-request.ts';
import { requestWith } from '../delivery/builders.ts';
import { FakeLogger } from '../support/ports.ts';
import type { TestRepository } from '../world/repository.ts';
import type { RecordedHttp } from './recorded-http.ts';
import { SimulatedClock } from './simulated-clock.ts';

/** A run of the product in this process, on a clock of its own, in whose pauses the builds of the site end. */
export interface InProcessRun {
  readonly repository: TestRepository;
  readonly inputs: Partial<RawInputs>;
  readonly around?: Partial<RunContext>;
  readonly signal?: AbortSignal;
  readonly random?: () => number;
  readonly machine: Pick<Ports, 'env' | 'tempFolder'>;
  /** Called in each pause. */
  readonly onPause?: (() => void) | undefined;
  /** Opens its HTTP client. */
  readonly open: (clock: SimulatedClock) => RecordedHttp;
  /** Begins what accompanies it, and returns what ends that. */
  readonly begin?: Begin | undefined;
  /** Runs the request; a delivery, a withdrawal or an audit by default. */
  readonly perform?: typeof runRequest | undefined;
}

type Begin = (request: DeliveryRequest, ports: Ports) => (reports: readonly Report[]) => Promise<unknown>;

/** What a run left. */
export interface InProcessResult {
  /** The first file's. */
  readonly report: Report;
  readonly reports: readonly Report[];
  readonly logger: FakeLogger;
  readonly recordedHttp: RecordedHttp;
  readonly clock: SimulatedClock;
  /** Lets what was committed be built. */
  finishBuilds(): Promise<void>;
}

export async function runInProcess(run: InProcessRun): Promise<InProcessResult> {
  const {
    repository,
    inputs,
    around,
    random = Math.random,
    onPause,
    open,
    begin,
    perform = runRequest,
  } = run;
  const { machine, signal = new AbortController().signal } = run;
  const hold = () => (repository.site === null ? undefined : holdBuilds(repository));
  let finish = hold();
  const finishBuilds = async (): Promise<void> => {
    // The site may be made by the delivery itself.
    finish ??= hold();
    await finish?.();
  };
  const clock = new SimulatedClock(async () => {
    onPause?.();
    await finishBuilds();
  });
  const recordedHttp = open(clock);
  const logger = new FakeLogger();
  const ports = { http: recordedHttp.http, clock, logger, signal, random, ...machine };
  const request = requestWith(inputs, around);
  const end = begin?.(request, ports);
  const reports = await perform(request, ports);
  await end?.(reports);
  const [report] = reports;
  if (report === undefined) throw new Error('There is no report');
  return { report, reports, logger, recordedHttp, clock, finishBuilds };
}

/** What holds the builds of a site: one for all deliveries to it, as each has a clock of its own. */
const gates = new WeakMap<TestRepository['pages'], { held: PromiseWithResolvers<void>; passing: number }>();

/** Holds the site's builds until simulated time passes, then waits for all of them. */
function holdBuilds({ pages }: TestRepository): () => Promise<void> {
  const gate = gates.get(pages) ?? { held: Promise.withResolvers<void>(), passing: 0 };
  gates.set(pages, gate);
  pages.pause = () => gate.held.promise;
  return async () => {
    gate.passing += 1;
    gate.held.resolve();
    await pages.whenBuilt();
    gate.passing -= 1;
    // Closed by the last one: another delivery may still wait for what is built now.
    if (gate.passing === 0) gate.held = Promise.withResolvers();
  };
}
