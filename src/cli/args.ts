import { type ParseArgsConfig, parseArgs } from 'node:util';
import { INPUTS, type InputName } from '../request/inputs.ts';

/** The command line is wrong; the message says what. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A parsed command line. */
export interface CliCommand {
  readonly name: 'deliver' | 'withdraw' | 'verify' | 'check' | 'mcp' | 'contract' | 'help' | 'version';
  /** Files, or the URL of `verify`. */
  readonly positionals: readonly string[];
  /** Inputs that were given as flags. */
  readonly flags: Readonly<Partial<Record<InputName, string>>>;
  /** The environment variable that holds the token. */
  readonly tokenEnv: string | undefined;
  /** The folder that the files of `mcp` must be in. */
  readonly root: string;
  readonly json: boolean;
}

/** Inputs that are not flags: a token would be visible in the process list, the others have no use here. */
const NOT_FLAGS: readonly InputName[] = [
  ...(['token', 'fail-on-not-ready', 'file', 'content', 'operation', 'comment'] as const),
];

/** How many positionals each command needs. */
const POSITIONALS: Readonly<Record<string, { min: number; max: number; description: string }>> = {
  deliver: { min: 1, max: Number.POSITIVE_INFINITY, description: 'at least one file' },
  withdraw: { min: 0, max: Number.POSITIVE_INFINITY, description: 'any number of files' },
  verify: { min: 1, max: 1, description: 'exactly one URL' },
  check: { min: 1, max: Number.POSITIVE_INFINITY, description: 'at least one file' },
  mcp: { min: 0, max: 0, description: 'no files: each call names its own' },
  contract: { min: 0, max: 0, description: 'no arguments' },
};

/** Stands for standard input, in place of a file. */
export const STANDARD_INPUT = '-';

/** The inputs that can be given as flags, in their order. */
export const FLAGS = (Object.keys(INPUTS) as InputName[]).filter((name) => !NOT_FLAGS.includes(name));

/** Whether an input is off unless it is set, so that its flag has no value. */
export const isSwitch = (name: InputName): boolean => INPUTS[name].default === 'false';

const OPTIONS: NonNullable<ParseArgsConfig['options']> = {
  ...Object.fromEntries(FLAGS.map((name) => [name, { type: isSwitch(name) ? 'boolean' : 'string' }])),
  file: { type: 'string' },
  'token-env': { type: 'string' },
  root: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
};

/**
 * Parses the arguments of the command line.
 *
 * @throws {UsageError} if they are wrong.
 */
export function parseCommand(args: readonly string[]): CliCommand {
  const parsed = parseArguments(args);
  const { values } = parsed;
  const root = typeof values.root === 'string' ? values.root : '.';
  const empty = { positionals: [], flags: {}, tokenEnv: undefined, root, json: values.json === true };
  if (values.help === true || args.length === 0) return { ...empty, name: 'help' };
  if (values.version === true) return { ...empty, name: 'version' };
  const [name = '', ...positionals] = parsed.positionals;
  const needed = Object.hasOwn(POSITIONALS, name) ? POSITIONALS[name] : undefined;
  if (needed === undefined) {
    throw new UsageError(name === '' ? 'a command is missing' : `there is no command ${name}`);
  }
  if (positionals.length < needed.min || positionals.length > needed.max) {
    throw new UsageError(`${name} takes ${needed.description}`);
  }
  if (positionals.includes(STANDARD_INPUT)) refuseOtherInput(name, positionals);
  if (name !== 'verify' && values.file !== undefined) {
    throw new UsageError('--file can only be used with verify');
  }
  if (name !== 'mcp' && values.root !== undefined) throw new UsageError('--root can only be used with mcp');
  const tokenEnv = typeof values['token-env'] === 'string' ? values['token-env'] : undefined;
  return { ...empty, name: name as CliCommand['name'], positionals, flags: selectFlags(values), tokenEnv };
}

function refuseOtherInput(name: string, positionals: readonly string[]): void {
  if (name !== 'deliver' && name !== 'check') throw new UsageError(`${name} reads no standard input`);
  if (positionals.length > 1) throw new UsageError('standard input (-) can only be given alone');
}

function parseArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: args.map(completeScreen),
      options: OPTIONS,
      allowPositionals: true,
      strict: true,
    });
  } catch (thrown) {
    if (args.some((arg) => /^--token(=|$)/.test(arg))) {
      throw new UsageError(
        'a token on the command line is visible in the process list: put it in GITHUB_TOKEN, or name its environment variable with --token-env',
      );
    }
    throw new UsageError(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** `--screen` alone, before another flag, or before a file or link, asks for the usual mode. */
function completeScreen(arg: string, at: number, args: readonly string[]): string {
  const isFlag = arg === '--screen' && !args.slice(0, at).includes('--');
  return isFlag && !/^[a-z]+$/i.test(args[at + 1] ?? '') ? `--screen=${INPUTS.screen.default}` : arg;
}

function selectFlags(values: Readonly<Record<string, unknown>>): CliCommand['flags'] {
  const given = [...FLAGS, 'file' as const].filter((name) => values[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, String(values[name])]));
}
