import { createDeliveryContext } from '../context.ts';
import { checkPages, closeFiles, openFiles } from '../delivery/check-file.ts';
import type { FileDelivery } from '../delivery/file-delivery.ts';
import { redactTexts } from '../delivery/redact-report.ts';
import { type DeliveryError, toDeliveryError } from '../errors.ts';
import type { Logger, Ports } from '../ports.ts';
import { refuseSecretInputs } from '../request/secret-inputs.ts';
import type { CliCommand } from './args.ts';
import { parseCliRequest, readAndMaskCredentials, readRawInputs } from './request.ts';
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

/** The result of all checks on one file; `--json` prints a list of these. */
interface CheckResult {
  readonly file: string;
  /** Whether the file can be delivered. */
  readonly deliverable: boolean;
  /** Bytes; of a folder those of all its files. */
  readonly size?: number;
  /** Of a folder that of its entry page. */
  readonly sha256?: string;
  /** Of a folder: how many files, and the page whose address is handed over. */
  readonly files?: number;
  readonly entry?: string;
  readonly notes?: readonly string[];
  /** What the checks could not see, or were told to ignore. */
  readonly unknown?: readonly string[];
  readonly reason?: string;
  readonly hint?: string | undefined;
}

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
  const results = redactTexts(await checkAll(raw, secrets, ports), terminal.redactor.redact);
  if (command.json) terminal.printJson(results);
  else for (const result of results) terminal.print(formatCheckResult(result));
  return results.every(({ deliverable }) => deliverable);
}

async function checkAll(
  raw: ReturnType<typeof readRawInputs>,
  secrets: readonly string[],
  ports: Ports,
): Promise<readonly CheckResult[]> {
  let files: readonly FileDelivery[] = [];
  try {
    await refuseSecretInputs(raw, secrets, ports.logger);
    const request = parseCliRequest(raw, { sources: [null], secrets }, ports);
    files = await openFiles(
      request,
      createDeliveryContext(request, {
        ...ports,
        // What is found to be secret is hidden in the results, too.
        logger: { ...SILENT, mask: (secret) => ports.logger.mask(secret) },
      }),
    );
    const { channels } = request;
    const isForScreen = channels === 'auto' || channels.includes('K1');
    return (await checkPages(files, request, () => isForScreen, ports)).map(toCheckResult);
  } catch (thrown) {
    return [refusedResult(raw.file.split('\n')[0] ?? '', toDeliveryError(thrown))];
  } finally {
    await closeFiles(files);
  }
}

function toCheckResult({ subject, file, site, failure, unknown, notes }: FileDelivery): CheckResult {
  if (failure !== null) return refusedResult(subject, failure);
  const found = { file: subject, deliverable: true, sha256: file?.sha256 ?? '', unknown };
  if (site === null) return { ...found, size: file?.size ?? 0 };
  return { ...found, size: site.size, files: site.files.length, entry: site.entry, notes };
}

const refusedResult = (file: string, { message, hint }: DeliveryError): CheckResult => ({
  file,
  deliverable: false,
  reason: message,
  hint,
});

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
