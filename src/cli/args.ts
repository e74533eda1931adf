import { parseArgs } from 'node:util';
import type { DeliveryError } from '../errors.ts';
import { findClosestName } from '../plain-text.ts';
import { TOOL } from '../protocol/words.ts';
import { ALL_FLAGS, CLI_COMMANDS, type CommandName, FLAGS, findCommandName } from '../request/commands.ts';
import type { InputName } from '../request/inputs.ts';
import { describeUnknown, refuseWrongFlags, usageError } from './flag-rules.ts';

export interface CliCommand {
  readonly name: CommandName | 'help' | 'version';
  /** Files, the URL of `verify`, or the command that `help` explains. */
  readonly positionals: readonly string[];
  readonly flags: Readonly<Partial<Record<InputName, string>>>;
  // As the table of flags describes them.
  readonly tokenEnv: string | undefined;
  readonly root: string;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly qr: boolean;
  readonly receipt: string | undefined;
}

const STANDARD_INPUT = '-';

export const readsStandardInput = ({ positionals }: Pick<CliCommand, 'positionals'>): boolean =>
  positionals[0] === STANDARD_INPUT;

const OPTIONS = Object.fromEntries(
  Object.entries(ALL_FLAGS).map(([name, { value, letter }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [name, { type, multiple: name === 'file', ...(letter && { short: letter }) }];
  }),
);

/** Parses the arguments of the command line. @throws {DeliveryError} `BAD_USAGE` */
export function parseCommand(args: readonly string[]): CliCommand {
  refuseToken(args);
  // Not strict: the parser's own messages do not say what to do here.
  const config = { options: OPTIONS, allowPositionals: true, strict: false, tokens: true } as const;
  const { values, positionals: words, tokens } = parseArgs({ ...config, args: [...args] });
  const [name = '', ...positionals] = words;
  const known = findCommandName(name);
  refuseWrongFlags(
    tokens.filter((token) => token.kind === 'option'),
    known,
  );
  const command = readFlags(values);
  if (name === 'help' || values.help === true || args.length === 0) {
    const topic = findCommandName(name === 'help' ? (positionals[0] ?? '') : name);
    return { ...command, name: 'help', positionals: topic === undefined ? [] : [topic] };
  }
  if (values.version === true) return { ...command, name: 'version', positionals: [] };
  if (known === undefined) throw unknownCommandError(name);
  refuseWrongPositionals(known, positionals, values);
  return { ...command, name: known, positionals };
}

type FlagValues = ReturnType<typeof parseArgs>['values'];

function readFlags(values: FlagValues): Omit<CliCommand, 'name' | 'positionals'> {
  // Of flags with a value, the rules leave none without one.
  const texts = values as Readonly<Record<string, string | undefined>>;
  const given = [...FLAGS, 'file' as const].filter((flag) => values[flag] !== undefined);
  return {
    flags: Object.fromEntries(given.map((flag) => [flag, [values[flag]].flat().join('\n')])),
    tokenEnv: texts['token-env'],
    root: texts.root ?? '.',
    receipt: texts.receipt,
    json: values.json === true,
    quiet: values.quiet === true,
    qr: values.qr === true,
  };
}

/** A token as a flag, in any place. It is not repeated. */
function refuseToken(args: readonly string[]): void {
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  if (!flags.some((arg) => /^--token(=|$)/.test(arg))) return;
  throw usageError(
    'a token on the command line is visible in the process list',
    'put it in GITHUB_TOKEN, or name its environment variable with --token-env',
  );
}

function unknownCommandError(name: string): DeliveryError {
  if (name === '') return usageError('a command is missing');
  if (/[./\\]/.test(name)) {
    return usageError(describeUnknown('command', name), `to publish a file: ${TOOL.name} deliver FILE`);
  }
  const closest = findClosestName(name, Object.keys(CLI_COMMANDS));
  const help = `see ${TOOL.name} --help`;
  const hint = closest === undefined ? help : `did you mean ${closest}? ${help}`;
  return usageError(describeUnknown('command', name), hint);
}

function refuseWrongPositionals(name: CommandName, given: readonly string[], flags: FlagValues): void {
  const { takes, usage } = CLI_COMMANDS[name];
  const [min, max, words] = takes;
  const call = `${TOOL.name} ${name}`;
  const isInput = given.includes(STANDARD_INPUT);
  if (given.length < min || given.length > max) {
    const isLink = name === 'deliver' && flags.url !== undefined;
    const hint = isLink
      ? `to prove a link alone: ${TOOL.name} verify URL`
      : `write ${`${call} ${usage}`.trim()}, or see ${call} --help`;
    throw usageError(`${name} takes ${words}`, hint);
  }
  if (given.some((one) => one.trim() === '')) {
    throw usageError(`an argument of ${name} is empty`, 'give it a value, or leave it out');
  }
  if (isInput && name !== 'deliver' && name !== 'check') {
    throw usageError(`${name} reads no standard input`, `see ${call} --help`);
  }
  if (isInput && given.length > 1) {
    throw usageError('standard input (-) can only be given alone', 'deliver the files by another call');
  }
  if (flags.name !== undefined && !isInput && name !== 'mcp') {
    throw usageError('--name is for standard input (-) alone', 'leave it out, or give a place with --path');
  }
}
