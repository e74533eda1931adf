import { readCredentials } from '../credentials.ts';
import type { Logger, Ports } from '../ports.ts';
import { type InputName, LINK_DEFAULTS, type RawInputs } from '../request/inputs.ts';
import { completeInputs } from '../request/local-inputs.ts';
import { type DeliveryRequest, parseRequest } from '../request/parse-request.ts';
import { refuseSecretInputs } from '../request/secret-inputs.ts';
import { random, systemClock } from '../system.ts';
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
  return completeInputs(
    { ...(isLink ? LINK_DEFAULTS : {}), ...command.flags, operation, token, repository, ...subject },
    env,
  );
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
  readonly opensLinks?: boolean;
  /** The flags that were given. */
  readonly given: readonly InputName[];
}

/**
 * The request of a command.
 *
 * @throws {UsageError} where an input has a wrong value, or a secret in it.
 */
export const createRequest = (
  raw: RawInputs,
  context: RequestContext,
  ports: Pick<Ports, 'clock' | 'random' | 'logger'>,
): Promise<DeliveryRequest> =>
  refuseAsUsage(async () => {
    await refuseSecretInputs(raw, context.secrets, ports.logger);
    return parseCliRequest(raw, context, ports);
  });

/** @throws {DeliveryError} `BAD_INPUT` with what to change. */
function parseCliRequest(
  raw: RawInputs,
  { sources, secrets, contentStream, given, opensLinks = false }: RequestContext,
  { clock, random }: Pick<Ports, 'clock' | 'random'>,
): DeliveryRequest {
  return parseRequest(raw, {
    folder: findCurrentFolder(),
    origin: 'from the command line',
    job: '',
    now: clock.now(),
    random,
    // Without any repository the source can't be private; a token shows that there is one, even if not which.
    sourceIsPrivate: sources.length === 0 && raw.token === '' ? false : null,
    sources,
    secrets,
    allowedRoots: [findCurrentFolder()],
    allowsFullPaths: true,
    opensLinks,
    contentStream,
    given,
  });
}

/**
 * Refuses values that no call of a client could use.
 *
 * @param command `mcp`, whose flags hold for every call
 * @throws {DeliveryError} `BAD_INPUT` with what to change.
 */
export function refuseFixedInputs({ flags }: CliCommand, env: NodeJS.ProcessEnv): void {
  const { name: _, ...fixed } = flags;
  const call = { file: 'page.html', repository: 'owner/name' };
  const ports = { clock: systemClock, random };
  parseCliRequest(completeInputs({ ...call, ...fixed }, env), EMPTY_CONTEXT, ports);
}

const EMPTY_CONTEXT: RequestContext = { sources: [], secrets: [], contentStream: undefined, given: [] };

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
