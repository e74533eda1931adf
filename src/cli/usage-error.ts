import { DeliveryError } from '../errors.ts';
import { TOOL } from '../protocol/words.ts';

/** The command line is wrong; the message says what, and the hint what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly hint: string;

  constructor(message: string, hint = `see ${TOOL.name} --help`) {
    super(message);
    this.hint = hint;
  }
}

/** Runs the work; an input that it refuses is a wrong value on the command line. */
export async function refuseAsUsage<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.code !== 'BAD_INPUT') throw thrown;
    throw new UsageError(thrown.message, thrown.hint ?? '');
  }
}
