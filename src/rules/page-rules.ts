/**
 * What `loadPageRules` loads. It gets texts and returns findings, and throws no `DeliveryError`: a bundle of its own
 * has a class of its own.
 */

export { findAdditions, hasSameAddresses, isGatePage, readCharset } from './page/link-page.ts';
export { parsePage } from './page/parse-page.ts';
export { readVisibleText, showsText } from './page/visible-text.ts';
export { inspectSite } from './site/inspect-site.ts';
