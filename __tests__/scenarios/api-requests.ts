import { expect } from '@jest/globals';
import { API_VERSION } from '../../src/protocol/words.ts';
import { findDeviations } from '../world/openapi/deviations.ts';
import type { HttpExchange, TrafficLog } from '../world/server/traffic-log.ts';

/** Addresses of the API and the upload host on github.com, ghe.com and GitHub Enterprise Server, up to the path. */
const API_BASE = /^https:\/\/(?:api\.[^/]+|[^/]+\/api\/v3|[^/]+\/api(?=\/graphql))(?=\/)/;
const UPLOAD_BASE = /^https:\/\/(?:uploads\.[^/]+|[^/]+\/api\/uploads)(?=\/)/;

/**
 * After a test: clears the recorded requests. Fails when one of them names no version of the API, or when it or the
 * local GitHub's answer to it differs from GitHub's own description.
 */
export function checkAndClearTraffic(traffic: TrafficLog): void {
  const exchanges = traffic.exchanges();
  traffic.clear();
  const unversioned = findUnversionedRequests(exchanges);
  const deviations = findDeviations(
    exchanges.filter(({ headers }) => /screen-delivery/.test(headers['user-agent'] ?? '')),
  );
  expect({ unversioned, deviations: [...new Set(deviations)] }).toEqual({ unversioned: [], deviations: [] });
}

/** The action's requests to GitHub's API and upload host that do not name the version of the API. */
export function findUnversionedRequests(
  exchanges: readonly Pick<HttpExchange, 'method' | 'url' | 'headers'>[],
): string[] {
  return exchanges
    .filter(({ headers }) => /screen-delivery/.test(headers['user-agent'] ?? ''))
    .filter(({ url }) => API_BASE.test(url) || UPLOAD_BASE.test(url))
    .filter(({ headers }) => headers['x-github-api-version'] !== API_VERSION)
    .map(({ method, url }) => `${method} ${url}`);
}
