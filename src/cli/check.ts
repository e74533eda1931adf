import { resolve } from 'node:path';
import { type DeliveryError, toDeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { parseFingerprints } from '../request/values.ts';
import { inspectFile } from '../rules/inspect.ts';
import { baseName, nameFromFile } from '../rules/naming.ts';
import { checkSelfContained } from '../rules/page/self-contained.ts';
import { refuseSecrets } from '../rules/secrets/secrets.ts';
import type { CliCommand } from './args.ts';
import type { Terminal } from './terminal.ts';

/** How a file stands before the rules. */
interface CheckResult {
  readonly file: string;
  readonly fit: boolean;
  readonly size?: number;
  readonly sha256?: string;
  readonly reason?: string;
  readonly hint?: string | undefined;
}

/**
 * All checks on every file; nothing is asked of any host.
 *
 * @returns whether all files are fit to be delivered
 */
export async function checkFiles(
  command: CliCommand,
  terminal: Terminal,
  { signal }: Ports,
): Promise<boolean> {
  const findings: CheckResult[] = [];
  for (const file of command.subjects) findings.push(await check(file, command.flags, signal));
  if (command.json) terminal.print(JSON.stringify(findings, null, 2));
  else for (const finding of findings) terminal.print(formatCheck(finding));
  return findings.every(({ fit }) => fit);
}

async function check(given: string, flags: CliCommand['flags'], signal: AbortSignal): Promise<CheckResult> {
  try {
    const { marker } = flags;
    const allowed = parseFingerprints(flags['allow-secret'] ?? '');
    nameFromFile(baseName(given));
    const file = await inspectFile({ path: resolve(given), given, marker, secrets: [], signal });
    try {
      await refuseSecrets(file, allowed, signal);
      await checkSelfContained(file, 'enforce');
    } finally {
      await file.close();
    }
    return { file: given, fit: true, size: file.size, sha256: file.sha256 };
  } catch (thrown) {
    const { message, hint }: DeliveryError = toDeliveryError(thrown);
    return { file: given, fit: false, reason: message, hint };
  }
}

function formatCheck({ file, fit, size, sha256, reason, hint }: CheckResult): string {
  if (fit) return `${file}: fit to be delivered, ${size} bytes, sha256 ${sha256}`;
  return `${file}: not fit: ${reason}${hint === undefined ? '' : `. To change: ${hint}`}`;
}
