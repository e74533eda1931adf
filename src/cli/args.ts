import { type ParseArgsConfig, parseArgs } from 'node:util';
import { INPUTS, type InputName } from '../request/inputs.ts';

/** The command line was not understood; the message says what about it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What the shell asked for. */
export interface CliCommand {
  readonly name: 'deliver' | 'withdraw' | 'verify' | 'check' | 'contract' | 'help' | 'version';
  /** Files, or the one URL of `verify`. */
  readonly subjects: readonly string[];
  /** Inputs that were given as flags. */
  readonly flags: Readonly<Partial<Record<InputName, string>>>;
  /** Environment variable that holds the token. */
  readonly tokenEnv: string | undefined;
  readonly json: boolean;
}

/** Inputs that are no flags: the token would stand in the process list, and the exit code is the answer. */
const NO_FLAGS: readonly InputName[] = ['token', 'fail-on-not-ready', 'file', 'operation', 'comment'];

/** How many subjects each command takes. */
const SUBJECTS: Readonly<Record<string, { least: number; most: number; what: string }>> = {
  deliver: { least: 1, most: Number.POSITIVE_INFINITY, what: 'the file to deliver' },
  withdraw: { least: 0, most: Number.POSITIVE_INFINITY, what: 'the names of the files to withdraw' },
  verify: { least: 1, most: 1, what: 'the one URL to verify' },
  check: { least: 1, most: Number.POSITIVE_INFINITY, what: 'the file to check' },
  contract: { least: 0, most: 0, what: 'nothing else' },
};

/** The inputs that are flags, in their order. */
export const FLAGS = (Object.keys(INPUTS) as InputName[]).filter((name) => !NO_FLAGS.includes(name));

/** A yes-or-no input is a flag without a value. */
export const isSwitch = (name: InputName): boolean => /^(true|false)$/.test(INPUTS[name].default);

const OPTIONS: NonNullable<ParseArgsConfig['options']> = {
  ...Object.fromEntries(FLAGS.map((name) => [name, { type: isSwitch(name) ? 'boolean' : 'string' }])),
  file: { type: 'string' },
  'token-env': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
};

/**
 * The shell's words as a command.
 *
 * @throws {UsageError} with what is wrong about them.
 */
export function parseCommand(args: readonly string[]): CliCommand {
  const { values, positionals } = parse(args);
  const nothing = { subjects: [], flags: {}, tokenEnv: undefined, json: values.json === true };
  if (values.help === true || args.length === 0) return { ...nothing, name: 'help' };
  if (values.version === true) return { ...nothing, name: 'version' };
  const [name = '', ...subjects] = positionals;
  const takes = Object.hasOwn(SUBJECTS, name) ? SUBJECTS[name] : undefined;
  if (takes === undefined) {
    throw new UsageError(name === '' ? 'a command is missing' : `there is no command ${name}`);
  }
  if (subjects.length < takes.least || subjects.length > takes.most) {
    throw new UsageError(`${name} takes ${takes.what}`);
  }
  if (name !== 'verify' && values.file !== undefined) throw new UsageError('--file belongs to verify');
  const tokenEnv = typeof values['token-env'] === 'string' ? values['token-env'] : undefined;
  return { ...nothing, name: name as CliCommand['name'], subjects, flags: flagsOf(values), tokenEnv };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (thrown) {
    if (args.some((word) => /^--token(=|$)/.test(word))) {
      throw new UsageError(
        'a token on the command line would stand in the process list: put it in GITHUB_TOKEN, or name its variable with --token-env',
      );
    }
    throw new UsageError(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function flagsOf(values: Readonly<Record<string, unknown>>): CliCommand['flags'] {
  const given = [...FLAGS, 'file' as const].filter((name) => values[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, String(values[name])]));
}
