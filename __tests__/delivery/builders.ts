import { forEachItem } from '../../src/async.ts';
import type {
  Channel,
  ChannelItem,
  ChannelMap,
  ChannelPlan,
  Placement,
  PreparedTask,
} from '../../src/channels/channel.ts';
import { BIN_HOST, COUNTED, LINK_HOST, pageCheck, USUAL } from '../../src/channels/host-rules.ts';
import { createLinkJudge } from '../../src/channels/link/judge-answer.ts';
import { rawCheck, siteCheck } from '../../src/channels/pages/site-checks.ts';
import { type ChannelAttempt, type Delivery, newAttempt, newDelivery } from '../../src/delivery/delivery.ts';
import { DeliveryError, type Result } from '../../src/errors.ts';
import type { Check, ExpectedAnswer, HostRules } from '../../src/proof/check.ts';
import type { ProbeResult, Proof } from '../../src/proof/probe-result.ts';
import type { ChannelKey } from '../../src/protocol/words.ts';
import { refuseBrokenRules } from '../../src/request/input-rules.ts';
import { INPUTS, type RawInputs } from '../../src/request/inputs.ts';
import { type DeliveryRequest, parseRequest, type RunContext } from '../../src/request/parse-request.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { siteOfFile } from '../../src/rules/local-site.ts';
import { NOON } from '../support/ports.ts';

export const PAGE = new URL('https://octo.github.io/site/page.html');
export const RAW = new URL('https://raw.githubusercontent.com/octo/site/main/page.html');
export const TIMEOUT = 240_000;
export const INTERVAL = 5_000;

/** What the runner puts in place of the expressions. */
const RESOLVED: Readonly<Record<string, string>> = {
  '${{ github.token }}': '',
  '${{ github.repository }}': 'octo/site',
  '${{ github.api_url }}': 'https://api.github.com',
  '${{ github.server_url }}': 'https://github.com',
};

/** Every input at its default, but for what a test says. */
export function rawInputs(more: Partial<RawInputs> = {}): RawInputs {
  const defaults = Object.entries(INPUTS).map(([name, input]) => [
    name,
    RESOLVED[input.default] ?? input.default,
  ]);
  return { ...(Object.fromEntries(defaults) as RawInputs), ...more };
}

export const runContextWith = (more: Partial<RunContext> = {}): RunContext => ({
  folder: '/work',
  fileSource: 'from run 7 of Deliver',
  job: 'Deliver/deliver',
  now: NOON,
  random: () => 0.5,
  secrets: [],
  allowedRoots: [],
  allowsFullPaths: false,
  sourceIsPrivate: null,
  sourceRepositories: ['octo/site'],
  ...more,
});

/** A strict request, made from inputs as the product makes it. */
export const requestWith = (
  inputs: Partial<RawInputs> = {},
  around: Partial<RunContext> = {},
): DeliveryRequest => {
  const request = parseRequest(rawInputs({ file: 'page.html', ...inputs }), runContextWith(around));
  refuseBrokenRules(request);
  return request;
};

export const planWith = (more: Partial<ChannelPlan> = {}): ChannelPlan => ({
  channel: 'K1',
  method: 'method A, single-call write',
  destination: 'branch main, path page.html',
  name: 'page.html',
  verb: 'opens on the screen',
  ...more,
});

/** What a test says of a placement, beside what a channel returns. */
export interface PlacementParts extends Partial<Placement> {
  /** The channel whose checks it has; K1 where absent, with the raw address unless other addresses are given. */
  readonly on?: 'K1' | 'K2' | 'K3' | 'K4';
  readonly url?: URL;
  readonly expect?: Partial<ExpectedAnswer>;
  readonly host?: HostRules;
}

/** As K1 places a file that Jekyll may change. */
export function placementWith({ on = 'K1', url = PAGE, ...parts }: PlacementParts = {}): Placement {
  const { expect, host, ...more } = parts;
  const file = expect?.file;
  const is = on === 'K1' ? 'built' : file === undefined && on === 'K4' ? 'marker' : 'bytes';
  const whole: ExpectedAnswer = { is, ...expect };
  const judge = createLinkJudge(undefined);
  const first = {
    K1: () => ({ ...siteCheck(null, url, whole), ...(host && { host }) }),
    K2: () => pageCheck(url, whole, host),
    K3: () => pageCheck(url, whole, BIN_HOST, COUNTED),
    K4: () => pageCheck(url, { display: 'none', judge, ...whole }, LINK_HOST, USUAL),
  }[on]();
  return {
    evidence: 'commit c0ffee',
    written: true,
    first,
    others: on === 'K1' ? [rawCheck(RAW, file)] : [],
    ...(on === 'K1' && { commitSha: 'c0ffee' }),
    notes: [],
    unknown: [],
    ...more,
  };
}

/** The same, of which every file has these bytes. */
export const placementOfFile = (placement: Placement, file: ExpectedAnswer['file']): Placement => {
  const withFile = (one: Check): Check => ({ ...one, expect: { ...one.expect, file } });
  return {
    ...placement,
    first: withFile(placement.first),
    others: (placement.others ?? []).map((one) => (one.isOptional === undefined ? one : withFile(one))),
  };
};

/** What a fake channel returns for a task: a placement, or the error that it throws. */
export type FakeOutcome = Placement | Error;

/** A task of a fake channel. */
export interface FakeTask extends PreparedTask {
  readonly data: FakeOutcome;
}

