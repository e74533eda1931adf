import type { ToolAnnotations } from '@modelcontextprotocol/server';
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

interface ToolDefinition {
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
}

const HOW_TO_ANSWER =
  'Give your human `url` if it is not empty, else `reason` and `hint`; never a local path, and never "it should work".';

/** The tools of the server; the rows of the inputs say which arguments each takes. */
export const TOOLS: Readonly<Record<ToolName, ToolDefinition>> = {
  deliver: {
    title: 'Deliver a file, a folder or text',
    description: `Publishes it, fetches it back from its public address, proves the bytes, and only then hands over the https address. ${HOW_TO_ANSWER} Do not use it for anything secret or private, because what is delivered becomes public; to try a page use \`check\`, and for a link that exists already use \`verify\`.`,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  verify: {
    title: 'Verify a link',
    description: `Fetches a link that your environment gave you and proves that it shows your content: by a text of it (\`marker\`), or byte by byte (\`file\` or \`content\`). ${HOW_TO_ANSWER} Do not use it for what \`deliver\` published, which is proven already, or for local links.`,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  },
  check: {
    title: 'Check a file without publishing it',
    description:
      'Runs the checks that `deliver` makes on the file itself: secrets, size, name, marker, and whether a page loads anything from elsewhere. No host is asked and nothing is published. Do not use it to find out whether something is published, and do not take its result for a delivery: it gives no address.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  withdraw: {
    title: 'Withdraw what was delivered',
    description:
      'Removes what `deliver` published under the same name or path, and proves that its address no longer serves it. What others put there stays. Do not use it before a new delivery to the same path, which replaces the old one by itself.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  },
  audit: {
    title: 'Prove again what was delivered',
    description:
      'Finds everything that `deliver` published in the repository, or below `path`, fetches it again and compares: as delivered, changed by somebody since, withdrawn, or lost. Nothing is written. Do not use it for what you have just delivered, which is proven already, or for a link of your environment: that is `verify`.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  },
};

/** The arguments of one call, as the client sent them. */
export type ToolArguments = Readonly<Record<string, string | number | boolean | undefined>>;

/** The only argument that is no input. */
const AUTHORIZATION = z
  .string()
  .max(MCP.argument)
  .describe(
    'The handle of an answer `authorization_required`: goes on with that call; no other argument is needed.',
  );

/** The arguments of a tool. Refused is any other, such as a token, and one that the command line has `fixed`. */
export function createInputSchema(tool: ToolName, fixed: Readonly<Partial<RawInputs>>) {
  const names = listInputs(tool, fixed);
  // Without the link there is nothing to verify.
  const isNeeded = (name: InputName): boolean => tool === 'verify' && name === 'url';
  const shape = Object.fromEntries(
    names.map((name) => [
      name,
      isNeeded(name) ? createArgument(name, tool) : createArgument(name, tool).optional(),
    ]),
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

function createArgument(name: InputName, tool: ToolName) {
  const { default: usual, description, means, json, values }: InputDefinition = INPUTS[name];
  const text =
    values === undefined ? z.string().max(name === 'content' ? MCP.content : MCP.argument) : z.enum(values);
  const about = means?.[tool] ?? means?.mcp ?? description;
  const isShown = usual !== '' && !usual.startsWith('${{');
  return { boolean: z.boolean(), number: z.number(), string: text }[json].describe(
    isShown ? `${about} Default: ${usual}.` : about,
  );
}

export function toRawInputs(args: ToolArguments, tool: ToolName): Partial<RawInputs> {
  const given = listInputs(tool, {}).filter((name) => args[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, String(args[name])]));
}
