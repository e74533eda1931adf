import type { GitHubWorld } from '../world.ts';

const API = /^\w+ https:\/\/(api|uploads)\.github\.com\//;
/** Requests that move a branch: the contents API, the git data API, and a git push. */
const ATTEMPTS = {
  PUT: /^PUT .*\/contents\//,
  PATCH: /^PATCH .*\/git\/refs\//,
  push: /^GET .*\/info\/refs\?service=git-receive-pack/,
} as const;
const REFUSED = new Set([409, 422]);

/** Counts the attempts to write to the branch. */
export function countAttempts({ traffic }: GitHubWorld): Record<keyof typeof ATTEMPTS, number> {
  const count = (pattern: RegExp) => traffic.exchanges(pattern).length;
  return { PUT: count(ATTEMPTS.PUT), PATCH: count(ATTEMPTS.PATCH), push: count(ATTEMPTS.push) };
}

/** Counts writes that the API refused because of a conflict. */
export function countRefusals({ traffic }: GitHubWorld, pattern = /^(PUT|PATCH|POST) /): number {
  return traffic.exchanges(pattern).filter(({ status }) => REFUSED.has(status ?? 0)).length;
}

/** The calls to the API and its upload host: total and per delivery. */
export function formatApiCalls({ traffic }: GitHubWorld, deliveries: number): string {
  const calls = traffic.exchanges(API).length;
  return `${calls}, ${(calls / deliveries).toFixed(1)} a delivery`;
}
