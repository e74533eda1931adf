import { expect } from '@jest/globals';
import { API, type CallTemplate, UPLOAD } from '../../src/protocol/calls.ts';
import { API_VERSION } from '../../src/protocol/words.ts';
import { findDeviations } from '../world/openapi/deviations.ts';
import type { HttpExchange, TrafficLog } from '../world/server/traffic-log.ts';

/** Addresses of the API and the upload host on github.com, ghe.com and GitHub Enterprise Server, up to the path. */
const API_BASE = /^https:\/\/(?:api\.[^/]+|[^/]+\/api\/v3|[^/]+\/api(?=\/graphql))(?=\/)/;
const UPLOAD_BASE = /^https:\/\/(?:uploads\.[^/]+|[^/]+\/api\/uploads)(?=\/)/;

/**
 * After a test: clears the recorded requests. Fails when one of them is not in the protocol's tables of calls or names
 * no version of the API, or when it or the local GitHub's answer to it differs from GitHub's own description.
 */
export function checkAndClearTraffic(traffic: TrafficLog): void {
  const exchanges = traffic.exchanges();
  traffic.clear();
  const unknown = findUnknownApiRequests(exchanges);
  const unversioned = findUnversionedRequests(exchanges);
  const deviations = findDeviations(
    exchanges.filter(({ headers }) => /screen-delivery/.test(headers['user-agent'] ?? '')),
  );
  expect({ unknown, unversioned, deviations: [...new Set(deviations)] }).toEqual({
    unknown: [],
    unversioned: [],
    deviations: [],
  });
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

/** The action's requests to GitHub's API and upload host that match no template, as `METHOD address`. */
export function findUnknownApiRequests(
  exchanges: readonly Pick<HttpExchange, 'method' | 'url' | 'headers'>[],
): string[] {
  return exchanges
    .filter(({ headers }) => /screen-delivery/.test(headers['user-agent'] ?? ''))
    .filter(({ method, url }) => !isKnown(method, url))
    .map(({ method, url }) => `${method} ${url}`);
}

function isKnown(method: string, url: string): boolean {
  const table: [RegExp, readonly CallTemplate[]][] = [
    [API_BASE, Object.values(API)],
    [UPLOAD_BASE, Object.values(UPLOAD)],
  ];
  const [base, calls] = table.find(([pattern]) => pattern.test(url)) ?? [];
  if (base === undefined || calls === undefined) return true;
  const [path = '', query = ''] = url.replace(base, '').split('?');
  const names = [...new URLSearchParams(query).keys()];
  return calls.some((call) => call.method === method && isFilledIn(call, path, names));
}

/** Whether a percent-encoded path and the names of its query parameters fit a template. */
function isFilledIn({ path: template }: CallTemplate, path: string, names: readonly string[]): boolean {
  const [, route = '', allowed = ''] = /^(.*?)(?:\{\?(.*)\})?$/.exec(template) ?? [];
  const pattern = new RegExp(`^${route.replace(/\{\w+\}/g, '[^/]+')}$`);
  return pattern.test(path) && names.every((name) => allowed.split(',').includes(name));
}
