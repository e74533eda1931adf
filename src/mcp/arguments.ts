import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { MCP } from '../protocol/limits.ts';
import { INPUTS, type InputName, jsonTypeOf, type RawInputs } from '../request/inputs.ts';
import { refuseInput } from '../request/values.ts';
import type { ToolDefinition } from './tools.ts';

/** The arguments of one call, as the client sent them. */
export type ToolArguments = Readonly<Record<string, string | number | boolean | undefined>>;

const text = () => z.string().max(MCP.argument);

/** Arguments that are no inputs of the action, or mean something else there. */
const FURTHER_ARGUMENTS = {
  content: z
    .string()
    .max(MCP.content)
    .describe('Text to use instead of a file, such as a whole HTML page; needs `name`.'),
  name: text().describe('The name of the file that `content` becomes, such as `report.html`.'),
  authorization: text().describe(
    'The handle of an answer `authorization_required`: goes on with that call; no other argument is needed.',
  ),
} as const;

/**
 * The arguments of a tool. They are named and described as the inputs; what they may hold is decided by the parser
 * of requests alone. An unknown argument, such as a token, is refused.
 *
 * @param fixed inputs that the server's command line has set already
 */
export function createInputSchema(definition: ToolDefinition, fixed: Readonly<Partial<RawInputs>>) {
  const names = listInputs(definition, fixed);
  const { authorization } = FURTHER_ARGUMENTS;
  return z.strictObject(
    Object.fromEntries(
      Object.entries({
        ...Object.fromEntries(names.map((input) => [input, createArgument(input)])),
        ...(definition.asksPerson && !Object.hasOwn(fixed, 'token') ? { authorization } : {}),
      }).map(([key, schema]) => [key, schema.optional()]),
    ),
  );
}

/** The inputs that are arguments of a tool of this server. */
export function listInputs(
  { inputs, takesContent }: Pick<ToolDefinition, 'inputs' | 'takesContent'>,
  fixed: Readonly<Partial<RawInputs>>,
): readonly InputName[] {
  const all = takesContent ? ([...inputs, 'content', 'name'] as const) : inputs;
  return all.filter((name) => !Object.hasOwn(fixed, name));
}

/** Inputs that mean something else here than in a workflow. */
const DESCRIPTIONS: Readonly<Partial<Record<InputName, string>>> = {
  file: 'Path of a file below the root of the server, or of a folder, which is one site; several lines name several.',
  url: 'The https address to verify.',
};

function createArgument(name: InputName) {
  if (name === 'content' || name === 'name') return FURTHER_ARGUMENTS[name];
  const { default: usual, description: general } = INPUTS[name];
  const description = DESCRIPTIONS[name] ?? general;
  const about = usual === '' || usual.startsWith('${{') ? description : `${description} Default: ${usual}.`;
  return { boolean: z.boolean(), number: z.number(), string: text() }[jsonTypeOf(name)].describe(about);
}

/** The inputs among the arguments, as texts. */
export function toRawInputs(args: ToolArguments, definition: ToolDefinition): Partial<RawInputs> {
  const given = listInputs(definition, {}).filter((name) => args[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, String(args[name])]));
}

/**
 * The arguments of the call that an authorization belongs to. They need not be sent again.
 *
 * @throws {DeliveryError} `BAD_INPUT` where others are sent.
 */
export function mergeArguments(
  { authorization, ...sent }: ToolArguments,
  first: ToolArguments,
): ToolArguments {
  if (Object.keys(sent).length > 0 && !isDeepStrictEqual({ ...sent }, { ...first })) {
    refuseInput(
      'the authorization belongs to a call with other arguments',
      'give `authorization` alone, or leave it out for a new call',
    );
  }
  return first;
}
