import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { ProxyAgent, request } from 'undici';
import type { Report } from '../../src/delivery/report.ts';
import type { ChannelKey, Step } from '../../src/protocol/words.ts';
import type { RepositoryOptions, TestRepository } from '../world/repository.ts';
import { type ActionResult, type ActionRun, runAction } from '../world/runner.ts';
import type { ActiveInterception, InterceptedReply, RequestMatch } from '../world/server/interceptions.ts';
import type { HttpExchange } from '../world/server/traffic-log.ts';
import { type GitHubWorld, startWorld } from '../world/world.ts';
import { checkAndClearTraffic } from './api-requests.ts';

export const MARKER = 'marker-42';
/** A small page that holds the marker. */
export const createPage = (text = 'first'): string =>
  `<!doctype html><title>Привет</title><p>${MARKER}</p><p>${text}</p>\n`;

/** The trailer by which a commit passes for one that this action made. */
export const OWNED_COMMIT_MESSAGE = 'ADD page.html: before\n\nDelivered-by: screen-delivery';

/** A step of the action, and the reports that it left. */
export interface DeliveredStep extends ActionResult {
  /** The first file's. */
  readonly report: Report;
  readonly reports: readonly Report[];
}

/** A step: `file` is the first of its files unless an input says otherwise. */
export interface ScenarioDelivery extends Omit<ActionRun, 'world'> {
  /**
   * The step's pauses take no real time; so that the wait is not over before the builds are, the site answers
   * after them. @see ../world/simulated-time.ts
   */
  readonly simulatedTime?: boolean;
  /** What the site waits for in simulated time; the end of its builds where absent. */
  readonly beforeAnswer?: () => Promise<void>;
}

/** The environment of a process whose pauses take no real time. @see ../world/simulated-time.ts */
export const SIMULATED_TIME = {
  NODE_OPTIONS: `--import=${new URL('../world/simulated-time.ts', import.meta.url).href}`,
};

/** One local GitHub for a test file, with helpers for its tests. */
export interface ScenarioWorld {
  readonly world: GitHubWorld;
  /** Creates a repository for one test, by default public and with a site. */
  repository(spec?: Partial<RepositoryOptions>): Promise<TestRepository>;
  /** Runs the step with short pauses; one that waits until its timeout needs `simulatedTime`. */
  deliver(delivery: ScenarioDelivery): Promise<DeliveredStep>;
  /** Like the world's own, but removed after the test. */
  intercept(match: RequestMatch, answer: InterceptedReply): ActiveInterception;
  /** Holds the answers to the first `count` matching requests back until all of them have arrived. */
  holdUntilAll(count: number, match: Omit<RequestMatch, 'times'>): void;
  /** Fetches an address like a browser: follows redirects, keeps cookies, has no credentials. */
  fetchPublic(url: string): Promise<Buffer>;
}

/** Starts the local GitHub before a file's tests, and cleans up after each test. */
export function setUpScenario(): ScenarioWorld {
  let world: GitHubWorld;
  let browser: ProxyAgent;
  let repositories = 0;
  let interceptions: ActiveInterception[] = [];

  beforeAll(async () => {
    world = await startWorld();
    browser = new ProxyAgent({ uri: world.proxyUrl, requestTls: { ca: world.ca } });
  });
  afterEach(() => {
    for (const interception of interceptions) interception.remove();
    interceptions = [];
    world.filebin.reset();
    checkAndClearTraffic(world.traffic);
  });
  afterAll(async () => {
    await browser.destroy();
    await world.stop();
  });

  return {
    get world() {
      return world;
    },
    repository: (spec = {}) => {
      repositories += 1;
      return world.repository({ owner: 'octo', name: `demo-${repositories}`, ...spec });
    },
    async deliver(delivery) {
      const [file = ''] = Object.keys(delivery.files ?? {});
      const { simulatedTime = false, beforeAnswer, ...run } = delivery;
      const limits = simulatedTime
        ? { 'poll-interval': '1', timeout: '20' }
        : { 'poll-interval': '0.05', timeout: '30' };
      const env = { ...(simulatedTime ? SIMULATED_TIME : {}), ...run.env };
      if (simulatedTime) {
        const { pages } = run.repository;
        pages.beforeAnswer = beforeAnswer ?? (() => pages.whenBuilt());
      }
      const inputs = { file, ...limits, ...delivery.inputs };
      const result = await runAction({ world, ...run, inputs, env });
      const reports = JSON.parse(result.outputs['report-json'] ?? '[]') as Report[];
      const [report] = reports;
      if (report === undefined) throw new Error(`No report:\n${result.stdout}\n${result.stderr}`);
      return { ...result, report, reports };
    },
    intercept(match, answer) {
      const interception = world.intercept(match, answer);
      interceptions.push(interception);
      return interception;
    },
    holdUntilAll(count, match) {
      const all = Promise.withResolvers<void>();
      let arrived = 0;
      const alter = async <Answer>(real: Answer): Promise<Answer> => {
        arrived += 1;
        if (arrived === count) all.resolve();
        await all.promise;
        return real;
      };
      this.intercept({ ...match, times: count }, { alter });
    },
    fetchPublic: (url) => fetchAsBrowser(url, browser),
  };
}

