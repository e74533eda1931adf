import { parseArgs } from 'node:util';
import { DeliveryError } from '../errors.ts';
import { findClosestName } from '../plain-text.ts';
import { TOOL } from '../protocol/words.ts';
import { ALL_FLAGS, CLI_COMMANDS, FLAGS, findCommandName, flagsOf } from '../request/commands.ts';
import { type CommandName, INPUTS, type InputName } from '../request/inputs.ts';
import type { Text } from '../words.ts';

export interface CliCommand {
  readonly name: CommandName | 'help' | 'version';
  /** Files, `-` for standard input, the URL of `verify`, or the command that `help` explains. */
  readonly positionals: readonly string[];
  readonly flags: Readonly<Partial<Record<InputName, string>>>;
  readonly tokenEnv: string | undefined;
  readonly root: string | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly qr: boolean;
  readonly receipt: string | undefined;
}

const STANDARD_INPUT = '-';

const OPTIONS = Object.fromEntries(
  Object.entries(ALL_FLAGS).map(([name, { value, letter }]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [name, { type, multiple: name === 'file', ...(letter && { short: letter }) }];
  }),
);

/** Parses the arguments of the command line. No value is repeated in a message: it may be a secret. @throws {DeliveryError} `BAD_USAGE` */
export function parseCommand(args: readonly string[]): CliCommand {
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
    const word = name === 'help' ? (positionals[0] ?? '') : name;
    const topic = findCommandName(word);
    if (topic === undefined && word !== '' && word !== 'help') throw unknownCommandError(word);
    return { ...command, name: 'help', positionals: topic === undefined ? [] : [topic] };
  }
  if (values.version === true) return { ...command, name: 'version', positionals: [] };
  if (known === undefined) throw unknownCommandError(name);
  refuseWrongPositionals(known, positionals, command.flags);
  return { ...command, name: known, positionals };
}

function readFlags(values: ReturnType<typeof parseArgs>['values']): Omit<CliCommand, 'name' | 'positionals'> {
  // Of flags with a value, the rules leave none without one.
  const texts = values as Readonly<Record<string, string | undefined>>;
  const given = [...FLAGS, 'file' as const].filter((flag) => values[flag] !== undefined);
  return {
    flags: Object.fromEntries(given.map((flag) => [flag, [values[flag]].flat().join('\n')])),
    tokenEnv: texts['token-env'],
    root: texts.root,
    receipt: texts.receipt,
    json: values.json === true,
    quiet: values.quiet === true,
    qr: values.qr === true,
  };
}

type GivenFlag = Extract<
  NonNullable<ReturnType<typeof parseArgs>['tokens']>[number],
  { readonly kind: 'option' }
>;

function refuseWrongFlags(given: readonly GivenFlag[], command: CommandName | undefined): void {
  const taken = command === undefined ? Object.keys(ALL_FLAGS) : flagsOf(command);
  const seen = new Set<string>();
  for (const flag of given) {
    const { name, value, inlineValue } = flag;
    if (!taken.includes(name)) throw unknownFlagError(flag, taken, command);
    if (ALL_FLAGS[name]?.value === undefined) {
      if (value === undefined) continue;
      throw usageError(`--${name} takes no value`, `write --${name} alone, or leave it out`);
    }
    // A flag that follows is no value.
    if (!value?.trim() || (!inlineValue && /^-./.test(value))) {
      throw usageError(
        `--${name} needs a value`,
        `give it one (--${name}=VALUE where it begins with -), or leave --${name} out`,
      );
    }
    if (seen.has(name) && name !== 'file') throw usageError(`--${name} is given twice`, 'give it once');
    seen.add(name);
  }
}

const WITHOUT_FLAG: Readonly<Record<string, string>> = {
  token: 'put it in GITHUB_TOKEN, or name its environment variable with --token-env',
  file: `name the file without a flag, such as \`${TOOL.name} deliver page.html\``,
  operation: 'use the command withdraw or audit',
};

function unknownFlagError(
  { name, rawName }: GivenFlag,
  taken: readonly string[],
  command: CommandName | undefined,
): DeliveryError {
  const help = `\`${[TOOL.name, command ?? []].flat().join(' ')} --help\` lists the flags`;
  const way = WITHOUT_FLAG[name] ?? help;
  if (name === 'token') {
    const about = 'a token on the command line is visible in the process list';
    return usageError(about, taken.includes('token-env') ? way : `leave it out: ${command} uses no token`);
  }
  if (Object.hasOwn(ALL_FLAGS, name)) return usageError(`--${name} is not a flag of ${command}`, way);
  if (Object.hasOwn(INPUTS, name)) {
    return usageError(`--${name} is an input of the action, and no flag of the command line`, way);
  }
  return usageError(describeUnknown('flag', rawName), suggest(name, taken, help, '--'));
}

function unknownCommandError(name: string): DeliveryError {
  if (name === '') return usageError('a command is missing');
  const hint = /[./\\]/.test(name)
    ? `to publish a file: ${TOOL.name} deliver FILE`
    : suggest(name, Object.keys(CLI_COMMANDS), `see ${TOOL.name} --help`);
  return usageError(describeUnknown('command', name), hint);
}

/** What may be a secret in a wrong place is not repeated: only a word of small letters is. */
const describeUnknown = (kind: 'flag' | 'command', given: string): string =>
  /^[a-z-]+$/.test(given) ? `there is no ${kind} ${given}` : `there is no such ${kind}`;

function suggest(given: string, names: readonly string[], help: string, prefix = ''): string {
  const closest = findClosestName(given, names);
  return closest === undefined ? help : `did you mean ${prefix}${closest}? ${help}`;
}

function refuseWrongPositionals(
  name: CommandName,
  given: readonly string[],
  flags: CliCommand['flags'],
): void {
  const { takes, usage } = CLI_COMMANDS[name];
  const [min, max, words] = takes;
  const call = `${TOOL.name} ${name}`;
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
  if (given.includes(STANDARD_INPUT) && (given.length > 1 || !usage.endsWith(STANDARD_INPUT))) {
    throw usageError(
      'standard input (-) can only be given alone, to deliver or check it',
      'deliver the files by another call',
    );
  }
}

export const usageError = (about: Text, hint: Text = `see ${TOOL.name} --help`): DeliveryError =>
  new DeliveryError('BAD_USAGE', about, { hint });

export const isUsageError = (thrown: unknown): thrown is DeliveryError =>
  thrown instanceof DeliveryError && thrown.code === 'BAD_USAGE';

/** Runs the work; an input that it refuses is a wrong value on the command line. */
export async function refuseAsUsage<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.code !== 'BAD_INPUT') throw thrown;
    throw usageError(thrown.about, thrown.advice);
  }
}
