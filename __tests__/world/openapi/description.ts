import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { API, type CallTemplate, getRoute, UPLOAD } from '../../../src/protocol/calls.ts';

/**
 * A small part of GitHub's own OpenAPI description: the operations of `src/protocol/calls.ts`, as JSON schemas.
 * `npm run openapi` writes the files beside this one.
 */
export interface ApiDescription {
  readonly operations: Readonly<Record<string, DescribedOperation>>;
  /** The schemas that the operations refer to as `#/schemas/<name>`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

export interface DescribedOperation {
  /** One schema of an object each; properties that are not listed are refused. */
  readonly path: JsonSchema;
  readonly query: JsonSchema;
  /** Null: the operation takes no body. */
  readonly body: JsonSchema | null;
  readonly bodyRequired: boolean;
  /** By status, then by media type; null: no JSON. */
  readonly responses: Readonly<Record<string, Readonly<Record<string, JsonSchema>> | null>>;
}

export type JsonSchema = { readonly [keyword: string]: unknown };

/** What is described: github.com (with GitHub Enterprise Cloud), or the newest GitHub Enterprise Server. */
export type DescribedHost = 'github.com' | 'ghes';

/** Calls that the description lacks, with the source of the local GitHub's answers. */
export const UNDESCRIBED_CALLS: Readonly<Record<string, string>> = {
  'POST /graphql': 'https://docs.github.com/graphql/overview/explorer (GraphQL has a schema of its own)',
  'POST /login/device/code':
    'https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps#device-flow',
  'POST /login/oauth/access_token':
    'https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps#device-flow',
  'GET /login/device': 'https://github.com/login/device (a web page for the user)',
};

/** Where the extract of a host is committed. */
export function getExtractPath(host: DescribedHost): string {
  return fileURLToPath(new URL(`./${host}.json`, import.meta.url));
}

/** The routes of the tables that the description should have. */
export function listDescribedRoutes(): string[] {
  const calls: CallTemplate[] = [...Object.values(API), ...Object.values(UPLOAD)];
  const routes = calls.map((call) => getRoute(call).replace('/releases/{id}/', '/releases/{release_id}/'));
  return [...new Set(routes)].filter((route) => !(route in UNDESCRIBED_CALLS)).sort();
}

/** The hosts of API and uploads up to the path; those of a GitHub Enterprise Server have an API path. */
const BASES: readonly (readonly [RegExp, DescribedHost])[] = [
  [/^https:\/\/(?:api|uploads)\.(?:github\.com|[^/]+\.ghe\.com)(?=\/)/, 'github.com'],
  [/^https:\/\/(?:uploads\.[^/]+|[^/]+\/api\/uploads|[^/]+\/api\/v3|[^/]+\/api(?=\/graphql))(?=\/)/, 'ghes'],
];

/** The description of a URL's host, and the rest of the URL; null for other hosts. */
export function locate(url: string): { readonly host: DescribedHost; readonly target: string } | null {
  const [base, host] = BASES.find(([pattern]) => pattern.test(url)) ?? [];
  return base === undefined || host === undefined ? null : { host, target: url.replace(base, '') };
}

const DESCRIPTIONS = new Map<DescribedHost, ApiDescription>();

export function readDescription(host: DescribedHost): ApiDescription {
  const read = () => JSON.parse(readFileSync(getExtractPath(host), 'utf8')) as ApiDescription;
  const description = DESCRIPTIONS.get(host) ?? read();
  DESCRIPTIONS.set(host, description);
  return description;
}

export interface FoundOperation {
  readonly route: string;
  readonly operation: DescribedOperation;
  readonly parameters: Readonly<Record<string, string>>;
}

export function findOperation(
  { operations }: ApiDescription,
  method: string,
  path: string,
): FoundOperation | undefined {
  for (const [route, operation] of Object.entries(operations)) {
    const [expected = '', template = ''] = route.split(' ');
    const parameters = expected === method ? matchTemplate(template, path) : null;
    if (parameters !== null) return { route, operation, parameters };
  }
  return undefined;
}

/** The decoded parameters of a path that fits a template; a slash within a parameter must be encoded. */
export function matchTemplate(template: string, path: string): Record<string, string> | null {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`);
  const values = pattern.exec(path)?.slice(1);
  if (values === undefined) return null;
  return Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(values[at] ?? '')]));
}
