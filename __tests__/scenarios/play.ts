import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, expect } from '@jest/globals';
import { startAnnouncements } from '../../src/action/announcements.ts';
import type { CurrentRun } from '../../src/action/current-run.ts';
import { describePermissions } from '../../src/action/inputs.ts';
import { type Report, reportText } from '../../src/delivery/report.ts';
import { createGitHubClient } from '../../src/github/api/client.ts';
import { findFiles } from '../../src/request/find-files.ts';
import { completeInputs, type RawInputs } from '../../src/request/inputs.ts';
import type { RunContext } from '../../src/request/parse-request.ts';
import { type InProcessRun, runInProcess } from '../faults/in-process.ts';
import {
  createResponse,
  createWorldHttp,
  type FaultHandler,
  type RecordedRequest,
} from '../faults/recorded-http.ts';
import type { SimulatedClock } from '../faults/simulated-clock.ts';
import { NOON } from '../support/ports.ts';
import { findDeviations, type ValidatedExchange } from '../world/openapi/deviations.ts';
import { PUBLIC_ADDRESS } from '../world/public-address.ts';
import type { TestRepository } from '../world/repository.ts';
import { writeFiles } from '../world/runner.ts';
import {
  type ActiveInterception,
  type BufferedReply,
  doMeanwhile,
  type InterceptedReply,
  InterceptionRules,
  type RequestMatch,
} from '../world/server/interceptions.ts';
import type { HostRequest } from '../world/server/messages.ts';
import { setUpWorld, type TestWorld } from '../world/set-up-world.ts';

/** A delivery in this process; `file` is the first of its files by default. */
export interface PlayedDelivery {
  /** A new one by default. */
  readonly repository?: TestRepository;
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly inputs?: Partial<RawInputs>;
  /** A token with the default permissions by default. */
  readonly token?: string;
  readonly around?: Partial<RunContext>;
  readonly signal?: AbortSignal;
  /** Called in each of its pauses. */
  readonly onPause?: () => void;
  /** The step's run; if set, the delivery is announced as well. */
  readonly run?: CurrentRun;
  readonly perform?: InProcessRun['perform'];
}

/** The result of a delivery in this process. */
export interface Played {
  readonly repository: TestRepository;
  /** The first file's. */
  readonly report: Report;
  readonly reports: readonly Report[];
  readonly log: string;
  /** Texts that its log must hide. */
  readonly masked: readonly string[];
  /** Its requests as `METHOD address`. */
  readonly requests: readonly string[];
  /** Its requests that contain a text. */
  sightings(text: string): readonly URL[];
  /** How many milliseconds it took on its clock. */
  readonly took: number;
}

/** One local GitHub for a test file, whose hosts are called without sockets, processes and git. */
export interface PlayWorld extends TestWorld {
  deliver(delivery: PlayedDelivery): Promise<Played>;
  /** Like the world's own, but removed after the test. `hang`: no answer until the stop. */
  intercept(match: RequestMatch, answer: InterceptedReply): ActiveInterception;
  /** Changes the site's answer at a path, with any query. */
  alterSite(repository: TestRepository, path: string, answer: InterceptedReply): ActiveInterception;
  /** Acts after a host's answer and before the product gets it, by default once. */
  meanwhile(match: RequestMatch, act: () => unknown): ActiveInterception;
  /** Changes the clock of the machine on which the last delivery runs. */
  jumpClock(ms: number): void;
}

/** Starts the local GitHub before a file's tests, and cleans up after each test. */
export function setUpPlay(): PlayWorld {
  const setup = setUpWorld('play');
  let rules = new InterceptionRules();
  let newestClock: SimulatedClock | undefined;
  beforeAll(() => {
    setup.world.rateLimits.now = () => NOON;
  });
  afterEach(() => {
    rules = new InterceptionRules();
    setup.world.filebin.reset();
    setup.world.rateLimits.clear();
  });
  return {
    get world() {
      return setup.world;
    },
    repository: setup.repository,
    intercept: (match, answer) => rules.add(match, answer),
    meanwhile: (match, act) => rules.add(match, doMeanwhile(act)),
    jumpClock: (ms) => newestClock?.jump(ms),
    alterSite: ({ pages }, path, answer) =>
      rules.add({ url: (address) => address.split('?')[0] === pages.url + path, times: 9_999 }, answer),
    async deliver(delivery) {
      const { world } = setup;
      const {
        files = {},
        inputs = {},
        token = world.token(),
        around,
        signal,
        run,
        onPause,
        perform,
      } = delivery;
      const repository = delivery.repository ?? (await this.repository());
      const folder = await mkdtemp(join(world.folder, 'play-'));
      await writeFiles(folder, files);
      const stop = signal ?? new AbortController().signal;
      const own = rules;
      const [file = ''] = Object.keys(files);
      const { fullName, instance } = repository;
      const server = { 'api-url': instance.api, 'auth-url': `https://${instance.host}` };
      const given = { file, token, repository: fullName, ...server, ...inputs };
      let started = 0;
      const played = await runInProcess({
        repository,
        inputs: given,
        around: { folder, findFiles, allowedRoots: [folder], random: Math.random, ...around },
        signal: stop,
        // Git can't push to a repository in memory, so the object API is used instead.
        machine: { env: { PATH: '/nowhere' }, tempFolder: world.folder },
        onPause,
        perform,
        open(clock) {
          newestClock = clock;
          started = clock.now();
          return createWorldHttp(world, clock, ({ request }) => {
            const { method, url, headers = {}, connections: connection = 0 } = request;
            const asked = { method, url: url.href, headers, connection };
            const answer = own.take(asked as HostRequest);
            return answer && intercepted(answer, asked as HostRequest, stop);
          });
        },
        begin: run && announcing(given, run),
      });
      const { report, reports, logger, recordedHttp: http, clock } = played;
      // Commits between two deliveries are built at once.
      await played.finishBuilds();
      if (repository.site !== null) repository.site.pause = async () => undefined;
      expect(findDeviations(http.requests.map(toExchange))).toEqual([]);
      const requests = http.requests.map(({ request: { method, url } }) => `${method} ${url.href}`);
      const sightings = (text: string): URL[] =>
        http.requests.flatMap((one) => (one.sent.includes(text) ? one.request.url : []));
      const log = logger.lines.join('\n');
      return {
        repository,
        report,
        reports,
        log,
        masked: logger.masked,
        requests,
        sightings,
        took: clock.now() - started,
      };
    },
  };
}

