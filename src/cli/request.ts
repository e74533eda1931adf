import { readCredentials } from '../credentials.ts';
import type { Logger, Ports } from '../ports.ts';
import type { InputName } from '../request/inputs.ts';
import { createLocalRequest, type DeliveryRequest } from '../request/parse-request.ts';
import type { SourceRepository } from '../request/source-repository.ts';
import { type CliCommand, STANDARD_INPUT } from './args.ts';
import { refuseAsUsage, usageError } from './flag-rules.ts';

/** The credentials that a command may use. */
export interface CommandCredentials {
  readonly token: string;
  /** Further credentials in the environment. */
  readonly secrets: readonly string[];
}

/** Where a command's content comes from, and where it goes. */
interface CommandSources extends CommandCredentials, SourceRepository {
  readonly contentStream: AsyncIterable<Uint8Array> | undefined;
}

export const readsStandardInput = ({ positionals }: CliCommand): boolean => positionals[0] === STANDARD_INPUT;

/** The request of a command. @throws {DeliveryError} `BAD_USAGE` for a wrong value, or a secret in one */
export function createCommandRequest(
  command: CliCommand,
  { token, repository, ...further }: CommandSources,
  env: NodeJS.ProcessEnv,
  ports: Pick<Ports, 'clock' | 'random' | 'logger'>,
): Promise<DeliveryRequest> {
  const { name, positionals, flags, tokenEnv } = command;
  const file = readsStandardInput(command) ? '' : positionals.join('\n');
  const opensLinks = name === 'verify';
  // A link is opened in a browser only where `--screen` asks for it.
  const subject = opensLinks ? { url: file, screen: flags.screen ?? 'off' } : { file };
  const folder = findCurrentFolder();
  const context = {
    ...{ ...further, folder, allowedRoots: [folder], allowsFullPaths: true, opensLinks, env },
    origin: 'from the command line',
    given: [...(Object.keys(flags) as InputName[]), ...(tokenEnv === undefined ? [] : ['token' as const])],
  };
  const inputs = { ...flags, ...subject, token, repository };
  return refuseAsUsage(() => createLocalRequest(name, inputs, context, ports));
}

/** @throws {DeliveryError} `BAD_USAGE` if it was removed. */
export function findCurrentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw usageError('the current folder does not exist any more', 'change to a folder that exists');
  }
}

/** Reads the credentials of the environment, and hides them. @throws {DeliveryError} `BAD_USAGE` */
export function readAndMaskCredentials(
  command: CliCommand,
  env: NodeJS.ProcessEnv,
  logger: Pick<Logger, 'mask'>,
): CommandCredentials {
  const token = readToken(command, env);
  const secrets = readCredentials(env, command.tokenEnv === undefined ? [] : [command.tokenEnv]);
  for (const secret of new Set([token, ...secrets])) logger.mask(secret);
  return { token, secrets };
}

/** The variable that has the token, or should have it. */
export const tokenVariable = ({ tokenEnv }: Pick<CliCommand, 'tokenEnv'>, env: NodeJS.ProcessEnv): string =>
  tokenEnv ?? (env.GH_TOKEN && !env.GITHUB_TOKEN ? 'GH_TOKEN' : 'GITHUB_TOKEN');

function readToken(command: CliCommand, env: NodeJS.ProcessEnv): string {
  if (command.name === 'verify') return '';
  const token = env[tokenVariable(command, env)]?.trim() ?? '';
  if (token !== '' || command.tokenEnv === undefined) return token;
  throw usageError(
    'the environment variable that --token-env names does not contain a token',
    'set it, or name another one',
  );
}
