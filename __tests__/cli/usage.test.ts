import { describe, expect, test } from '@jest/globals';
import { FLAGS, isSwitch } from '../../src/cli/args.ts';
import { usage } from '../../src/cli/usage.ts';
import { INPUTS } from '../../src/request/inputs.ts';

const lines = usage().split('\n');
const lineOf = (flag: string): string => lines.find((line) => line.startsWith(`  ${flag}`)) ?? '';

describe('the usage', () => {
  test.each(FLAGS)('explains --%s', (name) => {
    const line = lineOf(`--${name} `);
    expect(line).toContain(INPUTS[name].description.replaceAll('`', ''));
    expect(/^ {2}\S+ …/.test(line)).toBe(!isSwitch(name));
  });

  test.each(['deliver FILE…', 'verify URL', 'check FILE…', 'contract'])('names the command %s', (command) => {
    expect(lines.some((line) => line.startsWith(`  screen-delivery ${command} `))).toBe(true);
  });

  test.each(['--token-env NAME', '--file FILE', '--json', '-h, --help', '-v, --version'])(
    'explains %s',
    (flag) => {
      expect(lineOf(flag)).not.toBe('');
    },
  );

  test('tells defaults where a person can use them, and no expression of the runner’s', () => {
    expect(lineOf('--timeout ')).toMatch(/\(240\)$/);
    expect(lineOf('--channel ')).toMatch(/\(auto\)$/);
    expect(lineOf('--overwrite ')).not.toMatch(/\(false\)/);
    expect(usage()).not.toContain('${{');
  });

  test('offers no flag for the token', () => {
    expect(lineOf('--token ')).toBe('');
  });

  test('puts all meanings in one column', () => {
    const starts = lines
      .filter((line) => /^ {2}-/.test(line))
      .map((line) => /^ {2}.*? {2,}(?=\S)/.exec(line)?.[0].length);
    expect(starts).toHaveLength(FLAGS.length + 5);
    expect(new Set(starts).size).toBe(1);
  });

  test('tells the exit codes', () => {
    expect(usage()).toContain('0 ready, 1 not ready, 2 wrong usage');
  });
});
