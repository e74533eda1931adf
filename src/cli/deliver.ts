import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { listOnRequest, reportOnRequest } from '../context.ts';
import { type OwnCredential, readCredentials, withToken } from '../credentials.ts';
import { LIST_START } from '../delivery/list.ts';
import { RECEIPT_START } from '../delivery/receipt.ts';
import { authorizeDevice } from '../github/device-flow.ts';
import type { Logger, Ports } from '../ports.ts';
import { commandFace } from '../request/faces.ts';
import { findFiles } from '../request/find-files.ts';
import { createLocalRequest, type LocalContext } from '../request/local-request.ts';
import { type CliCommand, refuseAsUsage, usageError } from './args.ts';
import { printList, printReports } from './print-reports.ts';
import type { Terminal } from './terminal.ts';

/** Runs a command and prints its reports. @returns whether nothing failed */
export async function deliverAll(
  command: CliCommand,
  terminal: Terminal,
  ports: Ports,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const { name, positionals, flags, tokenEnv, receipt, html } = command;
  const { token, tokenVariable, secrets } = readAndMaskCredentials(tokenEnv, env, terminal.logger);
  if (receipt !== undefined) await refuseOtherFile(receipt, 'receipt', RECEIPT_START);
  if (html !== undefined) await refuseOtherFile(html, 'list', LIST_START);
  const folder = process.cwd();
  const isStream = positionals[0] === '-';
  const argument = isStream ? '' : positionals.join('\n');
  const inputs = { ...flags, ...(name === 'verify' ? { url: argument } : { file: argument }), token };
  const context: LocalContext = {
    secrets,
    env,
    fileSource: 'from the command line',
    folder,
    allowedRoots: [folder],
    allowsFullPaths: true,
    findFiles,
    contentStream: isStream ? terminal.input() : undefined,
  };
  const request = refuseAsUsage(() => createLocalRequest(name, inputs, context, ports));
  // An earlier receipt would look like this run's, even if this run fails.
  if (receipt !== undefined) {
    await rm(receipt, { force: true }).catch(({ code }) => {
      throw usageError(`the earlier receipt can't be removed (${code})`, 'name a new file');
    });
  }
  const parts = {
    asked: { ...(isStream && { name: 'standard input' }), ...inputs, operation: name },
    redactor: terminal.redactor,
    face: commandFace(name, tokenVariable),
    // A person must see the code even without --verbose.
    authorize: (options, others) => authorizeDevice(options, { ...others, logger: terminal.logger }),
  } satisfies Parameters<typeof reportOnRequest>[2];
  if (name === 'list') return printList(await listOnRequest(request, ports, parts), command, terminal);
  return printReports(await reportOnRequest(request, ports, parts), command, terminal);
}

/** Makes the folder. Refuses to replace anything but an earlier receipt or list, which begins with the same text. */
async function refuseOtherFile(path: string, kind: 'receipt' | 'list', beginning: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true }).catch(({ code }) => {
    throw usageError(`the folder for the ${kind} can't be created (${code})`, 'name another file');
  });
  const found = await stat(path).catch(({ code }) => (code === 'ENOENT' ? null : undefined));
  // Opening a pipe would block.
  const range = { end: beginning.length - 1 };
  const start = found?.isFile() ? await text(createReadStream(path, range)).catch(() => '') : '';
  if (found !== null && start !== beginning) {
    const flag = kind === 'list' ? 'html' : kind;
    throw usageError(`--${flag} names something that is not an earlier ${kind}`, 'name a new file');
  }
}

/** Reads and masks the credentials of the environment. @throws {DeliveryError} `BAD_USAGE` */
export function readAndMaskCredentials(
  tokenEnv: string | undefined,
  env: NodeJS.ProcessEnv,
  logger: Pick<Logger, 'mask'>,
): { readonly token: string; readonly tokenVariable: string; readonly secrets: readonly OwnCredential[] } {
  const tokenVariable = findTokenVariable(tokenEnv, env);
  const token = env[tokenVariable]?.trim() ?? '';
  if (token === '' && tokenEnv !== undefined) {
    throw usageError(
      'the environment variable named by --token-env is empty',
      'set the variable, or name another one',
    );
  }
  const secrets = readCredentials(env, tokenEnv);
  for (const { value } of withToken(token, secrets)) logger.mask(value);
  return { token, tokenVariable, secrets };
}

/** The variable that holds the token, or should. */
export const findTokenVariable = (tokenEnv: string | undefined, env: NodeJS.ProcessEnv): string =>
  tokenEnv ?? (env.GH_TOKEN && !env.GITHUB_TOKEN ? 'GH_TOKEN' : 'GITHUB_TOKEN');
