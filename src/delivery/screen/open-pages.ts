import { untilAborted } from '../../async.ts';
import { createUncheckedView, type DeliveryScreen } from '../../browser/lazy-viewer.ts';
import type { PageToView, ScreenView } from '../../browser/screen-view.ts';
import { toDeliveryError } from '../../errors.ts';
import type { Ports } from '../../ports.ts';
import { SCREEN, SECOND } from '../../protocol/limits.ts';

/** Opens a page. A browser that fails is a view that says so. @throws where the delivery is stopped */
export type PageOpener = (page: PageToView) => Promise<ScreenView>;

/** Opens pages one by one, each in its time, and all in what a step may lose to a silent browser. */
export function createPageOpener(
  screen: DeliveryScreen,
  { clock, signal }: Pick<Ports, 'clock' | 'signal'>,
): PageOpener {
  let lost = 0;
  return async (page) => {
    const left = SCREEN.lost - lost;
    if (left <= 0) return createUncheckedView('the browser did not open earlier pages of this step');
    const limit = Math.min(SCREEN.page, left);
    const deadline = clock.timeout(limit);
    const either = AbortSignal.any([signal, deadline]);
    const begun = clock.now();
    try {
      // A browser that does not even notice its deadline must not hold up the delivery.
      const view = await untilAborted(either, screen.view(page, either));
      if (view.verdict === 'not-checked') lost += clock.now() - begun;
      return view;
    } catch (thrown) {
      signal.throwIfAborted();
      lost += deadline.aborted ? limit : clock.now() - begun;
      return createUncheckedView(
        deadline.aborted
          ? `the browser did not answer within ${limit / SECOND} s`
          : `the browser can't be used: ${toDeliveryError(thrown).message}`,
      );
    }
  };
}
