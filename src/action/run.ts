import { createPorts, runRequest } from '../context.ts';
import { readCredentials } from '../credentials.ts';
import { refusalReport } from '../delivery/compose-report.ts';
import { LINK_SUBJECT } from '../delivery/file-delivery.ts';
import { findFiles } from '../delivery/find-files.ts';
import { finishReport } from '../delivery/finish-report.ts';
import { getDeliveryResult, type Report } from '../delivery/report.ts';
import { stoppedError, toDeliveryError } from '../errors.ts';
import { createGitHubClient, type GitHubClientOptions } from '../github/api/client.ts';
import type { Ports } from '../ports.ts';
import { createRedactor } from '../redact.ts';
import { refuseUnsafeEnvironment } from '../request/environment.ts';
import type { RawInputs } from '../request/inputs.ts';
import { type DeliveryRequest, parseRequest } from '../request/parse-request.ts';
import { refuseSecretInputs } from '../request/secret-inputs.ts';
import { parseBoolean } from '../request/values.ts';
import { failIfAbandoned, systemClock } from '../system.ts';
import { ACTION } from '../words.ts';
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
    const result = await parseAndPerform(inputs, env, currentRun, ports);
    const reports = result.reports.map((report) => finishReport(report, redactor));
    // Loaded after the delivery. `eager` keeps the bundle one file.
    const { writeOutputs } = await import(/* webpackMode: "eager" */ './outputs.ts');
    const outputFailure = await writeOutputs(reports, env, logger);
    if (result.request?.comment) {
      const { updateComment } = await import(/* webpackMode: "eager" */ './comment.ts');
      const connect = (options: GitHubClientOptions) => createGitHubClient(options, ports);
      await updateComment({ reports, request: result.request, run: currentRun, connect }, ports);
    }
    const message = describeFailure(reports);
    if (message !== null && (result.request?.failOnNotReady ?? failsOnRefusal(inputs))) fail(message);
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

interface RunResult {
  /** `null` if the inputs were refused. */
  readonly request: DeliveryRequest | null;
  readonly reports: readonly Report[];
}

/** Whatever fails here ends as a report. */
async function parseAndPerform(
  inputs: RawInputs,
  env: RunnerEnvironment,
  currentRun: CurrentRun,
  ports: Ports,
): Promise<RunResult> {
  let request: DeliveryRequest | null = null;
  const face = isNarrowAction(env, inputs) ? NARROW : ACTION;
  try {
    refuseUnsafeEnvironment(env);
    const context = createRunContext(env, currentRun, ports);
    await refuseSecretInputs(inputs, context.secrets, ports.logger);
    const parsed = parseRequest(inputs, context);
    request = parsed;
    const reports = await failIfAbandoned(() => runRequest(parsed, ports, { face, findFiles }));
    return { request, reports };
  } catch (thrown) {
    const failure = toDeliveryError(thrown).withStep('check');
    const isWithdrawal = inputs.operation.trim().toLowerCase() === 'withdraw';
    const subject = (isWithdrawal && inputs.path) || inputs.file || inputs.name;
    const operation = isWithdrawal ? 'withdraw' : 'deliver';
    return { request, reports: [refusalReport(subject, failure, operation, face)] };
  }
}

/** Without a request, only `fail-on-not-ready` itself is read. */
function failsOnRefusal(inputs: RawInputs): boolean {
  try {
    return parseBoolean(inputs, 'fail-on-not-ready');
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
