import { chromiumPath } from '../support/chromium.ts';

/** The environment of a step on a machine without a browser. */
export const WITHOUT_BROWSER = { CHROME_PATH: '/nonexistent/chrome' } as const;

/** A step's settings for the browser. */
export interface StepBrowser {
  readonly env: Readonly<Record<string, string>>;
  readonly inputs: Readonly<Record<string, string>>;
}

/** The Chromium that `npm ci` brings. Its own sandbox can't run for root in a container. */
export async function findChromium(): Promise<StepBrowser> {
  return { env: { CHROME_PATH: await chromiumPath() }, inputs: { 'browser-sandbox': 'false' } };
}
