import type { ToolAnnotations } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { findClosestName } from '../plain-text.ts';
import { MCP } from '../protocol/limits.ts';
import {
  argumentOf,
  INPUT_NAMES,
  INPUTS,
  type InputDefinition,
  type InputName,
  type RawInputs,
  type ToolName,
} from '../request/inputs.ts';

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
const WRITES = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };

/** `INPUTS` lists the arguments of each tool. */
export const TOOLS: Readonly<
  Record<ToolName, { title: string; description: string; annotations: ToolAnnotations }>
> = {
  deliver: {
    title: 'Deliver a file, a folder or text',
    description:
      'Publishes it, verifies what its public URL shows, and only then returns the https URL. Repeat `say` to your human. Do not use it for anything secret or private, because it becomes public.',
    annotations: { ...WRITES, idempotentHint: false },
  },
  verify: {
    title: 'Verify a link',
    description:
      'Verifies that an existing https link shows your content. What this server delivered needs only `url`. Any other link needs `marker` (a text of the page), or `file` or `content` (all bytes). Do not use it right after `deliver`, which has verified its URL.',
    annotations: { ...READS, openWorldHint: true },
  },
  withdraw: {
    title: 'Withdraw what was delivered',
    description:
      "Removes what `deliver` published at its `url`, and verifies that it is gone. Files that this tool didn't deliver stay. Do not use it before a correction, because `deliver` replaces the earlier version.",
    annotations: { ...WRITES, idempotentHint: true },
  },
  audit: {
    title: 'Verify earlier deliveries again',
    description:
      'Finds what `deliver` published, everywhere or below `path`, and fetches it again. Reports what is as delivered, changed, withdrawn or lost. Do not use it for what was just verified.',
    annotations: { ...READS, openWorldHint: true },
  },
  list: {
    title: 'List deliveries',
    description:
      'Lists what was delivered, everywhere or below `path`, from the records alone. It verifies nothing. Do not use it to tell whether a link works.',
    annotations: { ...READS, openWorldHint: true },
  },
};

/** As the client sent them. */
export type ToolArguments = Readonly<Record<string, string | number | boolean | undefined>>;

/** Refuses unknown arguments, such as a token or an input that is `fixed`. */
export function createInputSchema(tool: ToolName, fixed: Readonly<Partial<RawInputs>>) {
  const shape = Object.fromEntries(
    listInputs(tool, fixed).map((name) => {
      const argument = createArgument(name, tool, fixed);
      // `verify` and `withdraw` need a link.
      return [argumentOf(name), name === 'url' ? argument : argument.optional()];
    }),
  );
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `${issue.keys.map((key) => nameUnknown(key, known)).join(', ')}: the arguments are ${known.join(', ')}`
        : undefined,
  });
}

/** Some models send every argument, as `null` if they don't mean it. */
export const withoutNull = (args: unknown): unknown =>
  typeof args === 'object' && args !== null
    ? Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
    : args;

function nameUnknown(key: string, known: readonly string[]): string {
  const closest = findClosestName(key, known);
  return closest === undefined ? key : `${key} (did you mean ${closest}?)`;
}

/** The inputs that a tool takes. A call may only shorten a fixed `timeout`. */
export function listInputs(tool: ToolName, fixed: Readonly<Partial<RawInputs>>): readonly InputName[] {
  return INPUT_NAMES.filter((name) => {
    const { tools }: InputDefinition = INPUTS[name];
    return tools?.includes(tool) && (name === 'timeout' || !Object.hasOwn(fixed, name));
  });
}

function createArgument(name: InputName, tool: ToolName, fixed: Readonly<Partial<RawInputs>>) {
  const { default: usual, description, means, json, argument }: InputDefinition = INPUTS[name];
  if (argument) return z.enum(Object.keys(argument.values)).describe(argument.description);
  const text = z.string().max(name === 'content' ? MCP.content : MCP.argument);
  const limit = z
    .number()
    .positive()
    .max(Number(fixed.timeout ?? usual));
  return { boolean: z.boolean(), number: limit, string: text }[json].describe(
    means?.[tool] ?? means?.mcp ?? description,
  );
}

/** Converts arguments to inputs. */
export function toRawInputs(args: ToolArguments, tool: ToolName): Partial<RawInputs> {
  const given = listInputs(tool, {}).flatMap((name) => {
    const value = args[argumentOf(name)];
    const { argument }: InputDefinition = INPUTS[name];
    return value === undefined ? [] : [[name, argument?.values[`${value}`] ?? `${value}`]];
  });
  // People read an agent's Markdown as a page, unless they want the file.
  const render = tool === 'deliver' ? { render: `${args.as !== 'download'}` } : {};
  return { ...Object.fromEntries(given), ...render };
}