export const taskWith = (
  outcome: FakeOutcome = placementWith(),
  plan: Partial<ChannelPlan> = {},
): FakeTask => ({ plan: planWith(plan), data: outcome });

export const proofWith = (more: Partial<Proof> = {}): Proof => ({
  httpCode: 200,
  markerCount: null,
  sha256: 'aa',
  match: 'identical',
  hosts: [PAGE.host],
  further: [],
  rawUrl: RAW,
  isCached: false,
  isInternal: false,
  ...more,
});

export const probeResultWith = (more: Partial<ProbeResult> = {}): ProbeResult => ({
  httpCode: 200,
  match: 'absent',
  fingerprint: null,
  hosts: [],
  lastModified: null,
  age: null,
  freshFor: null,
  ...more,
});

/** A proven attempt through K1. */
export const attemptWith = ({
  plan = planWith(),
  httpCode = 200,
  ...more
}: Partial<ChannelAttempt> & {
  readonly plan?: ChannelPlan;
  readonly httpCode?: number | null;
} = {}): ChannelAttempt => ({
  ...plannedAttempt(taskWith(undefined, plan)),
  placement: placementWith(),
  proof: proofWith(),
  lastProbe: probeResultWith({ httpCode }),
  identicalFiles: 1,
  took: { place: 1_200, wait: 34_560, verify: 0 },
  ...more,
});

/** An attempt that is planned and not tried. */
export const plannedAttempt = (task: PreparedTask): ChannelAttempt => newAttempt(task);

/** The part of a file that a report reads. */
export const fileWith = (more: Partial<LocalFile> = {}): LocalFile =>
  ({ name: 'page.html', size: 12, sha256: 'f00d', blobSha: 'b10b', markerCount: null, ...more }) as LocalFile;

/** What a test says of a delivery: its attempts by role. */
export interface DeliveryParts extends Partial<Delivery> {
  /** The main attempt; `null` where no channel was tried. */
  readonly main?: ChannelAttempt | null;
  readonly duplicates?: readonly ChannelAttempt[];
  /** Why the main channel was chosen. */
  readonly reason?: string;
}

/** A delivery that is proven, unless a test says otherwise. */
export function deliveryWith({
  main = attemptWith(),
  duplicates = [],
  reason = 'it was asked for',
  ...more
}: DeliveryParts = {}): Delivery {
  const keyOf = ({ task }: ChannelAttempt): ChannelKey => task.plan.channel;
  return {
    ...newDelivery('deliver', 'page.html'),
    site: siteOfFile(fileWith()),
    choice: main === null ? null : { channels: [keyOf(main), ...duplicates.map(keyOf)], reason },
    attempts: main === null ? [] : [main, ...duplicates],
    ...more,
  };
}

/** What a fake channel prepares: the same for every item, or each item's own; an Error refuses it. */
export type FakePreparation = FakeTask | Error | ((item: ChannelItem) => FakeTask | Error);

/** How far the host is. */
export type AskHost = ReturnType<NonNullable<Channel['watch']>>['ask'];

/** A channel that prepares what it is given, then does as its tasks say, and remembers what it was asked. */
export class FakeChannel implements Channel<FakeTask> {
  /** The items of each call of `prepare`. */
  readonly prepared: (readonly ChannelItem[])[] = [];
  /** The destinations of each call of `perform`. */
  readonly placed: (readonly string[])[] = [];
  readonly watch?: NonNullable<Channel<FakeTask>['watch']>;
  readonly #preparation: FakePreparation;

  /** @param progress where the host has to be waited for */
  constructor(preparation: FakePreparation, progress?: AskHost) {
    this.#preparation = preparation;
    if (progress !== undefined) this.watch = () => ({ ask: progress });
  }

  prepare<Item extends ChannelItem>(items: readonly Item[]) {
    this.prepared.push(items);
    const preparation = this.#preparation;
    return results(items, (item) => {
      const task = orThrow(typeof preparation === 'function' ? preparation(item) : preparation);
      const { data } = task;
      return data instanceof Error
        ? task
        : { ...task, data: placementOfFile(data, item.site?.entry ?? data.first.expect.file) };
    });
  }

  preview(tasks: readonly FakeTask[]) {
    return results(tasks, ({ data }) => `to be ${orThrow(data).evidence}`);
  }

  perform(tasks: readonly FakeTask[]) {
    this.placed.push(tasks.map(({ plan }) => plan.destination));
    return results(tasks, ({ data }) => orThrow(data));
  }
}

/** A DeliveryError is an item's result; any other error is a mistake, with which the whole call fails. */
async function results<Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Value,
): Promise<readonly Result<Value>[]> {
  let mistake: unknown;
  const done = await forEachItem(items, async (item) => {
    try {
      return work(item);
    } catch (thrown) {
      if (!(thrown instanceof DeliveryError)) mistake ??= thrown;
      throw thrown;
    }
  });
  if (mistake !== undefined) throw mistake;
  return done;
}

function orThrow<Value>(one: Value | Error): Value {
  if (one instanceof Error) throw one;
  return one;
}

/** Channels of which those that a test gives can be used, and no other. */
export function channelsWith(given: Partial<Record<ChannelKey, FakePreparation | FakeChannel>>): ChannelMap {
  const channel = (key: ChannelKey): FakeChannel => {
    const one = given[key] ?? new Error(`the test gives no channel ${key}`);
    return one instanceof FakeChannel ? one : new FakeChannel(one);
  };
  return { K1: channel('K1'), K2: channel('K2'), K3: channel('K3'), K4: channel('K4') };
}
