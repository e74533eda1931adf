import { systemClock } from '../clock.ts';
import type { RawInputs } from '../delivery/inputs.ts';
import { THE_LINK } from '../delivery/findings.ts';
import { type Report, refusal } from '../delivery/report.ts';
import { parseRequest } from '../delivery/request.ts';
import { yesOrNo } from '../delivery/values.ts';
import { asDeliveryError } from '../errors.ts';
import { createGitHub, type GitHub, type GitHubOptions } from '../github/client.ts';
import { createHttp } from '../http/client.ts';
import type { Ports } from '../ports.ts';
import { random } from '../random.ts';
import { createRedactor } from '../redact.ts';
import { perform } from '../wiring.ts';
import { type Environment, readInputs, surroundings } from './inputs.ts';
import { actionLogger } from './log.ts';
import { keepComment } from './comment.ts';
import { findFiles } from './find-files.ts';
import { handOver, withoutSecrets } from './outputs.ts';

/**
 * The action's whole run: inputs → request → delivery → outputs and summary → comment.
 *
 * @returns the sentence to fail the step with, or `null`
 */
export async function run(env: Environment): Promise<string | null> {
  const raw = readInputs(env);
  const redactor = createRedactor();
  const logger = actionLogger(redactor, systemClock);
  logger.mask(raw.token);
  const stop = new AbortController();
  const ports: Ports = { http: createHttp(), clock: systemClock, logger, signal: stop.signal, random };
  const abort = (): void => stop.abort();
  const connect = (options: GitHubOptions): GitHub => createGitHub(options, ports);
  process.once('SIGINT', abort).once('SIGTERM', abort);
  try {
    const reports = withoutSecrets(await reportOn(raw, env, ports), redactor);
    await handOver(reports, env);
    if (isOn(raw.comment)) await keepComment({ reports, inputs: raw, env, connect }, ports);
    const complaint = complaintAbout(reports);
    return failsStep(raw) ? complaint : null;
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort);
  }
}

async function reportOn(raw: RawInputs, env: Environment, ports: Ports): Promise<readonly Report[]> {
  try {
    const around = surroundings(env, ports);
    for (const secret of around.secrets) ports.logger.mask(secret);
    const request = parseRequest(raw, around);
    yesOrNo(raw, 'fail-on-not-ready');
    yesOrNo(raw, 'comment');
    return await perform(request, ports, findFiles);
  } catch (thrown) {
    return [refusal(raw.file, asDeliveryError(thrown).at('check'))];
  }
}

/** What the step fails with; a dry run that foresees no failure is none. */
function complaintAbout(reports: readonly Report[]): string | null {
  const failing = reports.filter(({ notReady }) => notReady !== null && notReady.code !== 'DRY_RUN');
  const [first] = failing;
  if (first === undefined) return null;
  const name = first.file?.path ?? THE_LINK;
  const which = reports.length === 1 ? '' : `${failing.length} of ${reports.length} files; ${name}: `;
  return `${which}${first.lines.RESULT}`;
}

const isOn = (said: string): boolean => /^true$/i.test(said.trim());

/** An unreadable answer to that question fails the step, too. */
const failsStep = (raw: RawInputs): boolean => !/^false$/i.test(raw['fail-on-not-ready'].trim());
