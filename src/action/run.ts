import { createPorts, runRequest } from '../context.ts';
import { readCredentials } from '../credentials.ts';
import { refusalReport } from '../delivery/compose-report.ts';
import { LINK_SUBJECT } from '../delivery/delivery.ts';
import { findFiles } from '../delivery/find-files.ts';
import { finishReport } from '../delivery/finish-report.ts';
import { getDeliveryResult, type Report } from '../delivery/report.ts';
import { hasFailed, stoppedError, toDeliveryError } from '../errors.ts';
import { createGitHubClient, type GitHubClientOptions } from '../github/api/client.ts';
import type { Ports } from '../ports.ts';
import { createRedactor } from '../redact.ts';
import { refuseUnsafeEnvironment } from '../request/environment.ts';
import type { RawInputs } from '../request/inputs.ts';
import { type DeliveryRequest, parseRequest } from '../request/parse-request.ts';
import { refuseSecretInputs } from '../request/secret-inputs.ts';
import { parseBoolean } from '../request/values.ts';
import { systemClock } from '../system.ts';
import { ACTION, type Face } from '../words.ts';
import { type CurrentRun, loadCurrentRun } from './current-run.ts';
import { createRunContext, NARROW, type RunnerEnvironment, readInputs } from './inputs.ts';
import { createActionLogger } from './log.ts';

/**
 * The action's whole run: inputs → request → delivery → outputs and summary → comment.
 *
 * @param fail fails the step; called once, at the end, or not at all
 */
export async function run(env: RunnerEnvironment, fail: (message: string) => void): Promise<void> {
  const redactor = createRedactor();
  const stop = new AbortController();
  const abort = (): void => stop.abort(stoppedError());
  process.once('SIGINT', abort).once('SIGTERM', abort);
  try {
    const inputs = readInputs(env);
    const logger = createActionLogger(redactor, systemClock);
    for (const secret of new Set([inputs.token, ...readCredentials(env)])) logger.mask(secret);
    const ports = createPorts(logger, stop.signal);
    const currentRun = await loadCurrentRun();
    const request = await parse(inputs, env, currentRun, ports).catch(toDeliveryError);
    const face = isNarrowAction(env, inputs) ? NARROW : ACTION;
    const refuse = (thrown: unknown): readonly Report[] => [describeRefusal(inputs, thrown, face)];
    const performed = hasFailed(request)
      ? refuse(request)
      : await runRequest(request, ports, { face, findFiles }).catch(refuse);
    const reports = performed.map((report) => finishReport(report, redactor));
    // Loaded after the delivery. `eager` keeps the bundle one file.
    const { writeOutputs } = await import(/* webpackMode: "eager" */ './outputs.ts');
    const outputFailure = await writeOutputs(reports, env, logger);
    if (!hasFailed(request) && request.comment) {
      const { updateComment } = await import(/* webpackMode: "eager" */ './comment.ts');
      const connect = (options: GitHubClientOptions) => createGitHubClient(options, ports);
      await updateComment({ reports, request, run: currentRun, connect }, ports);
    }
    const message = describeFailure(reports);
    if (message !== null && (hasFailed(request) ? failsOnRefusal(inputs) : request.failOnNotReady))
      fail(message);
    else if (outputFailure !== null) fail(redactor.redact(outputFailure));
  } catch (thrown) {
    fail(redactor.redact(thrown instanceof Error ? thrown.message : String(thrown)));
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort);
  }
}

/** The action in `agent/` has few inputs; a runner passes on every input that an action has, also empty ones. */
const isNarrowAction = (env: RunnerEnvironment, { confine }: RawInputs): boolean =>
  confine !== '' && env.INPUT_CHANNEL === undefined;

async function parse(
  inputs: RawInputs,
  env: RunnerEnvironment,
  currentRun: CurrentRun,
  ports: Ports,
): Promise<DeliveryRequest> {
  refuseUnsafeEnvironment(env);
  const context = createRunContext(env, currentRun, ports);
  await refuseSecretInputs(inputs, context.secrets, ports.logger);
  return parseRequest(inputs, context);
}

/** Whatever ends before a delivery has its report ends as one. */
function describeRefusal({ operation, path, file, name }: RawInputs, thrown: unknown, face: Face): Report {
  const failure = toDeliveryError(thrown).withStep('check');
  const isWithdrawal = operation.trim().toLowerCase() === 'withdraw';
  return refusalReport(
    (isWithdrawal && path) || file || name,
    failure,
    isWithdrawal ? 'withdraw' : 'deliver',
    face,
  );
}

/** Without a request, only `fail-on-not-ready` itself is read. */
function failsOnRefusal(inputs: RawInputs): boolean {
  try {
    return parseBoolean(inputs['fail-on-not-ready'], 'fail-on-not-ready');
  } catch {
    // An unreadable value fails the step.
    return true;
  }
}

/** The message that the step fails with; `null` if nothing failed. A dry run alone is no failure. */
function describeFailure(reports: readonly Report[]): string | null {
  const failed = reports.filter((report) => getDeliveryResult(report) === 'not-ready');
  const [first] = failed;
  if (first === undefined) return null;
  if (reports.length === 1) return first.lines.RESULT;
  return `${failed.length} of ${reports.length} files; ${first.file?.path ?? LINK_SUBJECT}: ${first.lines.RESULT}`;
}
