import { type InterfaceParts, runRequest } from '../context.ts';
import type { FindFiles } from '../delivery/find-files.ts';
import { type Report, refusalReport } from '../delivery/report.ts';
import { toDeliveryError } from '../errors.ts';
import { authorizeDevice } from '../github/device-flow.ts';
import type { Ports } from '../ports.ts';
import { refuseUnsafeEnvironment } from '../request/environment.ts';
import { selectInstance } from '../request/local-inputs.ts';
import { refuseAddresses } from '../request/parse-request.ts';
import { findRepository } from '../request/source-repository.ts';
import { failIfAbandoned } from '../system.ts';
import type { CliCommand } from './args.ts';
import { createFileFinder } from './find-files.ts';
import { formatReports } from './format-reports.ts';
import { printReports } from './print-reports.ts';
import { progressLogger } from './quiet-logger.ts';
import {
  type CommandContext,
  createRequest,
  findCurrentFolder,
  listGivenFlags,
  readAndMaskCredentials,
  readRawInputs,
  readsStandardInput,
} from './request.ts';
import type { Terminal } from './terminal.ts';
import { refuseAsUsage, UsageError } from './usage-error.ts';

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
  const { token, secrets } = readAndMaskCredentials(command, env, terminal.logger);
  const contentStream = readsStandardInput(command) ? terminal.input() : undefined;
  // The report of a link says all that there is; how long the wait is can be seen.
  const logger = command.name === 'verify' ? progressLogger(ports.logger) : ports.logger;
  const own = { ...ports, logger };
  const parts = { findFiles: createFileFinder(), authorize: askOn(terminal) };
  const created = await createReports(command, { token, secrets, contentStream }, { ports: own, parts, env });
  return printReports(created, command, terminal, formatReports);
}

/** What a command runs with. */
interface CommandRun {
  readonly ports: Ports;
  readonly parts: InterfaceParts & { readonly findFiles: FindFiles };
  readonly env: NodeJS.ProcessEnv;
}

async function createReports(
  command: CliCommand,
  { token, secrets, contentStream }: Pick<CommandContext, 'token' | 'secrets' | 'contentStream'>,
  { ports, parts, env }: CommandRun,
): Promise<readonly Report[]> {
  try {
    refuseUnsafeEnvironment(env);
    const { repository, sources, log } = await findSources(command, parts, env);
    const raw = readRawInputs(command, env, { token, repository });
    const opensLinks = command.name === 'verify';
    const given = listGivenFlags(command);
    const context = { sources, secrets, opensLinks, contentStream, given };
    const request = await createRequest(raw, context, ports);
    for (const line of log) ports.logger.info(line);
    return await failIfAbandoned(() => runRequest(request, ports, parts));
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    const failure = toDeliveryError(thrown).withStep('check');
    const { file = '', path = '', name = '' } = command.flags;
    const [first = ''] = command.positionals;
    const given = readsStandardInput(command) ? name || 'standard input' : first;
    if (command.name === 'withdraw') return [refusalReport(path || given, failure, 'withdraw')];
    return [refusalReport(command.name === 'verify' ? file : given, failure)];
  }
}

/** A person must see the code even where the log is left out. */
const askOn =
  ({ logger }: Pick<Terminal, 'logger'>): typeof authorizeDevice =>
  (options, ports) =>
    authorizeDevice(options, { ...ports, logger });

/** A link needs no repository. What was found is logged only once nothing is wrong with the command. */
async function findSources(command: CliCommand, { findFiles }: CommandRun['parts'], env: NodeJS.ProcessEnv) {
  const log: string[] = [];
  if (command.name === 'verify') return { repository: '', sources: [], log };
  await refuseAsUsage(async () =>
    refuseAddresses(command.positionals, command.name === 'withdraw' ? 'withdraw' : 'deliver'),
  );
  const { flags, positionals } = command;
  const folder = findCurrentFolder();
  const found = readsStandardInput(command) ? [] : await findFiles(positionals, folder);
  const files = found.map(({ path }) => path);
  const { 'auth-url': serverUrl } = selectInstance(flags, env);
  const query = { given: flags.repository, folder, files, serverUrl, env };
  return { ...(await findRepository(query, { info: (line) => void log.push(line) })), log };
}
