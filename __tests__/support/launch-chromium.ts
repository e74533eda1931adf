import { type BrowserProcess, launchBrowser } from '../../src/browser/browser-process.ts';
import { chromiumPath } from './chromium.ts';
import { temporaryFolder } from './files.ts';

/** Starts the real Chromium, without a sandbox. */
export async function launchChromium(): Promise<BrowserProcess> {
  const options = {
    executablePath: await chromiumPath(),
    sandbox: false,
    env: { PATH: process.env.PATH },
    tempFolder: await temporaryFolder(),
  };
  return launchBrowser(options, new AbortController().signal);
}
