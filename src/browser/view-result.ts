import { BrowserLaunchError } from './browser-process.ts';
import { toPlainLine } from './page-text.ts';
import type { ScreenView } from './screen-view.ts';

export const EMPTY_VIEW: ScreenView = {
  verdict: 'not-checked',
  reason: '',
  hint: '',
  browser: '',
  httpCode: null,
  title: '',
  painted: { characters: 0, images: 0, drawings: 0 },
  isMarkerVisible: null,
  exceptions: [],
  failedRequests: [],
  blockedRequests: [],
  consoleErrors: [],
  counts: { exceptions: 0, failedRequests: 0, blockedRequests: 0, consoleErrors: 0 },
  overflow: 0,
  elapsed: 0,
  picture: null,
  isStable: null,
};

export const notCheckedView = (reason: string, hint = ''): ScreenView => ({ ...EMPTY_VIEW, reason, hint });

/** The view of a page whose browser could not be started, ended by itself or did not answer in time. */
export function describeLaunchFailure(thrown: unknown, sandbox: boolean): ScreenView {
  if (!(thrown instanceof BrowserLaunchError)) {
    return notCheckedView('the browser ended or did not answer in time');
  }
  if (sandbox && /sandbox/i.test(thrown.output)) {
    return notCheckedView(
      "the browser's own sandbox can't run here, as for root in a container",
      'set `browser-sandbox: false` if all pages of this repository are your own',
    );
  }
  const [last = ''] = thrown.output.trim().split('\n').slice(-1);
  return notCheckedView(`the browser could not be started: ${toPlainLine(last || thrown.message, 200)}`);
}
