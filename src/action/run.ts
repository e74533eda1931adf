import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { createPorts, reportOnRequest } from '../context.ts';
import { createRedactor, isAppToken, readCredentials, withToken } from '../credentials.ts';
import { describeOutcome, formatReason, listCopies, nameSubject, type Report } from '../delivery/report.ts';
import { toMessage } from '../errors.ts';
import { type ApiConnection, createGitHubClient } from '../github/api/client.ts';
import { shorten } from '../plain-text.ts';
import { TEXT } from '../protocol/limits.ts';
import { createRequest } from '../request/create-request.ts';
import { systemClock, watchForStop } from '../system.ts';
import { startAnnouncements } from './announcements.ts';
import { findReadOnlyFork, loadCurrentRun } from './current-run.ts';
import { actionFace, createRunContext, describePermissions, readInputs } from './inputs.ts';
import { createActionLogger } from './log.ts';
import { writeOutputs } from './outputs.ts';

/** The action's whole run: inputs → request → delivery → outputs and summary → comment and deployment. */
export async function run(
  env: NodeJS.ProcessEnv,
  fail: (message: string, title?: string) => void,
): Promise<void> {
  const redactor = createRedactor();
  const stop = watchForStop();
  try {
    // Connections may use up all file handles, so one is reserved for the outputs.
    const reserved = openSync(devNull, 'r');
    const inputs = readInputs(env);
    const logger = createActionLogger(redactor, systemClock);
    for (const { value } of withToken(inputs.token, readCredentials(env))) logger.mask(value);
    const ports = createPorts(env, logger, stop.signal);
    const currentRun = await loadCurrentRun();
    const face = actionFace(env, inputs, currentRun);
    const request = createRequest(inputs, createRunContext(env, currentRun, ports), logger);
    const connect = (connection: ApiConnection) => createGitHubClient(connection, ports);
    const grant = (permission: string) => describePermissions(inputs, permission, currentRun);
    const announce = await request.then(
      (parsed) => startAnnouncements({ request: parsed, run: currentRun, grant, connect }, ports),
      () => undefined,
    );
    const reports = await reportOnRequest(request, ports, { asked: inputs, redactor, face });
    closeSync(reserved);
    const outputFailure = await writeOutputs(reports, env, logger);
    const notReady = reports.filter(({ result }) => result === 'not-ready');
    // The step stays green, because nobody can give a fork's run more permissions.
    const isFork = findReadOnlyFork(currentRun) !== null && isAppToken(inputs.token);
    const mayBeReadOnly = notReady.length > 0 && isFork && notReady.every(mayNotWrite);
    const isReadOnly = (await announce?.(reports, mayBeReadOnly)) !== true && mayBeReadOnly;
    for (const text of isReadOnly ? new Set(notReady.map(describeOutcome)) : []) logger.warning(text);
    // An unreadable value doesn't leave the step green.
    const isForgiven = isReadOnly || /^(false|False|FALSE)$/.test(inputs['fail-on-not-ready']);
    const failed = isForgiven ? [] : notReady;
    for (const report of failed) fail(...composeAnnotation(report));
    if (failed.length === 0 && outputFailure !== null) fail(redactor.redact(outputFailure));
  } catch (thrown) {
    fail(redactor.redact(toMessage(thrown)));
  } finally {
    stop.unwatch();
  }
}

/** The title is the cause. The text is the way out, because the log shows only the text. */
function composeAnnotation(report: Report): readonly [message: string, title: string] {
  const { notReady } = report;
  const name = nameSubject(report);
  if (!notReady?.hint) return [describeOutcome(report), name];
  const { reason, findings } = notReady;
  const text = formatReason({ ...notReady, reason: `${name} is not ready` });
  return [[text, ...listCopies(report)].join('. '), shorten(findings?.about ?? reason, TEXT.message)];
}

const mayNotWrite = ({ channel, notReady }: Report): boolean =>
  (channel === 'K1' || channel === 'K2') && notReady?.code === 'NO_PERMISSION';
