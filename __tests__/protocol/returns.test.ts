import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { API, type CallTemplate, getRoute } from '../../src/protocol/calls.ts';
import {
  type ApiDescription,
  type DescribedHost,
  getExtractPath,
  type JsonSchema,
} from '../world/openapi/extract.ts';

/** Answers that have it although the description requires it in no case, or in none with another media type. */
const SEEN: readonly (keyof typeof API)[] = [
  // With the media type of an object, a folder is one too.
  'get_file',
  'put_file_le1mb',
  // It does not say which fields a status has.
  'pages_deployment',
  // Only its header is read.
  'archive',
  // The description lacks the call.
  'repository_by_id',
];

const calls = Object.entries(API).flatMap(([name, call]: [string, CallTemplate]) =>
  call.returns === undefined || SEEN.some((seen) => seen === name)
    ? []
    : [[name, call, call.returns] as const],
);

/** Whether every value of a schema has the property at the path, or is a list. */
function requires(schema: JsonSchema, returns: string, schemas: ApiDescription['schemas']): boolean {
  if (typeof schema.$ref === 'string') {
    return requires(schemas[schema.$ref.replace('#/schemas/', '')] ?? {}, returns, schemas);
  }
  const kinds = (schema.oneOf ?? schema.anyOf) as readonly JsonSchema[] | undefined;
  if (kinds !== undefined) return kinds.every((kind) => requires(kind, returns, schemas));
  const [name = '', ...rest] = returns.split('.');
  if (name === '[]') {
    const isList = schema.type === 'array';
    return rest.length === 0
      ? isList
      : isList && requires(schema.items as JsonSchema, rest.join('.'), schemas);
  }
  if (!((schema.required ?? []) as readonly string[]).includes(name)) return false;
  const inner = (schema.properties as Readonly<Record<string, JsonSchema>>)[name] ?? {};
  return rest.length === 0 || requires(inner, rest.join('.'), schemas);
}

test.each<DescribedHost>(['github.com', 'ghes'])(
  'what is read from an answer is required in it by the description of %s',
  (host) => {
    const { operations, schemas } = JSON.parse(readFileSync(getExtractPath(host), 'utf8')) as ApiDescription;
    const missing = calls.filter(([, call, returns]) => {
      const answers = Object.entries(operations[getRoute(call)]?.responses ?? {});
      const isSuccess = (status: string): boolean =>
        call.expects?.includes(Number(status)) ?? /^2/.test(status);
      const bodies = answers.flatMap(([status, body]) =>
        isSuccess(status) ? [body?.['application/json']] : [],
      );
      return bodies.length === 0 || !bodies.every((body) => body && requires(body, returns, schemas));
    });
    expect(missing.map(([name]) => name)).toEqual([]);
  },
);

test('every read of the API says what is read from its answer', () => {
  const reads = Object.entries(API).filter(([, { method }]) => method === 'GET');
  expect(reads.filter(([, call]) => !('returns' in call)).map(([name]) => name)).toEqual([]);
});
