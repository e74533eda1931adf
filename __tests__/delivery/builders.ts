import type {
  Channel,
  ChannelMap,
  LiveStatus,
  Placement,
  PreparedUpload,
  UploadItem,
  UploadPlan,
} from '../../src/channels/channel.ts';
import type { Outcome } from '../../src/delivery/carry.ts';
import { type Findings, nothingYet } from '../../src/delivery/findings.ts';
import type { Proof } from '../../src/delivery/verify.ts';
import { DeliveryError, type Result } from '../../src/errors.ts';
import type { ChannelKey } from '../../src/protocol/words.ts';
import { INPUTS, type RawInputs } from '../../src/request/inputs.ts';
import { type DeliveryRequest, parseRequest, type RunContext } from '../../src/request/parse-request.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
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

export const surroundingsWith = (more: Partial<RunContext> = {}): RunContext => ({
  folder: '/work',
  origin: 'from run 7 of Deliver',
  now: NOON,
  random: () => 0.5,
  secrets: [],
  allowedRoots: [],
  sourceIsPrivate: null,
  ...more,
});

/** A strict request, made from inputs as the product makes it. */
export const requestWith = (
  inputs: Partial<RawInputs> = {},
  around: Partial<RunContext> = {},
): DeliveryRequest => parseRequest(rawInputs({ file: 'page.html', ...inputs }), surroundingsWith(around));

export const planWith = (more: Partial<UploadPlan> = {}): UploadPlan => ({
  channel: 'K1',
  method: 'method A, single-call write',
  destination: 'branch main, path page.html',
  name: 'page.html',
  claim: 'opens on the screen',
  ...more,
});

/** As K1 places a file. */
export const placementWith = (more: Partial<Placement> = {}): Placement => ({
  evidence: 'commit c0ffee',
  url: PAGE,
  written: true,
  commitSha: 'c0ffee',
  rawUrl: RAW,
  bypassCache: true,
  hostMayChangeBytes: true,
  mustBeExternal: false,
  notes: [],
  unknown: [],
  ...more,
});

/** What a played channel comes to when it places: a placement, or what it fails with. */
export type Ending = Placement | Error;

/** An intent of a played channel; with `watch` where the host has to be waited for. */
export function intentWith(
  ending: Ending = placementWith(),
  watch?: () => Promise<LiveStatus>,
  plan: UploadPlan = planWith(),
): PreparedUpload<Ending> {
  return { plan, task: ending, ...(watch === undefined ? {} : { watch }) };
}

export const proofWith = (more: Partial<Proof> = {}): Proof => ({
  httpCode: 200,
  markerCount: null,
  sha256: 'aa',
  match: 'identical',
  hosts: [PAGE.host],
  attempts: 1,
  ...more,
});

/** A proven delivery through K1. */
export const outcomeWith = (more: Partial<Outcome> = {}): Outcome => ({
  plan: planWith(),
  placement: placementWith(),
  proof: proofWith(),
  httpCode: 200,
  rawUrl: RAW,
  unknown: [],
  failure: null,
  took: { place: 1_200, wait: 34_560, verify: 0 },
  ...more,
});

/** The part of a file that a report reads. */
export const fileWith = (more: Partial<LocalFile> = {}): LocalFile =>
  ({ name: 'page.html', size: 12, sha256: 'f00d', blobSha: 'b10b', markerCount: null, ...more }) as LocalFile;

/** Everything a proven delivery has come to know. */
export const findingsWith = (more: Partial<Findings> = {}): Findings => ({
  ...nothingYet('deliver', 'page.html'),
  file: fileWith(),
  because: 'it was asked for',
  main: outcomeWith(),
  ...more,
});

/** What a played channel prepares: the same for every parcel, or each parcel's own; an Error is its refusal. */
export type Prepared =
  | PreparedUpload<Ending>
  | Error
  | ((parcel: UploadItem) => PreparedUpload<Ending> | Error);

/** A channel that prepares what it is given, and then does as its intents say; notes what it has placed. */
export class PlayedChannel implements Channel<Ending> {
  readonly key: ChannelKey;
  /** The parcels of each call. */
  readonly prepared: (readonly UploadItem[])[] = [];
  /** The destinations of each call. */
  readonly placed: (readonly string[])[] = [];
  readonly #intents: Prepared;

  constructor(key: ChannelKey, intents: Prepared) {
    this.key = key;
    this.#intents = intents;
  }

  async prepare(parcels: readonly UploadItem[]): Promise<readonly Result<PreparedUpload<Ending>>[]> {
    this.prepared.push(parcels);
    return parcels.map((parcel) =>
      settledOr(typeof this.#intents === 'function' ? this.#intents(parcel) : this.#intents),
    );
  }

  async preview(intents: readonly PreparedUpload<Ending>[]): Promise<readonly Result<string>[]> {
    return intents.map(({ task }) =>
      settledOr<string>(task instanceof Error ? task : `to be ${task.evidence}`),
    );
  }

  async publish(intents: readonly PreparedUpload<Ending>[]): Promise<readonly Result<Placement>[]> {
    this.placed.push(intents.map(({ plan }) => plan.destination));
    return intents.map(({ task }) => settledOr(task));
  }
}

/** A failure is a channel's answer; any other error is a mistake, which it throws. */
function settledOr<T>(one: T | Error): Result<T> {
  if (one instanceof Error && !(one instanceof DeliveryError)) throw one;
  return one as Result<T>;
}

/** Channels of which those that a test gives can be used, and no other. */
export function channelsOf(given: Partial<Record<ChannelKey, Prepared | PlayedChannel>>): ChannelMap {
  const keys: readonly ChannelKey[] = ['K1', 'K2', 'K3', 'K4'];
  const entries = keys.map((key) => {
    const one = given[key] ?? new Error(`nobody plays ${key}`);
    return [key, one instanceof PlayedChannel ? one : new PlayedChannel(key, one)];
  });
  return Object.fromEntries(entries) as ChannelMap;
}
