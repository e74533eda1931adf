import { describe, expect, test } from '@jest/globals';
import { createInputSchema, listInputs, TOOLS } from '../../src/mcp/tools.ts';
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
});

const complain = (tool: 'deliver' | 'verify', args: object): string =>
  createInputSchema(tool, {})
    .safeParse(args)
    .error?.issues.map(({ message }) => message)
    .join() ?? '';

describe('the arguments', () => {
  test.each([
    [
      'unknown',
      { fil: 'a.html', token: 'x' },
      /^fil \(did you mean file\?\), token: the arguments are file, /,
    ],
    ['a host of the agent', { 'api-url': 'https://evil.example.com' }, /^api-url/],
    ['a text for a switch', { overwrite: 'true' }, /boolean/],
    ['a number for a text', { file: 7 }, /string/],
    ['a text for a number', { keep: '20' }, /number/],
    ['a text without a bound', { message: 'x'.repeat(100_000) }, /65536/],
    ['a content without a bound', { content: 'x'.repeat(5_242_881) }, /5242880/],
    ['a word that it does not know', { screen: 'on' }, /"auto"\|"enforce"\|"off"/],
  ])('are refused where one is %s', (_, args, message) => {
    expect(complain('deliver', args)).toMatch(message);
  });

  test('are accepted as they are described, and verify needs its link', () => {
    expect(complain('deliver', { file: 'a.html', screen: 'off', keep: 20 })).toBe('');
    expect(complain('verify', { url: 'https://a.dev/', marker: 'build-1' })).toBe('');
    expect(complain('verify', { marker: 'build-1' })).toContain('expected string');
  });

  test('are described as a tool, not as a step', () => {
    const { shape } = createInputSchema('deliver', {});
    const texts = Object.values(shape).map((schema) => schema.description ?? '');
    expect(texts.filter((text) => /permissions: \{|\$\{\{|the workspace|this action/.test(text))).toEqual([]);
  });

  test('are those that the server has not fixed, and only with a token that of an authorization', () => {
    const fixed = { repository: 'octo/site', 'client-id': 'x' };
    const names = Object.keys(createInputSchema('deliver', fixed).shape);
    expect(names).toEqual(expect.arrayContaining(['file', 'content', 'name', 'authorization']));
    expect(names.filter((name) => Object.hasOwn(fixed, name))).toEqual([]);
    expect(Object.keys(createInputSchema('verify', {}).shape)).not.toContain('authorization');
  });
});
