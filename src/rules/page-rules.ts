/**
 * What `loadPageRules` loads: texts in, findings out. A bundle has error classes of its own, so it throws none of ours.
 */

export { findAdditions, hasSameAddresses, isGatePage, readCharset } from './page/link-page.ts';
export { parsePage } from './page/parse-page.ts';
export { readVisibleText, showsText } from './page/visible-text.ts';
export { inspectSite } from './site/inspect-site.ts';
