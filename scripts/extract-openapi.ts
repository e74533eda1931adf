import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ApiDescription,
  type DescribedHost,
  type DescribedOperation,
  getExtractPath,
  type JsonSchema,
  listDescribedRoutes,
} from '../__tests__/world/openapi/description.ts';

/**
 * Writes the part of GitHub's API description that the tests validate against: run after a change of the calls. The
 * package has 400 MB, so it is fetched for this alone.
 */
const SOURCE = '@octokit/openapi@23.0.2';

/** Values that real hosts answered and that the description's `enum` lacks. */
const SEEN_VALUES: readonly { readonly schema: string; readonly property: string; readonly value: string }[] =
  [
    // A broken upload leaves it behind.
    { schema: 'release-asset', property: 'state', value: 'starter' },
  ];

/** The schema of errors that an operation does not list, such as 401 and 429. */
const ERROR_SCHEMA = 'basic-error';
const DROPPED = new Set(['description', 'example', 'examples', 'title', 'externalDocs', 'discriminator']);

/** The name of the package's file; for Enterprise Server, the newest version. */
function getSourceName(folder: string, host: DescribedHost): string {
  if (host === 'github.com') return 'api.github.com.json';
  const names = readdirSync(folder).filter((name) => /^ghes-[\d.]+\.json$/.test(name));
  const minor = (name: string) => Number(/^ghes-3\.(\d+)/.exec(name)?.[1]);
  return names.sort((one, other) => minor(other) - minor(one))[0] ?? '';
}

/**
 * Extracts the operations in use. Reads a file of about 12 MB.
 *
 * @param folder the package's folder `generated`
 */
function extractDescription(folder: string, host: DescribedHost): ApiDescription {
  const source = JSON.parse(
    readFileSync(join(folder, getSourceName(folder, host)), 'utf8'),
  ) as OpenApiDocument;
  const routes = listDescribedRoutes();
  const operations = routes.map((route) => [route, extractOperation(source, route)] as const);
  const schemas: Record<string, JsonSchema> = {};
  const waiting = [ERROR_SCHEMA, ...findReferences(operations)];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name in schemas) continue;
    schemas[name] = addSeenValues(name, convertSchema(source.components.schemas[name]) as JsonSchema);
    waiting.push(...findReferences(schemas[name]));
  }
  const sorted = Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1));
  return { operations: Object.fromEntries(operations), schemas: Object.fromEntries(sorted) };
}

function addSeenValues(name: string, schema: JsonSchema): JsonSchema {
  const seen = SEEN_VALUES.filter((one) => one.schema === name);
  const properties = { ...(schema.properties as Record<string, JsonSchema> | undefined) };
  for (const { property, value } of seen) {
    const { enum: known = [], ...rest } = properties[property] ?? {};
    properties[property] = { ...rest, enum: [...(known as string[]), value] };
  }
  return seen.length === 0 ? schema : { ...schema, properties };
}

/** The extract as text: one line for each operation and each schema. */
function formatDescription({ operations, schemas }: ApiDescription): string {
  const lines = (entries: object) =>
    Object.entries(entries).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `{\n"operations": {\n${lines(operations).join(',\n')}\n},\n"schemas": {\n${lines(schemas).join(',\n')}\n}\n}\n`;
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> & {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
}

interface OpenApiOperation {
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: OpenApiContent };
  readonly responses: Readonly<Record<string, { readonly content?: OpenApiContent }>>;
}

interface OpenApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

type OpenApiContent = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

function extractOperation(source: OpenApiDocument, route: string): DescribedOperation {
  const [method = '', path = ''] = route.split(' ');
  const operation = source.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`The description has no operation ${route}.`);
  const { parameters = [], requestBody, responses } = operation;
  const all = parameters.map((one) => resolve<OpenApiParameter>(source, one));
  const body = requestBody?.content?.['application/json']?.schema;
  const answers = Object.entries(responses).map(
    ([status, response]) =>
      [
        status,
        extractContent(resolve<{ content?: OpenApiContent }>(source, response).content, status),
      ] as const,
  );
  return {
    path: createParameterSchema(all.filter((one) => one.in === 'path')),
    query: createParameterSchema(all.filter((one) => one.in === 'query')),
    body: body === undefined ? null : closeObjects(convertSchema(body)),
    bodyRequired: requestBody?.required ?? false,
    responses: Object.fromEntries(answers),
  };
}

function extractContent(content: OpenApiContent = {}, status = ''): Record<string, JsonSchema> | null {
  const entries = Object.entries(content).flatMap(([type, { schema }]) =>
    schema === undefined ? [] : [[type, allowSeveral(convertSchema(schema) as JsonSchema, status)] as const],
  );
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** Error schemas require almost no field, so an error fits several of them. */
function allowSeveral({ oneOf, ...schema }: JsonSchema, status: string): JsonSchema {
  if (oneOf === undefined) return schema;
  return { ...schema, [Number(status) >= 400 ? 'anyOf' : 'oneOf']: oneOf };
}

function resolve<Value>(source: OpenApiDocument, value: unknown): Value {
  const [, kind = '', name = ''] =
    /^#\/components\/(\w+)\/(.+)$/.exec(String((value as JsonSchema).$ref)) ?? [];
  return (kind === '' ? value : source.components[kind]?.[name]) as Value;
}

function createParameterSchema(parameters: readonly OpenApiParameter[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, convertSchema(schema)])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Converts OpenAPI 3.0 schemas to JSON Schema: `nullable` becomes a type, and descriptions are dropped. */
function convertSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convertSchema);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...schema } = convertKeywords(value as JsonSchema);
  if (nullable !== true) return schema;
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const choices = Array.isArray(schema.enum) ? { enum: [...new Set([...schema.enum, null])] } : {};
  return { ...schema, type: [schema.type, 'null'], ...choices };
}

function convertKeywords(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).flatMap(([keyword, value]) => {
    if (DROPPED.has(keyword) || keyword.startsWith('x-')) return [];
    if (keyword === 'enum' || keyword === 'default' || keyword === 'required') return [[keyword, value]];
    if (keyword === '$ref') return [[keyword, String(value).replace('#/components/schemas/', '#/schemas/')]];
    // The names below `properties` are not keywords.
    if (keyword === 'properties') return [[keyword, mapValues(value as JsonSchema, convertSchema)]];
    return [[keyword, convertSchema(value)]];
  });
  return Object.fromEntries(entries);
}

/** Refuses properties that a request's body should not have. */
function closeObjects(value: unknown): JsonSchema {
  const { properties, items, ...schema } = value as JsonSchema;
  const closed = (entry: unknown) => closeObjects(entry);
  return {
    ...schema,
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(properties === undefined
      ? {}
      : { additionalProperties: false, properties: mapValues(properties as JsonSchema, closed) }),
  };
}

function mapValues(object: JsonSchema, map: (value: unknown) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}

function findReferences(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(/"\$ref":"#\/schemas\/([^"]+)"/g)].map(([, name = '']) => name);
}

const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
try {
  const options = { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' } as const;
  const archive = execFileSync('npm', ['pack', SOURCE, '--silent'], options).trim();
  execFileSync('tar', ['-xzf', archive], options);
  for (const host of ['github.com', 'ghes'] as const) {
    const description = extractDescription(join(folder, 'package', 'generated'), host);
    writeFileSync(getExtractPath(host), formatDescription(description));
  }
} finally {
  rmSync(folder, { recursive: true });
}
