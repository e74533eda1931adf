/** What `loadPageRules` loads. */

export { findAdditions, hasSameAddresses, isGatePage, readCharset } from './page/link-page.ts';
export { readPageText } from './page/page-text.ts';
export { parsePage } from './page/parse-page.ts';
export { findUnfilledTags, readVisibleText, showsText } from './page/visible-text.ts';
export { inspectSite } from './site/inspect-site.ts';
