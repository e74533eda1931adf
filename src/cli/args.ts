import { type ParseArgsConfig, parseArgs } from 'node:util';
import {
  CLI_COMMANDS,
  type CommandDefinition,
  type CommandName,
  FLAGS,
  isSwitch,
} from '../request/commands.ts';
import { INPUTS, type InputName } from '../request/inputs.ts';

/** The command line is wrong; the message says what. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A parsed command line. */
export interface CliCommand {
  readonly name: CommandName | 'help' | 'version';
  /** Files, or the URL of `verify`. */
  readonly positionals: readonly string[];
  /** Inputs that were given as flags. */
  readonly flags: Readonly<Partial<Record<InputName, string>>>;
  /** The environment variable that holds the token. */
  readonly tokenEnv: string | undefined;
  /** The folder that the files of `mcp` must be in. */
  readonly root: string;
  readonly json: boolean;
  /** Whether the log is left out. */
  readonly quiet: boolean;
  /** Whether the address is also shown as a QR code. */
  readonly qr: boolean;
}

/** Stands for standard input, in place of a file. */
export const STANDARD_INPUT = '-';

const OPTIONS: NonNullable<ParseArgsConfig['options']> = {
  ...Object.fromEntries(FLAGS.map((name) => [name, { type: isSwitch(name) ? 'boolean' : 'string' }])),
  file: { type: 'string' },
  'token-env': { type: 'string' },
  root: { type: 'string' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  qr: { type: 'boolean' },
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
  const empty = { positionals: [], flags: {}, tokenEnv: undefined, root, ...selectOutput(values) };
  if (values.help === true || args.length === 0) return { ...empty, name: 'help' };
  if (values.version === true) return { ...empty, name: 'version' };
  const [name = '', ...positionals] = parsed.positionals;
  const needed = findCommand(name);
  if (needed === undefined) {
    throw new UsageError(name === '' ? 'a command is missing' : `there is no command ${name}`);
  }
  if (positionals.length < needed.min || positionals.length > needed.max) {
    throw new UsageError(`${name} takes ${needed.takes}`);
  }
  if (positionals.includes(STANDARD_INPUT)) refuseOtherInput(name, positionals);
  if (name !== 'verify' && values.file !== undefined) {
    throw new UsageError('--file can only be used with verify');
  }
  if (name !== 'mcp' && values.root !== undefined) throw new UsageError('--root can only be used with mcp');
  const tokenEnv = typeof values['token-env'] === 'string' ? values['token-env'] : undefined;
  return { ...empty, name: name as CliCommand['name'], positionals, flags: selectFlags(values), tokenEnv };
}

const findCommand = (name: string): CommandDefinition | undefined =>
  Object.hasOwn(CLI_COMMANDS, name) ? CLI_COMMANDS[name as CommandName] : undefined;

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

const selectOutput = ({ json, quiet, qr }: Readonly<Record<string, unknown>>) => ({
  json: json === true,
  quiet: quiet === true,
  qr: qr === true,
});

function selectFlags(values: Readonly<Record<string, unknown>>): CliCommand['flags'] {
  const given = [...FLAGS, 'file' as const].filter((name) => values[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, String(values[name])]));
}
