import { createReadStream } from 'node:fs';
import { access, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { answerRequest } from '../context.ts';
import { type OwnCredential, readCredentials, withToken } from '../credentials.ts';
import { RECEIPT_START } from '../delivery/receipt.ts';
import { authorizeDevice } from '../github/device-flow.ts';
import type { Logger, Ports } from '../ports.ts';
import { commandFace } from '../request/faces.ts';
import { findFiles } from '../request/find-files.ts';
import { createLocalRequest } from '../request/local-request.ts';
import { type CliCommand, refuseAsUsage, usageError } from './args.ts';
import { printReports } from './print-reports.ts';
import { quietLogger, type Terminal } from './terminal.ts';

/** Does what a command asks for, and prints the reports. @returns whether nothing failed */
export async function deliverAll(
  command: CliCommand,
  terminal: Terminal,
  ports: Ports,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const { name, positionals, flags, tokenEnv, receipt } = command;
  const { token, tokenVariable, secrets } = readAndMaskCredentials(tokenEnv, env, terminal.logger);
  if (receipt !== undefined) await refuseWrongReceipt(receipt);
  const folder = process.cwd();
  const isStream = positionals[0] === '-';
  const argument = isStream ? '' : positionals.join('\n');
  const inputs = { ...flags, ...(name === 'verify' ? { url: argument } : { file: argument }), token };
  const commandPorts = name === 'check' ? { ...ports, logger: quietLogger(ports.logger) } : ports;
  const context = {
    secrets,
    env,
    origin: 'from the command line',
    folder,
    allowedRoots: [folder],
    allowsFullPaths: true,
    findFiles,
    contentStream: isStream ? terminal.input() : undefined,
  };
  const request = refuseAsUsage(() => createLocalRequest(name, inputs, context, commandPorts));
  // An earlier one would look like that of this run, whatever comes of it.
  if (receipt !== undefined) await rm(receipt, { force: true }).catch(refuseKeptReceipt);
  const reports = await answerRequest(request, commandPorts, {
    asked: { ...(isStream && { name: 'standard input' }), ...inputs, operation: name },
    redactor: terminal.redactor,
    face: commandFace(name, tokenVariable),
    // A person must see the code even where the log is left out.
    authorize: (options, others) => authorizeDevice(options, { ...others, logger: terminal.logger }),
  });
  return printReports(reports, command, terminal);
}

/** Nothing but an earlier receipt is replaced, least of all a file that is delivered. */
async function refuseWrongReceipt(receipt: string): Promise<void> {
  await access(dirname(receipt)).catch(() => {
    throw usageError('the folder for the receipt does not exist', 'create it, or name another file');
  });
  const found = await stat(receipt).catch(({ code }) => (code === 'ENOENT' ? null : undefined));
  // Opening a pipe waits for its other end.
  const beginning = { end: RECEIPT_START.length - 1 };
  const start = found?.isFile() ? await text(createReadStream(receipt, beginning)).catch(() => '') : '';
  if (found !== null && start !== RECEIPT_START) {
    throw usageError('--receipt names a path that is not an earlier receipt', 'name a new file');
  }
}

function refuseKeptReceipt({ code }: NodeJS.ErrnoException): never {
  throw usageError(`the earlier receipt can't be removed (${code})`, 'name a new file');
}

/** Reads the credentials of the environment, and hides them. @throws {DeliveryError} `BAD_USAGE` */
export function readAndMaskCredentials(
  tokenEnv: string | undefined,
  env: NodeJS.ProcessEnv,
  logger: Pick<Logger, 'mask'>,
): { readonly token: string; readonly tokenVariable: string; readonly secrets: readonly OwnCredential[] } {
  const tokenVariable = findTokenVariable(tokenEnv, env);
  const token = env[tokenVariable]?.trim() ?? '';
  if (token === '' && tokenEnv !== undefined) {
    throw usageError(
      'the environment variable that --token-env names does not contain a token',
      'set it, or name another one',
    );
  }
  const secrets = readCredentials(env, tokenEnv);
  for (const { value } of withToken(token, secrets)) logger.mask(value);
  return { token, tokenVariable, secrets };
}

/** The variable that has the token, or should have it. */
export const findTokenVariable = (tokenEnv: string | undefined, env: NodeJS.ProcessEnv): string =>
  tokenEnv ?? (env.GH_TOKEN && !env.GITHUB_TOKEN ? 'GH_TOKEN' : 'GITHUB_TOKEN');
