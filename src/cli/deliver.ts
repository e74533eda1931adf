import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runRequest } from '../context.ts';
import { refusalReport } from '../delivery/compose-report.ts';
import { findFiles } from '../delivery/find-files.ts';
import type { FullReport } from '../delivery/report.ts';
import { toDeliveryError } from '../errors.ts';
import { authorizeDevice } from '../github/device-flow.ts';
import type { Logger, Ports } from '../ports.ts';
import { refuseUnsafeEnvironment } from '../request/environment.ts';
import { commandFace } from '../request/faces.ts';
import { refuseAddresses } from '../request/input-rules.ts';
import { operationOf } from '../request/parse-request.ts';
import { findRepository } from '../request/source-repository.ts';
import type { Face } from '../words.ts';
import type { CliCommand } from './args.ts';
import { isUsageError, refuseAsUsage, usageError } from './flag-rules.ts';
import { printReports } from './print-reports.ts';
import {
  createCommandRequest,
  findCurrentFolder,
  readAndMaskCredentials,
  readsStandardInput,
  tokenVariable,
} from './request.ts';
import { progressLogger, quietLogger, type Terminal } from './terminal.ts';

/** Does what a command asks for, and prints the reports. @returns whether nothing failed */
export async function deliverAll(
  command: CliCommand,
  terminal: Terminal,
  ports: Ports,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const credentials = readAndMaskCredentials(command, env, terminal.logger);
  await refuseReceiptNowhere(command);
  const contentStream = readsStandardInput(command) ? terminal.input() : undefined;
  const face = commandFace(command.name, tokenVariable(command, env));
  const run = async (): Promise<readonly FullReport[]> => {
    const checkOnly = command.name === 'check';
    if (!checkOnly) refuseUnsafeEnvironment(env);
    const own = { ...ports, logger: selectLogger(command, ports) };
    const { files, log, ...sources } = await findSources(command, env);
    const request = await createCommandRequest(
      command,
      { ...sources, ...credentials, contentStream },
      env,
      own,
    );
    for (const line of log) own.logger.info(line);
    // A pattern may take long in a large folder: it is searched once.
    const find = files === undefined ? findFiles : async () => files;
    // A person must see the code even where the log is left out.
    const authorize: typeof authorizeDevice = (options, asking) =>
      authorizeDevice(options, { ...asking, logger: terminal.logger });
    return runRequest(request, own, { face, authorize, findFiles: find, checkOnly });
  };
  const reports = await run().catch((thrown) => [describeRefusal(command, thrown, face)]);
  return printReports(reports, command, terminal);
}

/** Whatever ends before a delivery has its report ends as one. @throws {DeliveryError} `BAD_USAGE` as it is */
function describeRefusal(command: CliCommand, thrown: unknown, face: Face): FullReport {
  if (isUsageError(thrown)) throw thrown;
  const failure = toDeliveryError(thrown).withStep('check');
  const { file = '', path = '', name = '' } = command.flags;
  const [first = ''] = command.positionals;
  const subject = readsStandardInput(command) ? name || 'standard input' : first;
  const operation = operationOf(command.name);
  const about = command.name === 'verify' ? file : subject;
  return refusalReport((operation !== 'deliver' && path) || about, failure, operation, face);
}

async function refuseReceiptNowhere({ receipt }: CliCommand): Promise<void> {
  if (receipt === undefined) return;
  await access(dirname(receipt)).catch(() => {
    throw usageError('the folder for the receipt does not exist', 'create it, or name another file');
  });
}

/** The reports of a check or of a link say all that there is; how long the wait for a link is can be seen. */
function selectLogger({ name }: CliCommand, { logger }: Ports): Logger {
  if (name === 'check') return quietLogger(logger);
  return name === 'verify' ? progressLogger(logger) : logger;
}

/** A link and a check need no repository. What was found is logged only once nothing is wrong with the command. */
async function findSources(command: CliCommand, env: NodeJS.ProcessEnv) {
  const log: string[] = [];
  if (command.name === 'verify') return { repository: '', sources: [], files: undefined, log };
  if (command.name === 'check') {
    return { repository: command.flags.repository ?? '', sources: [null], files: undefined, log };
  }
  await refuseAsUsage(async () => refuseAddresses(command.positionals, operationOf(command.name)));
  const { flags, positionals } = command;
  const folder = findCurrentFolder();
  const found = readsStandardInput(command) ? [] : await findFiles(positionals, folder);
  const query = { inputs: flags, folder, files: found.map(({ path }) => path), env };
  const sources = await findRepository(query, { info: (line) => void log.push(line) });
  return { ...sources, files: found, log };
}
