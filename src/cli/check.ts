import { resolve } from 'node:path';
import { toDeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { parseFingerprints } from '../request/values.ts';
import { inspectFile } from '../rules/inspect.ts';
import { baseName, nameFromFile } from '../rules/naming.ts';
import { checkSelfContained } from '../rules/page/self-contained.ts';
import { refuseSecrets } from '../rules/secrets/secrets.ts';
import type { CliCommand } from './args.ts';
import type { Terminal } from './terminal.ts';

/** The result of all checks on one file; `--json` prints a list of these. */
interface CheckResult {
  readonly file: string;
  /** Whether the file can be delivered. */
  readonly deliverable: boolean;
  readonly size?: number;
  readonly sha256?: string;
  readonly reason?: string;
  readonly hint?: string | undefined;
}

/**
 * Runs all checks on every file, without any request to a host.
 *
 * @returns whether all files can be delivered
 */
export async function checkFiles(
  command: CliCommand,
  terminal: Terminal,
  { signal }: Ports,
): Promise<boolean> {
  const results: CheckResult[] = [];
  for (const file of command.positionals) results.push(await checkFile(file, command.flags, signal));
  if (command.json) terminal.print(JSON.stringify(results, null, 2));
  else for (const result of results) terminal.print(formatCheckResult(result));
  return results.every(({ deliverable }) => deliverable);
}

async function checkFile(
  given: string,
  flags: CliCommand['flags'],
  signal: AbortSignal,
): Promise<CheckResult> {
  try {
    const { marker } = flags;
    const allowedSecrets = parseFingerprints(flags['allow-secret'] ?? '');
    nameFromFile(baseName(given));
    const file = await inspectFile({ path: resolve(given), given, marker, secrets: [], signal });
    try {
      await refuseSecrets(file, allowedSecrets, signal);
      await checkSelfContained(file, 'enforce');
    } finally {
      await file.close();
    }
    return { file: given, deliverable: true, size: file.size, sha256: file.sha256 };
  } catch (thrown) {
    const { message, hint } = toDeliveryError(thrown);
    return { file: given, deliverable: false, reason: message, hint };
  }
}

function formatCheckResult({ file, deliverable, size, sha256, reason, hint }: CheckResult): string {
  if (deliverable) return `${file}: can be delivered, ${size} bytes, sha256 ${sha256}`;
  return `${file}: can't be delivered: ${reason}${hint === undefined ? '' : `. To change: ${hint}`}`;
}
