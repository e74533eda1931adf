import { readCredentials } from '../credentials.ts';
import type { Logger, Ports } from '../ports.ts';
import { completeInputs, type InputName, type RawInputs } from '../request/inputs.ts';
import { createLocalRequest, type DeliveryRequest } from '../request/parse-request.ts';
import { type CliCommand, STANDARD_INPUT } from './args.ts';
import { refuseAsUsage, UsageError } from './usage-error.ts';

/** Where the command line runs. */
export interface CommandContext {
  readonly token: string;
  /** `owner/name`; empty if none is known. */
  readonly repository: string;
  /** The repositories that the files may come from; `null` is an unknown one. */
  readonly sources: readonly (string | null)[];
  /** Further credentials in the environment. */
  readonly secrets: readonly string[];
  readonly contentStream: AsyncIterable<Uint8Array> | undefined;
}

/** The raw inputs of a command: the defaults of all inputs, replaced by the flags. */
export function readRawInputs(
  command: CliCommand,
  env: NodeJS.ProcessEnv,
  { token, repository }: Pick<CommandContext, 'token' | 'repository'>,
): RawInputs {
  const given = readsStandardInput(command) ? '' : command.positionals.join('\n');
  const isLink = command.name === 'verify';
  const subject = isLink ? createLinkInputs(given, command) : { file: given };
  const operation = command.name === 'withdraw' ? 'withdraw' : 'deliver';
  return completeInputs({ ...command.flags, operation, token, repository, ...subject }, env, isLink);
}

/** The inputs that were given as flags; `--token-env` names the token. */
export const listGivenFlags = ({
  flags,
  tokenEnv,
}: Pick<CliCommand, 'flags' | 'tokenEnv'>): readonly InputName[] => [
  ...(Object.keys(flags) as InputName[]),
  ...(tokenEnv === undefined ? [] : ['token' as const]),
];

export const readsStandardInput = ({ positionals }: CliCommand): boolean => positionals[0] === STANDARD_INPUT;

/** A link is opened in a browser only where `--screen` asks for it. */
const createLinkInputs = (url: string, { flags }: CliCommand): Partial<RawInputs> => ({
  url,
  channel: 'K4',
  screen: flags.screen ?? 'off',
});

/** What a request is made of beside the inputs. */
export interface RequestContext extends Pick<CommandContext, 'sources' | 'secrets' | 'contentStream'> {
  /** Whether a link is opened in a browser. */
  readonly opensLinks: boolean;
  /** The flags that were given. */
  readonly given: readonly InputName[];
}

/**
 * The request of a command.
 *
 * @throws {UsageError} where an input has a wrong value, or a secret in it.
 */
export function createRequest(
  raw: RawInputs,
  context: RequestContext,
  ports: Pick<Ports, 'clock' | 'random' | 'logger'>,
): Promise<DeliveryRequest> {
  const folder = findCurrentFolder();
  const place = { folder, allowedRoots: [folder], allowsFullPaths: true, origin: 'from the command line' };
  return refuseAsUsage(() => createLocalRequest(raw, { ...context, ...place }, ports));
}

/** @throws {UsageError} if it was removed. */
export function findCurrentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('the current folder does not exist any more', 'change to a folder that exists');
  }
}

/**
 * Reads the token and the other credentials of the environment, and hides them in everything that is printed.
 *
 * @throws {UsageError} if the variable of `--token-env` is empty.
 */
export function readAndMaskCredentials(
  command: CliCommand,
  env: NodeJS.ProcessEnv,
  logger: Pick<Logger, 'mask'>,
): Pick<CommandContext, 'token' | 'secrets'> {
  const token = readToken(command, env);
  const secrets = readCredentials(env, command.tokenEnv === undefined ? [] : [command.tokenEnv]);
  for (const secret of new Set([token, ...secrets])) logger.mask(secret);
  return { token, secrets };
}

function readToken({ tokenEnv, name }: CliCommand, env: NodeJS.ProcessEnv): string {
  if (name === 'verify') return '';
  if (tokenEnv === undefined) return (env.GITHUB_TOKEN || env.GH_TOKEN || '').trim();
  const token = env[tokenEnv]?.trim();
  if (token === undefined || token === '') {
    throw new UsageError(
      `the environment variable ${tokenEnv} does not contain a token`,
      'set it, or name another one with --token-env',
    );
  }
  return token;
}
