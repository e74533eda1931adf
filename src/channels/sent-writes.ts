import { type DeliveryError, isUnclear, toDeliveryError } from '../errors.ts';

/** What the writes of some work may have left where it fails: who writes says it, whatever a later read is answered. */
export class SentWrites {
  /** Whether one had no clear answer: it may have been carried out, or may be at any moment. */
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

  /** The failure with what was left behind. @param perhaps what may be there; by default, that is not known */
  explain(thrown: unknown, perhaps?: readonly string[]): DeliveryError {
    return toDeliveryError(thrown).withLeftBehind(this.mayHaveArrived ? perhaps : []);
  }
}
