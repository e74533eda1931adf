import { WITHOUT_BROWSER } from '../world/chromium.ts';

/** No test finds the browser of its machine: one that needs a browser names the one that `npm ci` brings. */
Object.assign(process.env, WITHOUT_BROWSER);
