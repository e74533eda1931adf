import { DeliveryError } from '../errors.ts';
import { TOOL } from '../protocol/words.ts';
import type { Text } from '../words.ts';

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
