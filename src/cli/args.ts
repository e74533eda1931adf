import { parseArgs } from 'node:util';
import { DeliveryError } from '../errors.ts';
import { findClosestName } from '../plain-text.ts';
import { TOOL } from '../protocol/words.ts';
import { ALL_FLAGS, CLI_COMMANDS, FLAGS, findCommandName, flagsOf } from '../request/commands.ts';
import { type CommandName, INPUTS, type InputName } from '../request/inputs.ts';
import type { Text } from '../words.ts';

export interface CliCommand extends Readonly<ReturnType<typeof readFlags>> {
  readonly name: CommandName | 'help' | 'version';
  /** Files, `-` for standard input, the URL of `verify`, or the command that `help` explains. */
  readonly positionals: readonly string[];
}

const STANDARD_INPUT = '-';

const isBoolean = (name: string): boolean => ALL_FLAGS[name]?.value === undefined;

/** Right after a boolean flag, such a word is the flag's value and not a file. */
const BOOLEAN_WORD = /^(?:true|false|yes|no|on|off|0|1)$/i;

const OPTIONS = Object.fromEntries(
  Object.entries(ALL_FLAGS).map(([name, { letter }]) => {
    const type = isBoolean(name) ? ('boolean' as const) : ('string' as const);
    return [name, { type, ...(letter && { short: letter }) }];
  }),
);

