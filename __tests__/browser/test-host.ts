import { Readable } from 'node:stream';
import { untilAborted } from '../../src/async.ts';
import { type BrowserOptions, OwnBrowser } from '../../src/browser/browser.ts';
import type { BrowserDriver } from '../../src/browser/screen-view.ts';
import type { HttpRequest, SendHttp } from '../../src/ports.ts';
import { systemClock } from '../../src/system.ts';
import { chromiumPath } from '../support/chromium.ts';
import { FakeLogger } from '../support/ports.ts';

/** One answer of a host. */
export interface TestAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** An HTTP client for which a function plays all hosts. @param answer `null` for a request that is never answered */
export const createTestHost =
  (answer: (url: URL, request: HttpRequest) => TestAnswer | null): SendHttp =>
  async (request) => {
    const found = answer(request.url, request);
    if (found === null) return untilAborted(request.signal, new Promise(() => undefined));
    const { status = 200, headers = {}, body = '' } = found;
    return { status, headers, body: Readable.from(body.length === 0 ? [] : [Buffer.from(body)]) };
  };

/** A screen with the Chromium that `npm ci` brings. */
export const createTestScreen = async (
  options: Partial<BrowserOptions> & Pick<BrowserOptions, 'http' | 'tempFolder'>,
): Promise<BrowserDriver> =>
  new OwnBrowser({
    executablePath: await chromiumPath(),
    sandbox: false,
    sandboxHint: () => ', or set `browser-sandbox: false`',
    env: { PATH: process.env.PATH },
    clock: systemClock,
    logger: new FakeLogger(),
    ...options,
  });
