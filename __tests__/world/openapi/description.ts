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

/** The calls of the tables that the description lacks, with the source of what the local GitHub answers. */
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

/** What the description says of an address: the host's, and the rest of it; null for other hosts. */
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

/** The schema of an answer in the media type that was asked for. */
export function findSchema(
  content: Readonly<Record<string, JsonSchema>>,
  accept = '',
): { readonly type: string | undefined; readonly schema: JsonSchema } {
  const type = Object.keys(content).find((one) => accept.includes(one.replace(/\+json$/, '')));
  return { type, schema: content[type ?? 'application/json'] ?? Object.values(content)[0] ?? {} };
}

/** Fills in what the description requires of an answer and nobody here reads. */
export function completeAnswer(
  request: { readonly method: string; readonly url: string; readonly accept: string | undefined },
  status: number,
  body: unknown,
): unknown {
  const { host, target } = locate(request.url) ?? {};
  if (host === undefined || target === undefined) return body;
  const description = readDescription(host);
  const found = findOperation(description, request.method, target.replace(/\?.*$/, ''));
  const content = found?.operation.responses[String(status)];
  return content ? complete(findSchema(content, request.accept).schema, body, description.schemas) : body;
}

type Schemas = ApiDescription['schemas'];
const SAMPLES: Readonly<Record<string, unknown>> = {
  array: [],
  boolean: false,
  integer: 0,
  number: 0,
  string: '',
  uri: 'https://api.github.com/',
  'date-time': '2026-01-01T00:00:00Z',
  email: 'nobody@example.com',
};

function complete(schema: JsonSchema, value: unknown, schemas: Schemas): unknown {
  const known = dereference(schema, schemas);
  const choices = (known.anyOf ?? known.oneOf) as readonly JsonSchema[] | undefined;
  if (choices !== undefined) {
    const fitting = choices.find((one) => fits(dereference(one, schemas), value ?? null)) ?? choices[0] ?? {};
    return complete(fitting, value, schemas);
  }
  const parts = known.allOf as readonly JsonSchema[] | undefined;
  if (parts !== undefined) return parts.reduce<unknown>((done, one) => complete(one, done, schemas), value);
  if (Array.isArray(value))
    return value.map((item) => complete((known.items ?? {}) as JsonSchema, item, schemas));
  const types = [known.type].flat();
  const isUnknown = known.type === undefined && known.properties === undefined;
  if (value === undefined && (isUnknown || types.includes('null'))) return null;
  if (value === undefined && known.properties === undefined) {
    const [first] = (known.enum ?? []) as readonly unknown[];
    return first ?? SAMPLES[String(known.format)] ?? SAMPLES[String(types[0])] ?? {};
  }
  if (typeof (value ?? {}) !== 'object' || value === null) return value;
  const given = (value ?? {}) as Readonly<Record<string, unknown>>;
  const properties = (known.properties ?? {}) as Schemas;
  const names = new Set([...Object.keys(given), ...((known.required ?? []) as string[])]);
  return Object.fromEntries(
    [...names].map((name) => [name, complete(properties[name] ?? {}, given[name], schemas)]),
  );
}

/** Whether a value may be one of these: by its type, and by its properties with a list of values. */
function fits({ type, properties = {} }: JsonSchema, value: unknown): boolean {
  const types = [type].flat();
  if (value === null) return types.includes('null');
  if (Array.isArray(value)) return types.includes('array');
  if (typeof value !== 'object') return types.some((one) => one === typeof value || one === 'integer');
  const given = value as Readonly<Record<string, unknown>>;
  return (
    !types.includes('array') &&
    Object.entries(properties as Schemas).every(
      ([name, { enum: known }]) =>
        given[name] === undefined || !Array.isArray(known) || known.includes(given[name]),
    )
  );
}

const dereference = (schema: JsonSchema, schemas: Schemas): JsonSchema => {
  const [, name] = /^#\/schemas\/(.+)$/.exec(String(schema.$ref)) ?? [];
  return name === undefined ? schema : dereference(schemas[name] ?? {}, schemas);
};
