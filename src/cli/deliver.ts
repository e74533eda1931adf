import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runRequest } from '../context.ts';
import { getDeliveryResult, type Report, refusalReport, reportText } from '../delivery/report.ts';
import { toDeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';
import type { RawInputs } from '../request/inputs.ts';
import type { CliCommand } from './args.ts';
import { parseCliRequest, readRawInputs, readToken, selectInstance } from './request.ts';
import type { Terminal } from './terminal.ts';

/**
 * Delivers or withdraws files, or verifies a link, and prints the reports.
 *
 * @returns whether all are ready, or only a preview was requested
 */
export async function deliverAll(
  command: CliCommand,
  terminal: Terminal,
  ports: Ports,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const token = readToken(command, env);
  terminal.logger.mask(token);
  const remote = command.flags.repository === undefined ? await readGitRemote() : '';
  const instance = selectInstance(command, env);
  const repository = command.flags.repository ?? parseRemote(remote, instance['auth-url']);
  // Without a repository the source can't be private; otherwise it is not known yet.
  const sourceIsPrivate = repository === '' && remote === '' ? false : null;
  const reports = await createReports(
    readRawInputs(command, env, { token, repository }),
    sourceIsPrivate,
    ports,
  );
  terminal.print(command.json ? JSON.stringify(reports, null, 2) : reports.map(reportText).join('\n\n'));
  return reports.every((report) => getDeliveryResult(report) !== 'not-ready');
}

async function createReports(
  raw: RawInputs,
  sourceIsPrivate: boolean | null,
  ports: Ports,
): Promise<readonly Report[]> {
  try {
    return await runRequest(parseCliRequest(raw, { sourceIsPrivate }, ports), ports);
  } catch (thrown) {
    return [refusalReport(raw.file, toDeliveryError(thrown).withStep('check'))];
  }
}

/** The URL of the git remote `origin` of the current folder; empty if there is none. */
async function readGitRemote(): Promise<string> {
  try {
    const options = { timeout: 5 * SECOND };
    const { stdout } = await promisify(execFile)('git', ['remote', 'get-url', 'origin'], options);
    return stdout.trim();
  } catch {
    // No git, no repository or no remote: a file can still be delivered without a repository.
    return '';
  }
}

/** `owner/name` from the URL of a git remote; empty if the remote is not on the GitHub instance. */
function parseRemote(remote: string, authUrl: string): string {
  const [, host, path] =
    /^(?:[a-z]+:\/\/)?(?:[^/@]*@)?([^/:@]+)(?::\d+(?=\/))?[/:]([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(remote) ??
    [];
  return path !== undefined && host?.toLowerCase() === URL.parse(authUrl)?.hostname ? path : '';
}
