import { expect, test } from '@jest/globals';
import * as z from 'zod';
import { schemaOfType } from '../../scripts/documents.ts';
import { TOOL_ANSWER } from '../../src/mcp/output-schema.ts';

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a schema accepts, in one form, without what it says of it. */
function normalize(given: unknown, definitions: Schema): unknown {
  if (Array.isArray(given)) return given.map((one) => normalize(one, definitions));
  if (!isSchema(given)) return given;
  if (typeof given.$ref === 'string') {
    return normalize(definitions[given.$ref.replace('#/$defs/', '')], definitions);
  }
  const { description: _, title: __, $schema: ___, $defs: ____, ...rest } = expandRecord(given);
  const { properties, ...others } = rest as Schema & { properties?: Schema };
  const schema = Object.fromEntries(
    Object.entries(others).map(([key, value]) => [key, normalize(value, definitions)]),
  );
  const joined = joinUnion(schema.anyOf);
  if (joined !== null) return joined;
  if ('const' in schema) return { const: schema.const };
  return {
    ...schema,
    ...(Array.isArray(schema.type) ? { type: schema.type.toSorted() } : {}),
    ...(Array.isArray(schema.required) ? { required: schema.required.toSorted() } : {}),
    ...(Array.isArray(schema.enum) ? { enum: schema.enum.toSorted() } : {}),
    ...(properties === undefined
      ? {}
      : {
          required: Array.isArray(schema.required) ? schema.required.toSorted() : [],
          properties: Object.fromEntries(
            Object.entries(properties).map(([key, value]) => [key, normalize(value, definitions)]),
          ),
        }),
  };
}

/** A record with known keys is an object with these properties. */
function expandRecord({ propertyNames, ...schema }: Schema): Schema {
  if (!isSchema(propertyNames)) return schema;
  const keys = propertyNames.enum as readonly string[];
  const properties = Object.fromEntries(keys.map((key) => [key, schema.additionalProperties]));
  return { ...schema, properties, additionalProperties: false };
}

function joinUnion(anyOf: unknown): Schema | null {
  if (!Array.isArray(anyOf)) return null;
  const values = anyOf.map((one) => one.enum ?? ('const' in one ? [one.const] : null));
  if (!values.includes(null)) return { type: 'string', enum: values.flat().toSorted() };
  const isPlain = anyOf.every((one) => Object.keys(one).join() === 'type');
  return isPlain ? { type: anyOf.map(({ type }) => type).toSorted() } : null;
}

/** Both forms of a schema must accept the same: a client refuses an answer that its tool's schema does not. */
test('the schema of the tools accepts exactly what the type of their answers is', () => {
  const listed = z.toJSONSchema(TOOL_ANSWER) as Schema;
  const generated = schemaOfType('ToolAnswer');
  const ofTool = normalize(listed, (listed.$defs ?? {}) as Schema);
  expect(ofTool).toEqual(normalize(generated, generated.$defs as Schema));
});