async function fetchAsBrowser(start: string, dispatcher: ProxyAgent): Promise<Buffer> {
  const cookies = new Map<string, string>();
  let warned = false;
  for (let url = new URL(start), hops = 0; hops < 10; hops += 1) {
    const cookie = cookies.get(url.host);
    const headers = { 'user-agent': 'Mozilla/5.0', ...(cookie === undefined ? {} : { cookie }) };
    const answer = await request(url, { dispatcher, headers });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const [given] = [answer.headers['set-cookie'] ?? []].flat();
    if (given !== undefined) cookies.set(url.host, given.replace(/;.*/, ''));
    const { location } = answer.headers;
    if (answer.statusCode >= 300 && answer.statusCode < 400) {
      url = new URL(String(location), url);
    } else if (given !== undefined && !warned) {
      // A warning page: a person continues.
      warned = true;
    } else {
      expect(`${answer.statusCode} ${start}`).toBe(`200 ${start}`);
      return bytes;
    }
  }
  throw new Error(`${start} redirects forever.`);
}

/** Everything that a step printed, and its outputs and summary. */
export function collectOutput({ stdout, stderr, outputs, summary }: ActionResult): string {
  // The runner removes the mask commands from the log.
  const log = stdout.replace(/^::add-mask::.*\n/gm, '');
  return [log, stderr, ...Object.values(outputs), summary].join('\n');
}

/**
 * Finds what a runner would execute as a command: `::name …::` at the start of a line, else `##[name …]` anywhere in it.
 *
 * @see https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
 */
export function parseRunnerCommands(stdout: string): string[] {
  return stdout.split(/\r?\n/).flatMap((line) => {
    const [, name] = /^\s*::([^\s:]*).*?::/.exec(line) ?? /##\[(\S*)/.exec(line) ?? [];
    return name === undefined ? [] : [name];
  });
}

/** Checks that the report's lines, the outputs, the summary and the log agree. */
function expectConsistentReport(delivered: DeliveredStep): void {
  const { outputs, report, stdout, stderr, summary } = delivered;
  expect(stderr).toBe('');
  const lines = Object.entries(report.lines).map(([name, text]) => `${name}: ${text}`.trimEnd());
  expect(lines.map((line) => line.slice(0, line.indexOf(':')))).toEqual([
    'CLAIM',
    'CODE',
    'TEST',
    'RESULT',
    'UNKNOWN',
  ]);
  expect(outputs.report).toBe(lines.join('\n'));
  // No text from outside can add a second result.
  expect(stdout.match(/^RESULT: .*/gm)).toHaveLength(1);
  for (const line of lines) expect(stdout).toContain(line.replaceAll('##[', '## ['));
  expect(outputs.channel).toBe(report.channel ?? '');
  expect(outputs['commit-sha']).toBe(report.commitSha ?? '');
  expect(outputs.sha256).toBe(report.file?.sha256 ?? '');
  expect(outputs.size).toBe(String(report.file?.size ?? ''));
  for (const { name } of report.gates) expect(summary).toContain(name.replaceAll('_', '&#95;'));
  // The glob library writes debug lines.
  const own = ['add-mask', 'group', 'endgroup', 'error', 'warning', 'debug'];
  expect(parseRunnerCommands(stdout).filter((name) => !own.includes(name))).toEqual([]);
}