/** Announces a run of a job as the action does. */
const announcing =
  (given: Partial<RawInputs>, run: CurrentRun): InProcessRun['begin'] =>
  (request, ports) =>
    startAnnouncements(
      {
        request,
        run,
        grant: (permission) => describePermissions(completeInputs(given, {}), permission, run),
        connect: (access) => createGitHubClient(access, ports),
      },
      ports,
    );

/** A request to compare with GitHub's description, without a body if that isn't JSON. */
function toExchange({ request: { method, url, ...request }, sent }: RecordedRequest): ValidatedExchange {
  const headers: ValidatedExchange['headers'] = { 'user-agent': 'screen-delivery', ...request.headers };
  const json = /json/.test(headers['content-type'] ?? '') ? sent.split('\n').slice(2).join('\n') : '';
  const body = { isWhole: json !== '', size: json.length, text: json };
  return { method, url: url.href, headers, body, answer: null };
}

function intercepted(answer: InterceptedReply, request: HostRequest, stop: AbortSignal): FaultHandler {
  const respond = ({ status, headers = {}, body = '' }: BufferedReply) =>
    createResponse({ status, headers, body: Buffer.from(body) });
  if ('status' in answer) return async () => respond(answer);
  if ('alter' in answer) {
    return async ({ callHost }) => {
      const reply = respond(await answer.alter(await callHost(), request));
      stop.throwIfAborted();
      return reply;
    };
  }
  if (answer.fault === 'hang') {
    return () => new Promise((_, reject) => stop.addEventListener('abort', () => reject(stop.reason)));
  }
  throw new Error(`${answer.fault} is a row of faults/simulated-faults.ts`);
}

/** A request that may change something; a GraphQL query is a POST, too. */
const WRITE = /^(PUT|PATCH|DELETE) |^POST (?!.*(\/graphql|\/login\/\S+)$)/;

/** Waits for a delivery whose files must all be ready. */
export async function proven(playing: Promise<Played>): Promise<Played> {
  const played = await playing;
  expect(played.reports.map(({ notReady }) => notReady)).toEqual(played.reports.map(() => null));
  return played;
}

/**
 * Waits for a delivery that must not be ready, without a URL anywhere, nor a write if its check failed. `says`
 * matches `place 403: reason → hint`.
 */
export async function refused(playing: Promise<Played>, says: RegExp): Promise<Played> {
  const played = await playing;
  const { report, log } = played;
  expect(report).toMatchObject({ ready: false, url: null, rawUrl: null });
  const { step, httpCode, reason, hint } = report.notReady ?? {};
  expect(hint).not.toBe('');
  expect(`${step}${httpCode == null ? '' : ` ${httpCode}`}: ${reason} → ${hint}`).toMatch(says);
  if (report.channel !== 'K4' && !/^the given link/.test(report.lines.CLAIM))
    expect(report.lines.UNKNOWN).not.toBe('');
  expect(`${reportText(report)}\n${log}`).not.toMatch(PUBLIC_ADDRESS);
  if (step === 'check') expect(writesOf(played)).toEqual([]);
  return played;
}

/** The requests of a delivery that match. */
export const requestsOf = ({ requests }: Pick<Played, 'requests'>, pattern: RegExp): readonly string[] =>
  requests.filter((one) => pattern.test(one));

/** The requests of a delivery that may change something. */
export const writesOf = (played: Pick<Played, 'requests'>): readonly string[] => requestsOf(played, WRITE);
