import { describe, expect, test } from '@jest/globals';
import { createInputSchema } from '../../src/mcp/arguments.ts';

const complain = (tool: 'deliver' | 'verify', args: object): string =>
  createInputSchema(tool, {})
    .safeParse(args)
    .error?.issues.map(({ message }) => message)
    .join() ?? '';

describe('the arguments of a tool', () => {
  test('are named where one is unknown', () => {
    expect(complain('deliver', { fil: 'a.html', token: 'x' })).toMatch(
      /^fil, token: the arguments are file, content, .*authorization$/,
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
