import { describe, expect, test } from '@jest/globals';
import type { startServer } from '../../src/cli/mcp.js';
import { createInputSchema } from '../../src/mcp/arguments.ts';
import type { startServer as bundled } from '../../src/mcp/index.ts';
import { NOT_ARGUMENTS, TOOLS } from '../../src/mcp/tools.ts';
import { INPUTS } from '../../src/request/inputs.ts';

const DEFINITIONS = Object.entries(TOOLS);

test('the command line calls the server as it is', () => {
  const call: typeof startServer = (...settings) => start(...settings);
  const start: typeof bundled = async () => undefined;
  expect(call).toBeDefined();
});

describe('the tools', () => {
  test('take every input, except those that no agent may choose', () => {
    const taken = new Set(DEFINITIONS.flatMap(([, { inputs }]) => inputs));
    // The tools that take content take both; they have their own words for it.
    const content = ['content', 'name'];
    expect([...taken, ...NOT_ARGUMENTS, ...content].sort()).toEqual(Object.keys(INPUTS).sort());
  });

  test.each(['token', 'api-url', 'auth-url', 'pages-base', 'raw-base', 'bin-host-url'] as const)(
    'never take %s: a token must not reach a host that an agent names',
    (name) => {
      expect(NOT_ARGUMENTS).toContain(name);
    },
  );

  test.each(DEFINITIONS)('say when not to use %s, in one sentence at the end', (_, { description }) => {
    expect(description).toMatch(/\. Do not use it [^.]*\.$/);
  });

  test('that change nothing say so', () => {
    const hints = DEFINITIONS.map(([name, { annotations }]) => [
      name,
      annotations.readOnlyHint,
      annotations.destructiveHint,
    ]);
    expect(hints).toEqual([
      ['deliver', false, true],
      ['verify', true, false],
      ['check', true, false],
      ['withdraw', false, true],
    ]);
  });
});

describe('the arguments', () => {
  const { deliver, verify } = TOOLS;

  test.each([
    ['an unknown one', { token: 'x' }],
    ['a host of the agent', { 'api-url': 'https://evil.example.com' }],
    ['a text for a switch', { overwrite: 'true' }],
    ['a number for a text', { file: 7 }],
    ['a text for a number', { timeout: '5' }],
    ['a text for the number of folders', { keep: '20' }],
    ['a list', { file: ['a.html'] }],
    ['a text without a bound', { message: 'x'.repeat(100_000) }],
    ['a content without a bound', { content: 'x'.repeat(5_242_881) }],
  ])('are refused with %s', (_, args) => {
    expect(createInputSchema(deliver, {}).safeParse(args).success).toBe(false);
  });

  test('are described as a tool, not as a step', () => {
    const { shape } = createInputSchema(deliver, {});
    const texts = Object.values(shape).map((schema) => schema.description ?? '');
    expect(texts.filter((text) => /permissions: \{|\$\{\{|the workspace|this action/.test(text))).toEqual([]);
    expect(shape.keep?.safeParse(20).success).toBe(true);
  });

  test('that the server has fixed are not offered', () => {
    const { shape } = createInputSchema(deliver, { repository: 'octo/site', 'client-id': 'x' });
    expect(Object.keys(shape)).toEqual(expect.arrayContaining(['file', 'content', 'name', 'authorization']));
    expect(Object.keys(shape)).not.toContain('repository');
    expect(Object.keys(shape)).not.toContain('client-id');
  });

  test('that only a person can answer are not offered by tools that need no token', () => {
    expect(Object.keys(createInputSchema(verify, {}).shape)).not.toContain('authorization');
  });
});
