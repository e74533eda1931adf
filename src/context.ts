import { tmpdir } from 'node:os';
import { createLazyScreen, loadScreen } from './browser/load-screen.ts';
import type { Redactor } from './credentials.ts';
import { audit } from './delivery/audit.ts';
import type { DeliveryContext } from './delivery/choose-channel.ts';
import { refusalReport } from './delivery/compose-report.ts';
import { openContent } from './delivery/content-file.ts';
import { deliver } from './delivery/deliver.ts';
import { type FindFiles, findLiteralFiles } from './delivery/find-files.ts';
import { finishReport } from './delivery/finish-report.ts';
import type { FullReport } from './delivery/report.ts';
import { withdraw } from './delivery/withdraw.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from './errors.ts';
import { createGitHubClient, type GitHubClient } from './github/api/client.ts';
import {
  loadRepositoryContext,
  noAccessError,
  type RepositoryContext,
  type RepositoryQuery,
} from './github/api/repository.ts';
import type { authorizeDevice } from './github/device-flow.ts';
import { createHttpClient } from './http/client.ts';
import type { Logger, Ports } from './ports.ts';
import type { RawInputs } from './request/inputs.ts';
import type { DeliveryRequest } from './request/parse-request.ts';
import { random, systemClock, watchForEnd } from './system.ts';
import { ACTION, type Face, say } from './words.ts';

/** The real clock, network and randomness, with the log of the interface that runs. */
export function createPorts(logger: Logger, signal: AbortSignal): Ports {
  return { http: createHttpClient(), clock: systemClock, logger, signal, random };
}

interface InterfaceParts {
  readonly face?: Face;
  /** How the lines of `file` are read: literally, unless the interface knows patterns. */
  readonly findFiles?: FindFiles;
  /** How a person is asked for a token: by the log, unless the interface can ask them itself. */
  readonly authorize?: typeof authorizeDevice;
}

/** Does what was asked for, and reports on every file. @throws where the process would end before the delivery has */
export async function runRequest(
  given: DeliveryRequest,
  ports: Ports,
  parts: InterfaceParts = {},
): Promise<readonly FullReport[]> {
  const end = watchForEnd();
  try {
    const { request, remove } = await Promise.race([openContent(given, ports), end.comes]);
    const context = createDeliveryContext(request, ports, parts);
    try {
      const run = { deliver, withdraw, audit }[request.operation];
      return await Promise.race([run(request, context), end.comes]);
    } finally {
      await Promise.race([Promise.all([context.screen.close(), remove()]), end.comes]);
    }
  } finally {
    end.unwatch();
  }
}

/**
 * Does what an interface was asked for. There is a report without secrets of whatever ends it, but for wrong usage.
 *
 * @param asked the inputs as they were given
 * @throws {DeliveryError} `BAD_USAGE` of the request
 */
export async function answerRequest(
  request: Promise<DeliveryRequest>,
  ports: Ports,
  {
    asked,
    redactor,
    ...parts
  }: InterfaceParts & { readonly asked: Partial<RawInputs>; readonly redactor: Redactor },
): Promise<readonly FullReport[]> {
  let reports: readonly FullReport[];
  try {
    reports = await runRequest(await request, ports, parts);
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'BAD_USAGE') throw thrown;
    reports = [refusalReport(asked, thrown, parts.face)];
  }
  return reports.map((report) => finishReport(report, redactor));
}

/** The code of the device flow is loaded only where a person is asked. */
const authorizeInLog: typeof authorizeDevice = async (options, ports) => {
  const deviceFlow = await import(/* webpackMode: "eager" */ './github/device-flow.ts');
  return deviceFlow.authorizeDevice(options, ports);
};

export function createDeliveryContext(
  request: DeliveryRequest,
  ports: Ports,
  { face, findFiles = findLiteralFiles, authorize = authorizeInLog }: InterfaceParts = {},
): DeliveryContext {
  return {
    ...ports,
    face,
    findFiles: request.content === undefined ? findFiles : findLiteralFiles,
    screen: createLazyScreen(() => loadScreen(browserOptions(request, ports, face)), ports),
    async openRepository(query) {
      ports.logger.startSection('Authorize');
      const github = await openGitHub(request, query, authorize, ports);
      const repository = await loadRepositoryContext(github, query);
      for (const line of describeRepository(repository)) ports.logger.info(line);
      // Loaded after the first requests: most of the code is for what follows them. `eager` keeps the bundle one file.
      const { createChannels } = await import(/* webpackMode: "eager" */ './create-channels.ts');
      return { repository, channels: createChannels(request, repository, ports) };
    },
  };
}

/** What is known of the repository, in a few lines for people. */
function describeRepository({ github, privateRepository, site }: RepositoryContext): string[] {
  const lines = [hasFailed(github) ? 'there is no token, or no repository for it' : 'there is a token'];
  if (privateRepository !== null) lines.push(`the repository is ${privateRepository ? 'private' : 'public'}`);
  if (site === null) lines.push('the repository has no Pages site');
  else if (site === 'unreadable') lines.push("the repository's Pages settings can't be read");
  else if (site !== 'unasked') {
    const source =
      site.builtBy === 'workflow' ? 'a workflow' : `branch ${site.branch}, folder /${site.folder}`;
    lines.push(`the Pages site on ${site.base.host} is built from ${source}`);
  }
  return lines;
}

const browserOptions = (
  { browserSandbox }: DeliveryRequest,
  { http, clock, logger }: Ports,
  face: Face = ACTION,
) => ({
  sandbox: browserSandbox,
  sandboxHint: say((w) => `set ${w.input('browser-sandbox', 'false')}`, face),
  environment: process.env,
  http,
  clock,
  logger,
  tempFolder: tmpdir(),
});

/**
 * The API for the given token, or for one that a person grants; why there is none, also where they decline.
 *
 * @see protocol 5 (4, 7)
 */
async function openGitHub(
  { apiUrl, token: given, clientId, repository, serverUrl, dryRun }: DeliveryRequest,
  query: RepositoryQuery,
  authorize: typeof authorizeDevice,
  ports: Ports,
): Promise<Result<GitHubClient>> {
  const isNeeded = repository !== undefined && (query.repository || query.site);
  // A dry run asks no person for anything.
  const isAsked = given === undefined && clientId !== undefined && isNeeded && !dryRun;
  const token = isAsked ? await resultOf(() => authorize({ authUrl: serverUrl, clientId }, ports)) : given;
  if (token instanceof DeliveryError) {
    if (token.code !== 'NOT_AUTHORIZED') throw token;
    return token;
  }
  if (token !== undefined && repository !== undefined)
    return createGitHubClient({ apiUrl, token, repository }, ports);
  return noAccessError(token !== undefined, repository !== undefined);
}
