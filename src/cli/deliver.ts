import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runRequest } from '../context.ts';
import { type Report, refusalReport, reportText } from '../delivery/report.ts';
import { toDeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';
import { INPUTS, type InputName, type RawInputs } from '../request/inputs.ts';
import { parseRequest } from '../request/parse-request.ts';
import { type CliCommand, UsageError } from './args.ts';
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
  const instance = selectInstance(command, env);
  const remote = command.flags.repository === undefined ? await readGitRemote() : '';
  const repository = command.flags.repository ?? parseRemote(remote, instance['auth-url']);
  const raw = { ...rawInputs(command), ...instance, token, repository };
  const reports = await createReports(raw, ports, repository === '' && remote === '');
  terminal.print(command.json ? JSON.stringify(reports, null, 2) : reports.map(reportText).join('\n\n'));
  return reports.every(({ ready, notReady }) => ready || notReady?.code === 'DRY_RUN');
}

async function createReports(
  raw: RawInputs,
  ports: Ports,
  noRepository: boolean,
): Promise<readonly Report[]> {
  try {
    const runContext = {
      folder: process.cwd(),
      origin: 'from the command line',
      now: ports.clock.now(),
      random: ports.random,
      // Without a repository the source can't be private; otherwise it is not known yet.
      sourceIsPrivate: noRepository ? false : null,
      secrets: [],
      allowedRoots: [],
    };
    return await runRequest(parseRequest(raw, runContext), ports);
  } catch (thrown) {
    return [refusalReport(raw.file, toDeliveryError(thrown).withStep('check'))];
  }
}

/** The GitHub instance: from the flags, else the one of the runner (its token is used), else github.com. */
function selectInstance(
  { flags }: CliCommand,
  env: NodeJS.ProcessEnv,
): Pick<RawInputs, 'api-url' | 'auth-url'> {
  return {
    'api-url': flags['api-url'] ?? (env.GITHUB_API_URL || 'https://api.github.com'),
    'auth-url': flags['auth-url'] ?? (env.GITHUB_SERVER_URL || 'https://github.com'),
  };
}

/** The defaults of all inputs, replaced by the flags. Defaults that only a runner can evaluate are empty. */
function rawInputs(command: CliCommand): RawInputs {
  const names = Object.keys(INPUTS) as InputName[];
  const defaults = names.map((name) => {
    const value = INPUTS[name].default;
    return [name, value.startsWith('${{') ? '' : value];
  });
  const given = command.positionals.join('\n');
  const subject = command.name === 'verify' ? { url: given, channel: 'K4' } : { file: given };
  const operation = command.name === 'withdraw' ? 'withdraw' : 'deliver';
  return { ...Object.fromEntries(defaults), ...command.flags, operation, ...subject };
}

function readToken({ tokenEnv, name }: CliCommand, env: NodeJS.ProcessEnv): string {
  if (name === 'verify') return '';
  if (tokenEnv === undefined) return env.GITHUB_TOKEN || env.GH_TOKEN || '';
  const token = env[tokenEnv];
  if (token === undefined || token === '') {
    throw new UsageError(`the environment variable ${tokenEnv} does not contain a token`);
  }
  return token;
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
