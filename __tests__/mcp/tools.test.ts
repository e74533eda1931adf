import { describe, expect, test } from '@jest/globals';
import { createInputSchema, TOOLS, toRawInputs, withoutNull } from '../../src/mcp/tools.ts';
import type { ToolName } from '../../src/request/inputs.ts';

const DEFINITIONS = Object.entries(TOOLS);

describe('the tools', () => {
  test('take only what lets an agent reach and do no more than the server may', () => {
    const taken = Object.fromEntries(
      (Object.keys(TOOLS) as ToolName[]).map((tool) => [
        tool,
        Object.keys(createInputSchema(tool, {}).shape),
      ]),
    );
    const file = ['file', 'content', 'name'];
    expect(taken).toEqual({
      deliver: [...file, 'entry', 'as', 'marker', 'path', 'other_hosts', 'picture', 'dry_run', 'timeout'],
      verify: [...file, 'entry', 'marker', 'url', 'timeout'],
      withdraw: ['url', 'timeout'],
      audit: ['path', 'timeout'],
      list: ['path'],
    });
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
    ['unknown', { fil: 'a.html', token: 'x' }, /^fil \(did you mean file\?\), token: the arguments are/],
    ['a host of the agent', { 'api-url': 'https://evil.example.com' }, /^api-url/],
    ['a text for a switch', { picture: 'true' }, /boolean/],
    ['a number for a text', { file: 7 }, /string/],
    ['a text for a number', { timeout: '20' }, /number/],
    ['more time than usual', { timeout: 241 }, /<=240/],
    ['no time', { timeout: -1 }, />0/],
    ['a text without a bound', { path: 'x'.repeat(100_000) }, /65536/],
    ['a content without a bound', { content: 'x'.repeat(5_242_881) }, /5242880/],
    ['a word that it does not know', { as: 'K3' }, /"auto"\|"page"\|"download"/],
  ])('are refused where one is %s', (_, args, message) => {
    expect(complain('deliver', args)).toMatch(message);
  });

  test('are accepted as they are described, and verify needs its link', () => {
    expect(complain('deliver', { file: 'a.html', other_hosts: 'allow', timeout: 20 })).toBe('');
    expect(complain('verify', { url: 'https://a.dev/', marker: 'build-1' })).toBe('');
    expect(complain('verify', { marker: 'build-1' })).toContain('expected string');
  });

  test('are described as a tool, not as a step', () => {
    const { shape } = createInputSchema('deliver', {});
    const texts = Object.values(shape).map((schema) => schema.description ?? '');
    expect(texts.filter((text) => /permissions: \{|\$\{\{|the workspace|this action/.test(text))).toEqual([]);
  });

  test('are those that the server has not fixed, but for less time', () => {
    const names = (fixed: object, tool: ToolName = 'deliver') =>
      Object.keys(createInputSchema(tool, fixed).shape);
    expect(names({ channel: 'K1', path: 'a/' })).toEqual(
      expect.arrayContaining(['file', 'content', 'name', 'timeout']),
    );
    expect(names({ channel: 'K1', path: 'a/' })).not.toEqual(expect.arrayContaining(['as']));
    expect(names({ path: 'a/' })).not.toEqual(expect.arrayContaining(['path']));
    expect(createInputSchema('deliver', { timeout: '60' }).safeParse({ timeout: 61 }).success).toBe(false);
    expect(createInputSchema('deliver', { timeout: '600' }).safeParse({ timeout: 600 }).success).toBe(true);
  });

  test('have values of their own, and null is none', () => {
    const given = { as: 'download', other_hosts: 'allow', file: 'a.html', timeout: 20, dry_run: true };
    expect(toRawInputs(given, 'deliver')).toEqual({
      ...{ channel: 'K2', 'self-contained': 'warn', file: 'a.html', timeout: '20', 'dry-run': 'true' },
      render: 'false',
    });
    expect(toRawInputs({ other_hosts: 'inline' }, 'deliver')).toEqual({
      'self-contained': 'inline',
      render: 'true',
    });
    expect(toRawInputs({ as: 'page' }, 'verify')).toEqual({});
    expect(withoutNull({ ...given, path: null })).toEqual(given);
  });
});
