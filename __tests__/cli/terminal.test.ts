import { afterEach, describe, expect, test } from '@jest/globals';
import { createTerminal, type Terminal } from '../../src/cli/terminal.ts';
import { createRedactor } from '../../src/credentials.ts';
import { MEGABYTE } from '../../src/protocol/limits.ts';
import { FakeClock } from '../support/ports.ts';
import { captureOutput } from './terminals.ts';

const BOLD = '\u001b[1m';
const CLEAR_LINE = '\r\u001b[K';

const { stderr } = process;
const output = captureOutput();
const originalTty = Object.getOwnPropertyDescriptor(stderr, 'isTTY');

afterEach(() => {
  if (originalTty === undefined) Reflect.deleteProperty(stderr, 'isTTY');
  else Object.defineProperty(stderr, 'isTTY', originalTty);
});

interface TerminalOptions {
  /** Whether stderr is a terminal; stdout is never one here, as in `--json | jq`. */
  readonly tty: boolean;
  readonly env?: Record<string, string>;
  readonly clock?: FakeClock;
  readonly secret?: string;
}

function openTerminal({ tty, env = {}, clock = new FakeClock(), secret }: TerminalOptions): Terminal {
  Object.defineProperty(stderr, 'isTTY', { value: tty, configurable: true, writable: true });
  const terminal = createTerminal(createRedactor(), clock, env);
  if (secret !== undefined) terminal.logger.mask(secret);
  return terminal;
}

describe('createTerminal without a terminal on stderr', () => {
  test('prints results to stdout and everything else to stderr', async () => {
    const { print, printError, logger } = openTerminal({ tty: false });
    print('a result');
    printError('an error');
    logger.info('a line');
    logger.warning('a problem');
    logger.startSection('A step');
    expect(output.stdout).toBe('a result\n');
    expect(output.stderr).toBe('an error\n  a line\n  warning: a problem\nA step\n');
  });

  test('prints no secret, and nothing that moves the cursor, turns a text around or cannot be seen', () => {
    const { print, printError, printJson, logger } = openTerminal({ tty: false, secret: 'ghp_secret' });
    const text = 'a\u202eb\u034fc\u001b[31md\re\u0007f\u009b2K\u2028g\u007f\nthe ghp_secret';
    const prints = [print, printError, logger.info, logger.warning, logger.startSection];
    for (const printLine of prints) printLine(text);
    // The line breaks of a result stay.
    expect(output.stdout).toBe('a\\u202eb\\u034fc[31mdef2Kg\nthe ***\n');
    expect(output.stderr.match(/a\\u202eb\\u034fc\[31mdef2Kg\nthe \*\*\*/g)).toHaveLength(prints.length - 1);
    printJson({ text: 'a\u202eb\u009b\u2028d' });
    expect(output.stdout).toContain('a\\u202eb\\u009b\\u2028d');
  });
});

describe('createTerminal with a terminal on stderr', () => {
  test('prints the title of a group in bold, even if stdout is not a terminal', async () => {
    openTerminal({ tty: true }).logger.startSection('A step');
    expect(output.stderr).toContain(`${BOLD}A step`);
    openTerminal({ tty: true, env: { NO_COLOR: '1' } }).logger.startSection('Another');
    expect(output.stderr.endsWith('Another\n')).toBe(true);
  });

  test('shows progress in one line that changes, that others clear, and of which nothing stays', () => {
    const clock = new FakeClock();
    const { logger } = openTerminal({ tty: true, clock });
    const progress = logger.progress('uploaded', 10 * MEGABYTE, 'bytes');
    for (const [passed, done] of [
      [499, 1],
      [501, 4],
      [100, 1],
    ] as const) {
      clock.time += passed;
      progress.advance(done * MEGABYTE);
    }
    logger.info('a line');
    progress.end();
    const wait = logger.progress('waited', 240_000, 'milliseconds');
    clock.time += 5_000;
    wait.advance(5_000);
    expect(output.stderr.split(CLEAR_LINE)).toEqual([
      '',
      '  uploaded: 50 %, 5.0 MB/s, 1 s left',
      '  a line\n',
      '',
      '  waited: 2 %, at most 235 s left',
    ]);
  });
});
