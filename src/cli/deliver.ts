import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runRequest } from '../context.ts';
import { readCredentials } from '../credentials.ts';
import { refusalReport } from '../delivery/compose-report.ts';
import { findFiles } from '../delivery/find-files.ts';
import type { FullReport } from '../delivery/report.ts';
import { authorizeDevice } from '../github/device-flow.ts';
import type { Logger, Ports } from '../ports.ts';
import { refuseUnsafeEnvironment } from '../request/environment.ts';
import { commandFace } from '../request/faces.ts';
import { refuseAddresses } from '../request/input-rules.ts';
import { completeInputs, type InputName } from '../request/inputs.ts';
import { createLocalRequest } from '../request/local-request.ts';
import { operationOf, refuseSecretInputs } from '../request/parse-request.ts';
import { type CliCommand, readsStandardInput } from './args.ts';
import { isUsageError, refuseAsUsage, usageError } from './flag-rules.ts';
import { printReports } from './print-reports.ts';
import { progressLogger, quietLogger, type Terminal } from './terminal.ts';

/** Does what a command asks for, and prints the reports. @returns whether nothing failed */
export async function deliverAll(
  command: CliCommand,
  terminal: Terminal,
  ports: Ports,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const { name, positionals, flags, tokenEnv, receipt } = command;
  const { token, secrets } = readAndMaskCredentials(command, env, terminal.logger);
  if (receipt !== undefined) await refuseMissingFolder(receipt);
  const folder = findCurrentFolder();
  const isStream = readsStandardInput(command);
  const argument = isStream ? '' : positionals.join('\n');
  const inputs = { ...flags, ...(name === 'verify' ? { url: argument } : { file: argument }), token };
  const face = commandFace(name, tokenVariable(command, env));
  const run = async (): Promise<readonly FullReport[]> => {
    refuseUnsafeEnvironment(env);
    const own = { ...ports, logger: selectLogger(command, ports) };
    // What finds no file may be told with a part of its name.
    await refuseAsUsage(() => refuseSecretInputs(completeInputs(inputs, env), secrets, own.logger));
    const files = await findNamedFiles(inputs.file, name, folder);
    const context = {
      ...{ secrets, env, origin: 'from the command line', files: files.map(({ path }) => path) },
      ...{ folder, allowedRoots: [folder], allowsFullPaths: true },
      contentStream: isStream ? terminal.input() : undefined,
      given: [...(Object.keys(flags) as InputName[]), ...(tokenEnv === undefined ? [] : ['token' as const])],
    };
    const request = await refuseAsUsage(() => createLocalRequest(name, inputs, context, own));
    const authorize = authorizeWith(terminal.logger);
    return runRequest(request, own, { face, authorize, findFiles: async () => files });
  };
  const reports = await run().catch((thrown) => {
    if (isUsageError(thrown)) throw thrown;
    const asked = { ...(isStream && { name: 'standard input' }), ...inputs, operation: name };
    return [refusalReport(asked, thrown, face)];
  });
  return printReports(reports, command, terminal);
}

/** A pattern may take long in a large folder: it is searched once. */
async function findNamedFiles(file: string | undefined, command: string, folder: string) {
  const lines = file?.split('\n').filter((line) => line !== '') ?? [];
  await refuseAsUsage(async () => refuseAddresses(lines, operationOf(command)));
  return findFiles(lines, folder);
}

/** A person must see the code even where the log is left out. */
const authorizeWith =
  (logger: Logger): typeof authorizeDevice =>
  (options, ports) =>
    authorizeDevice(options, { ...ports, logger });

async function refuseMissingFolder(receipt: string): Promise<void> {
  await access(dirname(receipt)).catch(() => {
    throw usageError('the folder for the receipt does not exist', 'create it, or name another file');
  });
}

/** The reports of a check or of a link say all that there is; how long the wait for a link is can be seen. */
function selectLogger({ name }: CliCommand, { logger }: Ports): Logger {
  if (name === 'check') return quietLogger(logger);
  return name === 'verify' ? progressLogger(logger) : logger;
}

/** @throws {DeliveryError} `BAD_USAGE` if it was removed. */
function findCurrentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw usageError('the current folder does not exist any more', 'change to a folder that exists');
  }
}

/** Reads the credentials of the environment, and hides them. @throws {DeliveryError} `BAD_USAGE` */
export function readAndMaskCredentials(
  command: Pick<CliCommand, 'tokenEnv'>,
  env: NodeJS.ProcessEnv,
  logger: Pick<Logger, 'mask'>,
): { readonly token: string; readonly secrets: readonly string[] } {
  const token = env[tokenVariable(command, env)]?.trim() ?? '';
  if (token === '' && command.tokenEnv !== undefined) {
    throw usageError(
      'the environment variable that --token-env names does not contain a token',
      'set it, or name another one',
    );
  }
  const secrets = readCredentials(env, [command.tokenEnv ?? []].flat());
  for (const secret of new Set([token, ...secrets])) logger.mask(secret);
  return { token, secrets };
}

/** The variable that has the token, or should have it. */
const tokenVariable = ({ tokenEnv }: Pick<CliCommand, 'tokenEnv'>, env: NodeJS.ProcessEnv): string =>
  tokenEnv ?? (env.GH_TOKEN && !env.GITHUB_TOKEN ? 'GH_TOKEN' : 'GITHUB_TOKEN');
