import { DeliveryError } from '../errors.ts';
import { TOOL } from '../protocol/words.ts';
import { ACTION, say, type Text } from '../words.ts';

/** The command line is wrong; the message says what, and the hint what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly about: Text;
  readonly hint: Text;

  constructor(about: Text, hint: Text = `see ${TOOL.name} --help`) {
    super(say(about, ACTION));
    this.about = about;
    this.hint = hint;
  }
}

/** Runs the work; an input that it refuses is a wrong value on the command line. */
export async function refuseAsUsage<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.code !== 'BAD_INPUT') throw thrown;
    throw new UsageError(thrown.about, thrown.advice);
  }
}

/** The known name that was most likely meant; `undefined` where none is close. */
export function findClosestName<Name extends string>(
  given: string,
  names: readonly Name[],
): Name | undefined {
  const text = given.toLowerCase();
  const [closest] = names
    .map((name) => ({ name, edits: name.startsWith(text) && text.length > 2 ? 1 : countEdits(text, name) }))
    .filter(({ name, edits }) => edits <= Math.max(1, Math.floor(name.length / 3)))
    .sort((one, other) => one.edits - other.edits);
  return closest?.name;
}

/** Letters to add, remove or replace until both are the same. */
function countEdits(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const replaced = (previous[at - 1] ?? 0) + (one[row - 1] === other[at - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[other.length] ?? 0;
}
