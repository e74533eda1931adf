/** The environment of a step on a machine without a browser, whatever this one has. */
export const WITHOUT_BROWSER = { CHROME_PATH: '/nonexistent/chrome' } as const;

/** What a step has of a browser. */
export interface StepBrowser {
  readonly env: Readonly<Record<string, string>>;
  readonly inputs: Readonly<Record<string, string>>;
}

/** The Chromium that `npm ci` brings. Its own sandbox can't run for root in a container. */
export async function findChromium(): Promise<StepBrowser> {
  const { default: chromium } = await import('@sparticuz/chromium');
  return { env: { CHROME_PATH: await chromium.executablePath() }, inputs: { 'browser-sandbox': 'false' } };
}
