/**
 * Scripts that only count visits, without scheme: generators of reports and documentation put them into pages that
 * are complete without them. Each runs after the page and shows nothing.
 */
const VISIT_COUNTERS: readonly RegExp[] = [
  /^www\.googletagmanager\.com\/gtag\/js$/,
  /^(?:www|ssl)\.google-analytics\.com\/(?:analytics|ga)\.js$/,
  /^static\.cloudflareinsights\.com\/beacon\.min\.js(?:\/.*)?$/,
  /^plausible\.io\/js\/[\w.-]+\.js$/,
  /^cloud\.umami\.is\/script\.js$/,
  /^gc\.zgo\.at\/count(?:\.v\d+)?\.js$/,
  /^cdn\.usefathom\.com\/script\.js$/,
  /^scripts\.simpleanalyticscdn\.com\/(?:latest|auto-events)\.js$/,
  /^cdn\.matomo\.cloud\/[\w.-]+\/matomo\.js$/,
];

/** Whether an address is that of a script that only counts visits. */
export function isVisitCounter(address: string): boolean {
  const url = URL.parse(address.trim(), 'https://page.invalid/');
  return url !== null && VISIT_COUNTERS.some((counter) => counter.test(`${url.host}${url.pathname}`));
}