interface ExpectedReady {
  readonly channel: ChannelKey;
  /** What the address must answer. */
  readonly shows: string | Buffer;
  readonly url?: string | RegExp;
  /** The UNKNOWN line; empty by default. */
  readonly unknown?: RegExp;
}

/** Checks that the step is ready everywhere, and that its address shows the file without credentials. */
export async function expectReady(
  scenario: ScenarioWorld,
  delivered: DeliveredStep,
  expected: ExpectedReady,
): Promise<void> {
  const { outputs, report, exitCode, stdout, summary } = delivered;
  expect(report.notReady).toBeNull();
  expect({ exitCode, result: outputs.result }).toEqual({ exitCode: 0, result: 'ready' });
  expectConsistentReport(delivered);
  expect(report.gates.map(({ passed }) => passed)).toEqual([true, true, true, true]);
  expect(report.channel).toBe(expected.channel);
  const { url = '' } = outputs;
  expect(report.url).toBe(url);
  expect(url).toMatch(/^https:\/\//);
  if (expected.url instanceof RegExp) expect(url).toMatch(expected.url);
  if (typeof expected.url === 'string') expect(url).toBe(expected.url);
  expect(report.lines.RESULT).toBe(`ГОТОВО → ${url}`);
  expect(summary).toContain(`**Ready · ГОТОВО** → <${url}>`);
  if (expected.unknown === undefined) expect(report.lines.UNKNOWN).toBe('');
  else expect(report.lines.UNKNOWN).toMatch(expected.unknown);
  // No address is printed before the report.
  expect(stdout.indexOf(url)).toBeGreaterThan(stdout.indexOf('\nCLAIM: '));
  expect((await scenario.fetchPublic(url)).equals(Buffer.from(expected.shows))).toBe(true);
}

interface ExpectedNotReady {
  readonly step: Step;
  readonly reason: RegExp;
  /** `null`: no host has answered. */
  readonly httpCode?: number | null;
  readonly hint?: RegExp;
  /** 1 by default. */
  readonly exitCode?: number;
}

/** Addresses of the channels in any text. */
const PUBLIC_ADDRESS =
  /https:\/\/[^\s"|]*(?:github\.io|filebin\.net\/|raw\.githubusercontent\.com|\/releases\/download\/)/;

/** Checks that the step is not ready, says why and where, and gives no address. */
export function expectNotReady(delivered: DeliveredStep, expected: ExpectedNotReady): void {
  const { outputs, report, exitCode, stdout, summary } = delivered;
  const { notReady } = report;
  expect(notReady?.reason).toMatch(expected.reason);
  expect(notReady?.step).toBe(expected.step);
  if (expected.httpCode !== undefined) expect(notReady?.httpCode).toBe(expected.httpCode);
  if (expected.hint !== undefined) expect(notReady?.hint).toMatch(expected.hint);
  expect({ exitCode, result: outputs.result }).toEqual({
    exitCode: expected.exitCode ?? 1,
    result: 'not-ready',
  });
  expectConsistentReport(delivered);
  expect(report.ready).toBe(false);
  expect(report.gates.at(-1)?.passed).toBe(false);
  expect(outputs).toMatchObject({ url: '', 'raw-url': '', 'duplicate-url': '' });
  expect(collectOutput(delivered)).not.toMatch(PUBLIC_ADDRESS);
  const where = notReady?.httpCode == null ? '' : `, HTTP ${notReady.httpCode}`;
  const reason = notReady?.reason.replace(/[\s\p{Cc}]+/gu, ' ');
  expect(report.lines.RESULT).toContain(`НЕ ГОТОВО → ${reason} (step ${notReady?.step}${where})`);
  expect(report.lines.UNKNOWN).not.toBe('');
  expect(summary).toContain('**Not ready · НЕ ГОТОВО** → ');
  expect(parseRunnerCommands(stdout).filter((name) => name === 'error')).toHaveLength(exitCode === 0 ? 0 : 1);
}

/** Lists the requests of the product, without the test's own. */
export function listRequests(scenario: ScenarioWorld, pattern: RegExp): readonly HttpExchange[] {
  return scenario.world.traffic
    .exchanges(pattern)
    .filter(({ headers }) => /screen-delivery/.test(headers['user-agent'] ?? ''));
}
