import { tmpdir } from 'node:os';
import { createLazyScreen, loadScreen } from './browser/load-screen.ts';
import type { Redactor } from './credentials.ts';
import { audit } from './delivery/audit.ts';
import { refusalReport } from './delivery/compose-report.ts';
import { openContent } from './delivery/content-file.ts';
import { deliver } from './delivery/deliver.ts';
import type { DeliveryContext } from './delivery/delivery-context.ts';
import { list } from './delivery/list.ts';
import { redactFields, redactReport } from './delivery/redact-report.ts';
import { composeDocument, type Report, type ReportDocument } from './delivery/report.ts';
import { DeliveryError } from './errors.ts';
import type { authorizeDevice } from './github/device-flow.ts';
import { createHttpClient } from './http/client.ts';
import { openRepository } from './open-repository.ts';
import type { Logger, Ports } from './ports.ts';
import type { RawInputs } from './request/inputs.ts';
import type { DeliveryRequest } from './request/parse-request.ts';
import { createWorkFolders, random, systemClock, watchForEnd } from './system.ts';
import { ACTION, type Face, say } from './words.ts';

/** Creates the real clock, network and randomness for an interface. */
export function createPorts(env: NodeJS.ProcessEnv, logger: Logger, signal: AbortSignal): Ports {
  const tempFolder = env.RUNNER_TEMP || tmpdir();
  return { http: createHttpClient(), clock: systemClock, logger, signal, random, env, tempFolder };
}

interface InterfaceParts {
  readonly face?: Face;
  /** Asks a person for a token; by default through the log. */
  readonly authorize?: typeof authorizeDevice;
}

/** Runs the request and reports on every file. @throws if the process would end early */
export async function runRequest(
  given: DeliveryRequest,
  ports: Ports,
  parts: InterfaceParts = {},
): Promise<readonly Report[]> {
  const end = watchForEnd();
  const folders = createWorkFolders(ports.tempFolder);
  try {
    const request = await Promise.race([openContent(given, ports, folders.open), end.comes]);
    const context = createDeliveryContext(request, ports, parts, folders.open);
    try {
      const perform = request.operation === 'audit' ? audit : deliver;
      return await Promise.race([perform(context), end.comes]);
    } finally {
      await Promise.race([context.screen.close(), end.comes]);
    }
  } finally {
    await folders.remove();
    end.unwatch();
  }
}

/** Runs a request and always reports, without secrets. @throws {DeliveryError} `BAD_USAGE` of the request */
export async function reportOnRequest(
  request: Promise<DeliveryRequest>,
  ports: Ports,
  {
    asked,
    redactor,
    ...parts
  }: InterfaceParts & { readonly asked: Partial<RawInputs>; readonly redactor: Redactor },
): Promise<readonly Report[]> {
  let reports: readonly Report[];
  try {
    reports = await runRequest(await request, ports, parts);
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'BAD_USAGE') throw thrown;
    reports = [refusalReport(asked, thrown, parts.face)];
  }
  return reports.map((report) => redactReport(report, redactor));
}

/** Lists deliveries, without secrets. @throws {DeliveryError} `BAD_USAGE` of the request */
export async function listOnRequest(
  request: Promise<DeliveryRequest>,
  ports: Ports,
  { asked, redactor, ...parts }: Parameters<typeof reportOnRequest>[2],
): Promise<ReportDocument> {
  try {
    const found = await list(createDeliveryContext(await request, ports, parts));
    return redactFields(found, redactor.redact) as ReportDocument;
  } catch (thrown) {
    if (thrown instanceof DeliveryError && thrown.code === 'BAD_USAGE') throw thrown;
    return composeDocument([redactReport(refusalReport(asked, thrown, parts.face), redactor)]);
  }
}

export function createDeliveryContext(
  request: DeliveryRequest,
  ports: Ports,
  { face = ACTION, authorize }: InterfaceParts = {},
  openFolder = createWorkFolders(ports.tempFolder).open,
): DeliveryContext {
  const options = {
    ...ports,
    sandbox: request.browserSandbox,
    sandboxHint: () =>
      say((w) => w.orSet('browser-sandbox', 'false', ' if you trust all pages of this repository'), face),
  };
  return {
    ...ports,
    request,
    face,
    openFolder,
    screen: createLazyScreen(() => loadScreen(options), ports),
    openRepository: (query) => openRepository(request, query, ports, authorize),
  };
}
