import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { MCP } from '../protocol/limits.ts';
import { INPUTS, type InputName, type RawInputs } from '../request/inputs.ts';
import { refuseInput } from '../request/values.ts';
import type { ToolDefinition } from './tools.ts';

/** The arguments of one call, as the client sent them. */
export type ToolArguments = Readonly<Record<string, string | number | boolean | undefined>>;

const text = () => z.string().max(MCP.argument);

/** Arguments that are no inputs of the action. */
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
export function createInputSchema(
  { inputs, takesContent, asksPerson }: ToolDefinition,
  fixed: Readonly<Partial<RawInputs>>,
) {
  const names = inputs.filter((name) => !Object.hasOwn(fixed, name));
  const { content, name, authorization } = FURTHER_ARGUMENTS;
  return z.strictObject(
    Object.fromEntries(
      Object.entries({
        ...Object.fromEntries(names.map((input) => [input, createArgument(input)])),
        ...(takesContent ? { content, name } : {}),
        ...(asksPerson && !Object.hasOwn(fixed, 'token') ? { authorization } : {}),
      }).map(([key, schema]) => [key, schema.optional()]),
    ),
  );
}

/** Inputs that mean something else here than in a workflow. */
const DESCRIPTIONS: Readonly<Partial<Record<InputName, string>>> = {
  file: 'Path of a file below the root of the server, or of a folder, which is one site; several lines name several.',
  url: 'The https address to verify.',
};

function createArgument(name: InputName) {
  const { default: usual, description: general } = INPUTS[name];
  const description = DESCRIPTIONS[name] ?? general;
  const about = usual === '' || usual.startsWith('${{') ? description : `${description} Default: ${usual}.`;
  if (usual === 'true' || usual === 'false') return z.boolean().describe(about);
  return (/^\d+$/.test(usual) ? z.number() : text()).describe(about);
}

/** The inputs among the arguments, as texts. */
export function toRawInputs(args: ToolArguments, { inputs }: ToolDefinition): Partial<RawInputs> {
  const given = inputs.filter((name) => args[name] !== undefined);
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
      'give `authorization:` alone, or leave it out for a new call',
    );
  }
  return first;
}
