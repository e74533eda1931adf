import * as z from 'zod';
import { findClosestName } from '../plain-text.ts';
import { MCP } from '../protocol/limits.ts';
import {
  INPUT_NAMES,
  INPUTS,
  type InputDefinition,
  type InputName,
  type RawInputs,
  type ToolName,
} from '../request/inputs.ts';

/** The arguments of one call, as the client sent them. */
export type ToolArguments = Readonly<Record<string, string | number | boolean | undefined>>;

/** The only argument that is no input. */
const AUTHORIZATION = z
  .string()
  .max(MCP.argument)
  .describe(
    'The handle of an answer `authorization_required`: goes on with that call; no other argument is needed.',
  );

/**
 * The arguments of a tool. They are named and described as the inputs; what they may hold is decided by the parser
 * of requests alone. An unknown argument, such as a token, is refused.
 *
 * @param fixed inputs that the server's command line has set already
 */
export function createInputSchema(tool: ToolName, fixed: Readonly<Partial<RawInputs>>) {
  const names = listInputs(tool, fixed);
  // Without the link there is nothing to verify.
  const isNeeded = (name: InputName): boolean => tool === 'verify' && name === 'url';
  const shape = Object.fromEntries(
    names.map((name) => [name, isNeeded(name) ? createArgument(name) : createArgument(name).optional()]),
  );
  // A person may be asked for a token.
  if (listInputs(tool, {}).includes('client-id')) shape.authorization = AUTHORIZATION.optional();
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `${issue.keys.map((key) => nameUnknown(key, known)).join(', ')}: the arguments are ${known.join(', ')}`
        : undefined,
  });
}

function nameUnknown(key: string, known: readonly string[]): string {
  const closest = findClosestName(key, known);
  return closest === undefined ? key : `${key} (did you mean ${closest}?)`;
}

/** The inputs that are arguments of a tool of this server. */
export function listInputs(tool: ToolName, fixed: Readonly<Partial<RawInputs>>): readonly InputName[] {
  return INPUT_NAMES.filter((name) => {
    const { tools }: InputDefinition = INPUTS[name];
    return tools?.includes(tool) && !Object.hasOwn(fixed, name);
  });
}

function createArgument(name: InputName) {
  const { default: usual, description, inTool, json, values }: InputDefinition = INPUTS[name];
  const text =
    values === undefined ? z.string().max(name === 'content' ? MCP.content : MCP.argument) : z.enum(values);
  const about = inTool ?? description;
  const isShown = usual !== '' && !usual.startsWith('${{');
  return { boolean: z.boolean(), number: z.number(), string: text }[json].describe(
    isShown ? `${about} Default: ${usual}.` : about,
  );
}

export function toRawInputs(args: ToolArguments, tool: ToolName): Partial<RawInputs> {
  const given = listInputs(tool, {}).filter((name) => args[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, String(args[name])]));
}
