import { describe, expect, test } from '@jest/globals';
import { CLI_WORDING } from '../../src/cli/terminal.ts';
import { usage } from '../../src/cli/usage.ts';
import { FLAGS, isSwitch } from '../../src/request/commands.ts';
import { INPUTS } from '../../src/request/inputs.ts';

const lines = usage().split('\n');
const findLine = (flag: string): string => lines.find((line) => line.startsWith(`  ${flag}`)) ?? '';

describe('usage', () => {
  test.each(FLAGS)('explains --%s', (name) => {
    const line = findLine(`--${name} `);
    expect(line).toContain(CLI_WORDING(INPUTS[name].description).replaceAll('`', ''));
    expect(/^ {2}\S+ …/.test(line)).toBe(!isSwitch(name));
  });

  test.each(['deliver FILE…|FOLDER|-', 'verify URL', 'check FILE…|FOLDER|-', 'contract'])(
    'lists the command %s',
    (command) => {
      expect(lines.some((line) => line.startsWith(`  screen-delivery ${command} `))).toBe(true);
    },
  );

  test.each([
    '--token-env NAME',
    '--file FILE',
    '--json',
    '-q, --quiet',
    '--qr',
    '-h, --help',
    '-v, --version',
  ])('explains %s', (flag) => {
    expect(findLine(flag)).not.toBe('');
  });

  test('shows useful defaults, but no expressions of the runner', () => {
    expect(findLine('--timeout ')).toMatch(/\(240\)$/);
    expect(findLine('--channel ')).toMatch(/\(auto\)$/);
    expect(findLine('--overwrite ')).not.toMatch(/\(false\)/);
    expect(usage()).not.toContain('${{');
  });

  test('lists no flag for the token', () => {
    expect(findLine('--token ')).toBe('');
  });

  test('aligns all descriptions in one column', () => {
    const starts = lines
      .filter((line) => /^ {2}-/.test(line))
      .map((line) => /^ {2}.*? {2,}(?=\S)/.exec(line)?.[0].length);
    expect(starts).toHaveLength(FLAGS.length + 8);
    expect(new Set(starts).size).toBe(1);
  });

  test('lists the exit codes', () => {
    expect(usage()).toContain('0 ready, withdrawn or planned; 1 not ready; 2 wrong usage');
  });
});
