/** Scripts that only count visits, and the hosts that they request: a page looks the same without them. */
export const VISIT_COUNTERS = {
  script:
    /^(?:https?:)?\/\/(?:www\.googletagmanager\.com\/gtag\/js\?|(?:www|ssl)\.google-analytics\.com\/|static\.cloudflareinsights\.com\/|plausible\.io\/js\/|gc\.zgo\.at\/count)/,
  host: /(?:^|\.)(?:googletagmanager\.com|google-analytics\.com|cloudflareinsights\.com|plausible\.io|zgo\.at|goatcounter\.com)$/,
} as const;
