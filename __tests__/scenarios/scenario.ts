import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect } from '@jest/globals';
import type { Report } from '../../src/delivery/report.ts';
import { fetchAsBrowser } from '../world/client.ts';
import { findDeviations } from '../world/openapi/deviations.ts';
import type { TestRepository } from '../world/repository.ts';
import {
  type ActionResult,
  type ActionRun,
  runAction,
  SIMULATED_LIMITS,
  SIMULATED_TIME,
} from '../world/runner.ts';
import {
  type ActiveInterception,
  doMeanwhile,
  type InterceptedReply,
  type RequestMatch,
} from '../world/server/interceptions.ts';
import type { HttpExchange } from '../world/server/traffic-log.ts';
import { setUpWorld, type TestWorld } from '../world/set-up-world.ts';
import { parseReports } from './report-documents.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The Node that the project installs. */
export const NODE = join(ROOT, 'node_modules/.bin/node');
/** The bundle of the command line. */
export const CLI = join(ROOT, 'dist/cli.js');
export const MARKER = 'marker-42';
/** A small page that holds the marker. */
export const createPage = (text = 'first'): string =>
  `<!doctype html><title>Привет</title><p>${MARKER}</p><p>${text}</p>\n`;

/** A step of the action, and the reports that it left. */
export interface DeliveredStep extends ActionResult {
  readonly repository: TestRepository;
  /** The first file's. */
  readonly report: Report;
  readonly reports: readonly Report[];
}

/** A step; `file` is the first of its files by default. */
export interface ScenarioDelivery extends Omit<ActionRun, 'world' | 'repository'> {
  /** A new one by default. */
  readonly repository?: TestRepository;
  /**
   * The step's pauses take no real time, and the site answers only after its builds.
   * @see ../world/simulated-time.ts
   */
  readonly simulatedTime?: boolean;
}

/** One local GitHub for a test file, with helpers for its tests. */
export interface ScenarioWorld extends TestWorld {
  /** Runs the step with short pauses; one that waits until its timeout needs `simulatedTime`. */
  deliver(delivery: ScenarioDelivery): Promise<DeliveredStep>;
  /** Like the world's own, but removed after the test. */
  intercept(match: RequestMatch, answer: InterceptedReply): ActiveInterception;
  /** Acts after a host's answer and before the product gets it, by default once. */
  meanwhile(match: RequestMatch, act: () => unknown): ActiveInterception;
  /** Fetches a URL like a browser: follows redirects, keeps cookies, has no credentials. */
  fetchPublic(url: string): Promise<Buffer>;
}

/** Starts the local GitHub before a file's tests, and cleans up after each test. */
export function setUpScenario(): ScenarioWorld {
  const setup = setUpWorld('demo');
  let interceptions: ActiveInterception[] = [];

  afterEach(() => {
    for (const interception of interceptions) interception.remove();
    interceptions = [];
    const { world } = setup;
    world.filebin.reset();
    const deviations = findDeviations(world.traffic.exchanges());
    world.traffic.clear();
    expect(deviations).toEqual([]);
  });
  return {
    get world() {
      return setup.world;
    },
    repository: setup.repository,
    async deliver(delivery) {
      const [file = ''] = Object.keys(delivery.files ?? {});
      const { simulatedTime = false, ...run } = delivery;
      const repository = delivery.repository ?? (await this.repository());
      const limits = simulatedTime ? SIMULATED_LIMITS : { 'poll-interval': '0.05', timeout: '110' };
      const env = { ...(simulatedTime ? SIMULATED_TIME : {}), ...run.env };
      const { site: pages } = repository;
      if (simulatedTime && pages !== null) {
        pages.beforeAnswer = () => pages.whenBuilt();
      }
      const inputs = { file, ...limits, ...delivery.inputs };
      const result = await runAction({ world: setup.world, ...run, repository, inputs, env });
      const reports = parseReports(result.outputs['report-json']);
      const [report] = reports;
      if (report === undefined) throw new Error(`No report:\n${result.stdout}\n${result.stderr}`);
      return { ...result, repository, report, reports };
    },
    intercept(match, answer) {
      const interception = setup.world.intercept(match, answer);
      interceptions.push(interception);
      return interception;
    },
    meanwhile(match, act) {
      return this.intercept(match, doMeanwhile(act));
    },
    async fetchPublic(start) {
      const { status, bytes } = await fetchAsBrowser(setup.world, start);
      expect(`${status} ${start}`).toBe(`200 ${start}`);
      return bytes;
    },
  };
}

/** Holds answers back until this many requests have arrived. */
export function waitForAll(count: number): () => Promise<void> {
  const all = Promise.withResolvers<void>();
  let arrived = 0;
  return () => {
    arrived += 1;
    if (arrived === count) all.resolve();
    return all.promise;
  };
}

/** Lists the requests of the product, without the test's own. */
export function listRequests(scenario: ScenarioWorld, pattern: RegExp): readonly HttpExchange[] {
  return scenario.world.traffic
    .exchanges(pattern)
    .filter(({ headers }) => /screen-delivery/.test(headers['user-agent'] ?? ''));
}