interface GivenFlag {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

/** Splits flags with their values from other arguments. A boolean flag alone is `true`. */
function readArguments(args: readonly string[]) {
  // In strict mode, the parser would print its own messages, without a hint.
  const config = { options: OPTIONS, allowPositionals: true, strict: false, tokens: true } as const;
  const given: GivenFlag[] = [];
  const positionals: string[] = [];
  let mayTakeValue = false;
  for (const token of parseArgs({ ...config, args: [...args] }).tokens) {
    const flag = mayTakeValue ? given.at(-1) : undefined;
    mayTakeValue = token.kind === 'option' && isBoolean(token.name) && token.value === undefined;
    if (token.kind === 'option') {
      const rawName = token.rawName.startsWith('--') ? token.rawName : (args[token.index] ?? '');
      given.push({ ...token, rawName, value: mayTakeValue ? 'true' : token.value });
    } else if (token.kind === 'positional') {
      if (flag && BOOLEAN_WORD.test(token.value)) given.splice(-1, 1, { ...flag, value: token.value });
      else positionals.push(token.value);
    }
  }
  return { given, positionals };
}

/** Whether `--json` is on, even if the arguments are invalid. */
export const asksForJson = (args: readonly string[]): boolean =>
  isOn(readValues(readArguments(args).given), 'json');

type FlagValues = Readonly<Record<string, string | undefined>>;

function readValues(given: readonly GivenFlag[]): FlagValues {
  const values: Record<string, string | undefined> = {};
  for (const { name, value } of given) {
    values[name] = name === 'file' && values.file ? `${values.file}\n${value}` : value;
  }
  return values;
}

const isOn = (values: FlagValues, name: string): boolean => values[name]?.toLowerCase() === 'true';

/** Parses the arguments. Messages repeat no value, because it may be a secret. @throws {DeliveryError} `BAD_USAGE` */
export function parseCommand(args: readonly string[]): CliCommand {
  const { given, positionals: allPositionals } = readArguments(args);
  const [name = '', ...positionals] = allPositionals;
  const known = findCommandName(name);
  refuseWrongFlags(given, known);
  const values = readValues(given);
  const command = readFlags(values);
  if (name === 'help' || isOn(values, 'help') || args.length === 0) {
    const word = name === 'help' ? (positionals[0] ?? '') : name;
    const topic = findCommandName(word);
    if (topic === undefined && word !== '' && word !== 'help') throw unknownCommandError(word);
    return { ...command, name: 'help', positionals: topic === undefined ? [] : [topic] };
  }
  if (isOn(values, 'version')) return { ...command, name: 'version', positionals: [] };
  if (known === undefined) throw unknownCommandError(name);
  refuseWrongPositionals(known, positionals, command.flags);
  return { ...command, name: known, positionals };
}

function readFlags(values: FlagValues) {
  const given = [...FLAGS, 'file' as const].filter((flag) => values[flag] !== undefined);
  return {
    flags: Object.fromEntries(given.map((flag) => [flag, values[flag]])) as Partial<
      Record<InputName, string>
    >,
    tokenEnv: values['token-env'],
    root: values.root,
    receipt: values.receipt,
    html: values.html,
    json: isOn(values, 'json'),
    report: isOn(values, 'report'),
    verbose: isOn(values, 'verbose'),
    qr: isOn(values, 'qr'),
  };
}

function refuseWrongFlags(given: readonly GivenFlag[], command: CommandName | undefined): void {
  const taken = command === undefined ? Object.keys(ALL_FLAGS) : flagsOf(command);
  const seen = new Map<string, string>();
  for (const flag of given) {
    const { name, value = '', inlineValue } = flag;
    if (!taken.includes(name)) throw unknownFlagError(flag, taken, command);
    if (isBoolean(name) && !/^(?:true|false)$/i.test(value)) {
      const hint = `write --${name} or --${name}=false; write ./ before a file name`;
      throw usageError(`--${name} is neither true nor false`, hint);
    }
    // The next flag is not a value.
    if (!value.trim() || (!inlineValue && /^-./.test(value))) {
      throw usageError(
        `--${name} needs a value`,
        `write --${name} VALUE (--${name}=VALUE if it begins with -), or leave --${name} out`,
      );
    }
    const isRepeated =
      seen.has(name) && !(isBoolean(name) && seen.get(name)?.toLowerCase() === value.toLowerCase());
    if (isRepeated && name !== 'file') throw usageError(`--${name} is given twice`, 'give it once');
    seen.set(name, value);
  }
}

const WITHOUT_FLAG: Readonly<Record<string, string>> = {
  token: 'put it in GITHUB_TOKEN, or name its environment variable with --token-env',
  file: `name the file without a flag, such as \`${TOOL.name} deliver page.html\``,
  operation: 'write the command withdraw or audit instead',
};

function unknownFlagError(
  { name, rawName }: GivenFlag,
  taken: readonly string[],
  command: CommandName | undefined,
): DeliveryError {
  const help = `see \`${[TOOL.name, command ?? []].flat().join(' ')} --help\``;
  const way = WITHOUT_FLAG[name] ?? help;
  if (name === 'token') {
    const about = 'anyone who lists processes can see a token on the command line';
    return usageError(
      about,
      taken.includes('token-env') ? way : `leave it out, because ${command} uses no token`,
    );
  }
  if (Object.hasOwn(ALL_FLAGS, name)) return usageError(`--${name} is not a flag of ${command}`, way);
  if (Object.hasOwn(INPUTS, name)) {
    return usageError(`--${name} is an input of the action, not a flag of the command line`, way);
  }
  const closest = findClosestName(rawName.replace(/^-+/, ''), taken);
  const suggestion = closest === undefined ? help : `write --${closest}, or ${help}`;
  return usageError(describeUnknown('flag', rawName), suggestion);
}

function unknownCommandError(name: string): DeliveryError {
  if (name === '') return usageError('a command is missing');
  const help = `see \`${TOOL.name} --help\``;
  const publish = `write \`${TOOL.name} deliver FILE\` to publish a file`;
  const isFile = /[./\\]/.test(name);
  const closest = findClosestName(name, Object.keys(CLI_COMMANDS));
  const hint = isFile ? publish : `${closest === undefined ? publish : `write ${closest}`}, or ${help}`;
  return usageError(describeUnknown('command', name), hint);
}

/** Repeats only lowercase words, because anything else may be a misplaced secret. */
const describeUnknown = (kind: 'flag' | 'command', given: string): string =>
  /^[a-z-]+$/.test(given) ? `there is no ${kind} ${given}` : `there is no such ${kind}`;

function refuseWrongPositionals(
  name: CommandName,
  given: readonly string[],
  flags: CliCommand['flags'],
): void {
  const { takes, usage } = CLI_COMMANDS[name];
  const [min, max, described] = takes;
  const call = `${TOOL.name} ${name}`;
  if (given.length < min || given.length > max) {
    const isLink = name === 'deliver' && flags.url !== undefined;
    const hint = isLink
      ? `write ${TOOL.name} verify URL to verify a link without a file`
      : `write ${`${call} ${usage}`.trim()}, or see ${call} --help`;
    throw usageError(`${name} takes ${described}`, hint);
  }
  if (given.some((argument) => argument.trim() === '')) {
    throw usageError(`an argument of ${name} is empty`, 'give it a value, or leave it out');
  }
  if (given.includes(STANDARD_INPUT) && (given.length > 1 || !usage.endsWith(STANDARD_INPUT))) {
    throw usageError(
      'standard input (-) can only be given alone, to deliver or check it',
      'deliver the files with another command',
    );
  }
}

export const usageError = (about: Text, hint: Text = `see ${TOOL.name} --help`): DeliveryError =>
  new DeliveryError('BAD_USAGE', about, { hint });

/** Turns `BAD_INPUT` into `BAD_USAGE`: on the command line, an input is an argument. */
export async function refuseAsUsage<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.code !== 'BAD_INPUT') throw thrown;
    throw usageError(thrown.about, thrown.advice);
  }
}
