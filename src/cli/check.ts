import { runCheck } from '../context.ts';
import { type CheckResult, refusedResult } from '../delivery/check-results.ts';
import { redactTexts } from '../delivery/redact-report.ts';
import { toDeliveryError } from '../errors.ts';
import type { Logger, Ports } from '../ports.ts';
import { refuseSecretInputs } from '../request/secret-inputs.ts';
import type { CliCommand } from './args.ts';
import {
  type CommandContext,
  parseCliRequest,
  readAndMaskCredentials,
  readRawInputs,
  readsStandardInput,
} from './request.ts';
import type { Terminal } from './terminal.ts';

/** The results say everything; the steps of the checks are not logged. */
const SILENT: Omit<Logger, 'mask'> = {
  info: () => undefined,
  warning: () => undefined,
  debug: () => undefined,
  startSection: () => undefined,
  endSection: () => undefined,
  progress: () => ({ advance: () => undefined, end: () => undefined }),
};

/**
 * Runs the checks of a delivery on every file, without any request to a host.
 *
 * @returns whether all files can be delivered
 */
export async function checkFiles(
  command: CliCommand,
  terminal: Terminal,
  ports: Ports,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const { token, secrets } = readAndMaskCredentials(command, env, terminal.logger);
  const raw = readRawInputs(command, env, { token, repository: command.flags.repository ?? '' });
  const contentStream = readsStandardInput(command) ? terminal.input() : undefined;
  const checked = await checkAll(raw, { sources: [null], secrets, contentStream }, ports);
  const results = redactTexts(checked, terminal.redactor.redact);
  if (command.json) terminal.printJson(results);
  else for (const result of results) terminal.print(formatCheckResult(result));
  return results.every(({ deliverable }) => deliverable);
}

async function checkAll(
  raw: ReturnType<typeof readRawInputs>,
  given: Pick<CommandContext, 'sources' | 'secrets' | 'contentStream'>,
  ports: Ports,
): Promise<readonly CheckResult[]> {
  try {
    await refuseSecretInputs(raw, given.secrets, ports.logger);
    const request = parseCliRequest(raw, given, ports);
    // What is found to be secret is hidden in the results, too.
    const logger = { ...SILENT, mask: (secret: string) => ports.logger.mask(secret) };
    return await runCheck(request, { ...ports, logger });
  } catch (thrown) {
    return [refusedResult(raw.file.split('\n')[0] || raw.name, toDeliveryError(thrown))];
  }
}

function formatCheckResult(result: CheckResult): string {
  const { file, deliverable, size, sha256, files, entry, unknown = [], notes = [], reason, hint } = result;
  if (deliverable) {
    const site = files === undefined ? '' : `${files} files, entry ${entry}, `;
    return [
      `${file}: can be delivered, ${site}${size} bytes, sha256 ${sha256}`,
      ...notes.map((line) => `note: ${line}`),
      ...unknown.map((line) => `UNKNOWN: ${line}`),
    ].join('; ');
  }
  return `${file}: can't be delivered: ${reason}${hint === undefined ? '' : `. To change: ${hint}`}`;
}
