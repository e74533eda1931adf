import { runRequest } from '../context.ts';
import { LINK_SUBJECT } from '../delivery/file-delivery.ts';
import { type Report, refusalReport } from '../delivery/report.ts';
import { toDeliveryError } from '../errors.ts';
import { createGitHubClient, type GitHubClient, type GitHubClientOptions } from '../github/api/client.ts';
import { createHttpClient } from '../http/client.ts';
import type { Ports } from '../ports.ts';
import { createRedactor } from '../redact.ts';
import type { RawInputs } from '../request/inputs.ts';
import { parseRequest } from '../request/parse-request.ts';
import { parseBoolean } from '../request/values.ts';
import { random, systemClock } from '../system.ts';
import { updateComment } from './comment.ts';
import { findFiles } from './find-files.ts';
import { type Environment, readInputs, readRunContext } from './inputs.ts';
import { createActionLogger } from './log.ts';
import { redactReports, writeOutputs } from './outputs.ts';

/**
 * The action's whole run: inputs → request → delivery → outputs and summary → comment.
 *
 * @returns the sentence to fail the step with, or `null`
 */
export async function run(env: Environment): Promise<string | null> {
  const raw = readInputs(env);
  const redactor = createRedactor();
  const logger = createActionLogger(redactor, systemClock);
  logger.mask(raw.token);
  const stop = new AbortController();
  const ports: Ports = { http: createHttpClient(), clock: systemClock, logger, signal: stop.signal, random };
  const abort = (): void => stop.abort();
  const connect = (options: GitHubClientOptions): GitHubClient => createGitHubClient(options, ports);
  process.once('SIGINT', abort).once('SIGTERM', abort);
  try {
    const reports = redactReports(await reportOn(raw, env, ports), redactor);
    await writeOutputs(reports, env);
    if (isOn(raw.comment)) await updateComment({ reports, inputs: raw, env, connect }, ports);
    const complaint = complaintAbout(reports);
    return failsStep(raw) ? complaint : null;
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort);
  }
}

async function reportOn(raw: RawInputs, env: Environment, ports: Ports): Promise<readonly Report[]> {
  try {
    const around = readRunContext(env, ports);
    for (const secret of around.secrets) ports.logger.mask(secret);
    const request = parseRequest(raw, around);
    parseBoolean(raw, 'fail-on-not-ready');
    parseBoolean(raw, 'comment');
    return await runRequest(request, ports, findFiles);
  } catch (thrown) {
    return [refusalReport(raw.file, toDeliveryError(thrown).withStep('check'))];
  }
}

/** What the step fails with; a dry run that foresees no failure is none. */
function complaintAbout(reports: readonly Report[]): string | null {
  const failing = reports.filter(({ notReady }) => notReady !== null && notReady.code !== 'DRY_RUN');
  const [first] = failing;
  if (first === undefined) return null;
  const name = first.file?.path ?? LINK_SUBJECT;
  const which = reports.length === 1 ? '' : `${failing.length} of ${reports.length} files; ${name}: `;
  return `${which}${first.lines.RESULT}`;
}

const isOn = (said: string): boolean => /^true$/i.test(said.trim());

/** An unreadable answer to that question fails the step, too. */
const failsStep = (raw: RawInputs): boolean => !/^false$/i.test(raw['fail-on-not-ready'].trim());
