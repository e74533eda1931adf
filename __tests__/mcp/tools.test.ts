import { describe, expect, test } from '@jest/globals';
import { createInputSchema, listInputs } from '../../src/mcp/arguments.ts';
import { describeAccount } from '../../src/mcp/server.ts';
import { TOOLS } from '../../src/mcp/tools.ts';
import { INPUT_NAMES, type ToolName } from '../../src/request/inputs.ts';

const DEFINITIONS = Object.entries(TOOLS);

describe('the tools', () => {
  test('take every input, except those that no agent may choose', () => {
    const taken = new Set((Object.keys(TOOLS) as ToolName[]).flatMap((tool) => listInputs(tool, {})));
    expect(INPUT_NAMES.filter((name) => !taken.has(name)).sort()).toEqual([
      // A token must not reach a host that an agent names, nor the proof come from one.
      ...['api-url', 'auth-url', 'bin-host-url'],
      // The person who starts the server decides what becomes public, and what a stranger's page may do here.
      ...['browser-sandbox', 'comment', 'confine', 'environment', 'fail-on-not-ready', 'issue', 'operation'],
      ...['pages-base', 'raw-base', 'setup', 'token'],
    ]);
  });

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
      ['audit', true, false],
    ]);
  });
});

describe('the arguments', () => {
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
    expect(createInputSchema('deliver', {}).safeParse(args).success).toBe(false);
  });

  test('are described as a tool, not as a step', () => {
    const { shape } = createInputSchema('deliver', {});
    const texts = Object.values(shape).map((schema) => schema.description ?? '');
    expect(texts.filter((text) => /permissions: \{|\$\{\{|the workspace|this action/.test(text))).toEqual([]);
    expect(shape.keep?.safeParse(20).success).toBe(true);
  });

  test('that the server has fixed are not offered', () => {
    const { shape } = createInputSchema('deliver', { repository: 'octo/site', 'client-id': 'x' });
    expect(Object.keys(shape)).toEqual(expect.arrayContaining(['file', 'content', 'name', 'authorization']));
    expect(Object.keys(shape)).not.toContain('repository');
    expect(Object.keys(shape)).not.toContain('client-id');
  });

  test('that only a person can answer are not offered by tools that need no token', () => {
    expect(Object.keys(createInputSchema('verify', {}).shape)).not.toContain('authorization');
  });
});

const complain = (tool: 'deliver' | 'verify', args: object): string =>
  createInputSchema(tool, {})
    .safeParse(args)
    .error?.issues.map(({ message }) => message)
    .join() ?? '';

describe('the arguments of a tool', () => {
  test('are named where one is unknown', () => {
    expect(complain('deliver', { fil: 'a.html', token: 'x' })).toMatch(
      /^fil \(did you mean file\?\), token: the arguments are file, content, .*authorization$/,
    );
  });

  test('list the values that there are', () => {
    expect(complain('deliver', { file: 'a.html', screen: 'on' })).toContain('"auto"|"enforce"|"off"');
    expect(complain('deliver', { file: 'a.html', screen: 'off' })).toBe('');
  });

  test('have a link where one is verified', () => {
    expect(complain('verify', { marker: 'build-1' })).toContain('expected string');
    expect(complain('verify', { url: 'https://a.dev/', marker: 'build-1' })).toBe('');
  });
});

test.each([
  ['x', {}, { GITHUB_REPOSITORY: 'octo/env' }, 'a token, and publishes in octo/env'],
  [
    'x',
    { repository: 'octo/flag' },
    { GITHUB_REPOSITORY: 'octo/env' },
    'a token, and publishes in octo/flag',
  ],
  ['', {}, {}, 'no token, and no repository of its own'],
])('the server says whether token and repository are set (%#)', (token, fixed, env, said) => {
  expect(describeAccount({ token, fixed, env })).toBe(`This server has ${said}.`);
});
