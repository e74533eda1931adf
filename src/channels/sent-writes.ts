import { type DeliveryError, isUnclear, toDeliveryError } from '../errors.ts';

/** Tracks what failed writes may have left behind. A later read can't show it, because it may be stale. */
export class SentWrites {
  /** Whether a write without a clear answer may still take effect. */
  mayHaveArrived = false;

  async send<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (thrown) {
      const failure = toDeliveryError(thrown);
      this.mayHaveArrived ||= isUnclear(failure);
      throw failure;
    }
  }

  /** Adds what was left behind to the failure. @param perhaps what may exist; by default unknown */
  explain(thrown: unknown, perhaps?: readonly string[]): DeliveryError {
    return toDeliveryError(thrown).withLeftBehind(this.mayHaveArrived ? perhaps : []);
  }
}
