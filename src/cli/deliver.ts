import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runRequest } from '../context.ts';
import { type Report, refusalReport, reportText } from '../delivery/report.ts';
import { toDeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { INPUTS, type InputName, type RawInputs } from '../request/inputs.ts';
import { parseRequest } from '../request/parse-request.ts';
import { type CliCommand, UsageError } from './args.ts';
import type { Terminal } from './terminal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The instance: as the flags say, else the one whose runner this is, whose token is at hand; else github.com. */
function instanceOf({ flags }: CliCommand, env: Environment): Record<'api-url' | 'auth-url', string> {
  return {
    'api-url': flags['api-url'] ?? (env.GITHUB_API_URL || 'https://api.github.com'),
    'auth-url': flags['auth-url'] ?? (env.GITHUB_SERVER_URL || 'https://github.com'),
  };
}

/**
 * Delivers every file, or verifies the one link, and prints the reports.
 *
 * @returns whether all are ready
 */
export async function deliverAll(
  command: CliCommand,
  terminal: Terminal,
  ports: Ports,
  env: Environment,
): Promise<boolean> {
  const token = tokenFrom(command, env);
  terminal.logger.mask(token);
  const remote = command.flags.repository === undefined ? await remoteOfFolder() : '';
  const instance = instanceOf(command, env);
  const repository = command.flags.repository ?? repositoryOf(remote, instance['auth-url']);
  const raw = { ...rawInputs(command), ...instance, token, repository };
  const reports = await reportOn(raw, ports, repository === '' && remote === '');
  terminal.print(command.json ? JSON.stringify(reports, null, 2) : reports.map(reportText).join('\n\n'));
  return reports.every(({ ready, notReady }) => ready || notReady?.code === 'DRY_RUN');
}

async function reportOn(raw: RawInputs, ports: Ports, nowhere: boolean): Promise<readonly Report[]> {
  try {
    const around = {
      folder: process.cwd(),
      origin: 'from the command line',
      now: ports.clock.now(),
      random: ports.random,
      // Where there is no repository at all, there is no private one.
      sourceIsPrivate: nowhere ? false : null,
      secrets: [],
      allowedRoots: [],
    };
    const request = parseRequest(raw, around);
    return await runRequest(request, ports);
  } catch (thrown) {
    return [refusalReport(raw.file, toDeliveryError(thrown).withStep('check'))];
  }
}

/** Flags over defaults; an expression of the runner's is nothing here. */
function rawInputs(command: CliCommand): RawInputs {
  const names = Object.keys(INPUTS) as InputName[];
  const defaults = names.map((name) => [name, literal(INPUTS[name].default)]);
  const subject = command.subjects.join('\n');
  const operation = command.name === 'withdraw' ? 'withdraw' : 'deliver';
  const place = command.name === 'verify' ? { url: subject, channel: 'K4' } : { file: subject };
  return { ...Object.fromEntries(defaults), ...command.flags, operation, ...place };
}

const literal = (value: string): string => (value.startsWith('${{') ? '' : value);

function tokenFrom({ tokenEnv, name }: CliCommand, env: Environment): string {
  if (name === 'verify') return '';
  if (tokenEnv === undefined) return env.GITHUB_TOKEN || env.GH_TOKEN || '';
  const token = env[tokenEnv];
  if (token === undefined || token === '') {
    throw new UsageError(`the environment variable ${tokenEnv} holds no token`);
  }
  return token;
}

/** The folder's git remote; empty where there is none. */
async function remoteOfFolder(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('git', ['remote', 'get-url', 'origin'], { timeout: 5_000 });
    return stdout.trim();
  } catch {
    // No git, no repository or no remote: nothing to publish in, and nothing is wrong.
    return '';
  }
}

/** The repository that a remote names, where it is one of the host that is published on. */
function repositoryOf(remote: string, authUrl: string): string {
  const [, host, path] =
    /^(?:[a-z]+:\/\/)?(?:[^/@]*@)?([^/:@]+)(?::\d+(?=\/))?[/:]([^/]+\/[^/]+?)(?:\.git)?\/?$/.exec(remote) ??
    [];
  return path !== undefined && host?.toLowerCase() === URL.parse(authUrl)?.hostname ? path : '';
}
