import type { parseArgs } from 'node:util';
import { DeliveryError } from '../errors.ts';
import { findClosestName } from '../plain-text.ts';
import { TOOL } from '../protocol/words.ts';
import { ALL_FLAGS, type CommandName, flagsOf } from '../request/commands.ts';
import { INPUTS } from '../request/inputs.ts';
import type { Text } from '../words.ts';

type GivenFlag = Extract<
  NonNullable<ReturnType<typeof parseArgs>['tokens']>[number],
  { readonly kind: 'option' }
>;

/**
 * Refuses flags that do not exist, that the command does not take, or whose value is missing. No value is repeated:
 * it may be a secret.
 *
 * @param command `undefined` where there is no command of this name
 * @throws {DeliveryError} `BAD_USAGE` with what to change.
 */
export function refuseWrongFlags(given: readonly GivenFlag[], command: CommandName | undefined): void {
  const seen = new Set<string>();
  for (const { name, rawName, value, inlineValue } of given) {
    const taken = command === undefined ? Object.keys(ALL_FLAGS) : flagsOf(command);
    if (!taken.includes(name)) throw unknownFlagError(name, rawName, taken, command);
    if (ALL_FLAGS[name]?.value === undefined) {
      if (value === undefined) continue;
      throw usageError(`--${name} takes no value`, `write --${name} alone, or leave it out`);
    }
    if (value === undefined) throw usageError(`--${name} needs a value`, `write --${name} VALUE`);
    if (value.trim() === '') {
      throw usageError(`the value of --${name} is empty`, `give it a value, or leave --${name} out`);
    }
    if (!inlineValue && /^-./.test(value)) {
      throw usageError(
        `--${name} needs a value, and a flag follows`,
        `write --${name} VALUE, or --${name}=VALUE for a value that begins with -`,
      );
    }
    if (seen.has(name) && name !== 'file') throw usageError(`--${name} is given twice`, 'give it once');
    seen.add(name);
  }
}

function unknownFlagError(
  name: string,
  rawName: string,
  taken: readonly string[],
  command: CommandName | undefined,
): DeliveryError {
  const call = [TOOL.name, command ?? []].flat().join(' ');
  const help = `\`${call} --help\` lists the flags`;
  if (name === 'file') {
    return usageError(
      `--file is not a flag of ${command}`,
      `name the file without a flag, such as \`${call} page.html\``,
    );
  }
  if (Object.hasOwn(ALL_FLAGS, name)) return usageError(`--${name} is not a flag of ${command}`, help);
  if (Object.hasOwn(INPUTS, name)) {
    const hint = name === 'operation' ? 'use the command withdraw' : help;
    return usageError(`--${name} is an input of the action, and no flag of the command line`, hint);
  }
  const closest = findClosestName(name, taken);
  const hint = closest === undefined ? help : `did you mean --${closest}? ${help}`;
  return usageError(describeUnknown('flag', rawName), hint);
}

/** What may be a secret in a wrong place is not repeated: only a word of small letters is. */
export const describeUnknown = (kind: 'flag' | 'command', given: string): string =>
  /^[a-z-]+$/.test(given) ? `there is no ${kind} ${given}` : `there is no such ${kind}`;

/** The command line is wrong; the message says what, and the hint what to change. */
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
