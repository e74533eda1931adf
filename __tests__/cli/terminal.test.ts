import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTerminal, type Terminal } from '../../src/cli/terminal.ts';
import { MEGABYTE } from '../../src/protocol/limits.ts';
import { createRedactor } from '../../src/redact.ts';
import { FakeClock } from '../support/ports.ts';

const BOLD = '\u001b[1m';
const CLEARED_LINE = '\r\u001b[K';
const HIDDEN_CURSOR = '\u001b[?25l';
const SHOWN_CURSOR = '\u001b[?25h';

const { stdout, stderr } = process;
const original = { out: stdout.write, err: stderr.write };
const ownTty = Object.getOwnPropertyDescriptor(stderr, 'isTTY');
let out: string;
let err: string;

beforeEach(() => {
  out = '';
  err = '';
  stdout.write = ((text: string) => {
    out += text;
    return true;
  }) as typeof stdout.write;
  stderr.write = ((text: string) => {
    err += text;
    return true;
  }) as typeof stderr.write;
});
afterEach(() => {
  stdout.write = original.out;
  stderr.write = original.err;
  if (ownTty === undefined) Reflect.deleteProperty(stderr, 'isTTY');
  else Object.defineProperty(stderr, 'isTTY', ownTty);
});

interface Place {
  /** Whether a person looks at stderr; stdout is a pipe here, as in `--json | jq`. */
  readonly tty: boolean;
  readonly env?: Record<string, string>;
  readonly clock?: FakeClock;
  readonly secret?: string;
}

function terminalOf({ tty, env = {}, clock = new FakeClock(), secret }: Place): Terminal {
  Object.defineProperty(stderr, 'isTTY', { value: tty, configurable: true, writable: true });
  const terminal = createTerminal(createRedactor(), clock, env);
  if (secret !== undefined) terminal.logger.mask(secret);
  return terminal;
}

describe('in plain lines', () => {
  test('answers go to stdout, everything else to stderr', async () => {
    const { print, complain, logger } = terminalOf({ tty: false });
    print('an answer');
    complain('a complaint');
    logger.info('a line');
    logger.warning('a doubt');
    logger.startSection('A step');
    expect(out).toBe('an answer\n');
    expect(err).toBe('a complaint\n  a line\n  warning: a doubt\nA step\n');
  });

  test('a secret stands in nothing that is written', async () => {
    const { print, complain, logger } = terminalOf({ tty: false, secret: 'ghp_secret' });
    print('1 ghp_secret');
    complain('2 ghp_secret');
    logger.info('3 ghp_secret');
    logger.warning('4 ghp_secret');
    logger.startSection('5 ghp_secret');
    expect(out + err).not.toContain('ghp_secret');
    expect((out + err).match(/\*\*\*/g)).toHaveLength(5);
  });

  test('nothing that is written can move the cursor or colour what follows', async () => {
    const { print, complain, logger } = terminalOf({ tty: false });
    const nasty = 'a\u001b[31mb\rc\u0007d\u009b2Ke\u007f';
    print(nasty);
    complain(nasty);
    logger.info(nasty);
    logger.startSection(nasty);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that must not come through
    expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(out).toBe('a[31mbcd2Ke\n');
  });

  test('an answer keeps its lines', () => {
    terminalOf({ tty: false }).print('one\ntwo');
    expect(out).toBe('one\ntwo\n');
  });

  test('a meter is a line every three seconds', () => {
    const clock = new FakeClock();
    const meter = terminalOf({ tty: false, clock }).logger.progress('uploaded', 4 * MEGABYTE, 'bytes');
    for (let second = 1; second <= 4; second += 1) {
      clock.time += 1_000;
      meter.advance(MEGABYTE);
    }
    meter.end();
    expect(err).toBe('  uploaded: 75 %, 1.0 MB/s, 1 s left\n');
  });
});

describe('on a terminal', () => {
  test('a step’s heading is bold, also where stdout is piped away', async () => {
    terminalOf({ tty: true }).logger.startSection('A step');
    expect(err).toContain(`${BOLD}A step`);
  });

  test('NO_COLOR is respected', async () => {
    terminalOf({ tty: true, env: { NO_COLOR: '1' } }).logger.startSection('A step');
    expect(err).toBe('A step\n');
  });

  test('a line takes the place of a bar', () => {
    terminalOf({ tty: true }).logger.info('a line');
    expect(err).toBe(`${CLEARED_LINE}  a line\n`);
  });

  test('what is over in a moment shows no bar', () => {
    const clock = new FakeClock();
    const meter = terminalOf({ tty: true, clock }).logger.progress('uploaded', 100, 'bytes');
    clock.time += 499;
    meter.advance(100);
    meter.end();
    expect(err).toBe('');
  });

  test('a bar shows how far it is, and leaves the terminal as it was', () => {
    const clock = new FakeClock();
    const meter = terminalOf({ tty: true, clock }).logger.progress('uploaded', 10 * MEGABYTE, 'bytes');
    clock.time += 1_000;
    meter.advance(4 * MEGABYTE);
    expect(err).toContain(HIDDEN_CURSOR);
    expect(err).toMatch(/ {2}uploaded \S+ 40 %, 4\.0 MB\/s, 2 s left/);
    clock.time += 1_000;
    meter.advance(MEGABYTE);
    meter.end();
    expect(err).toContain('50 %, 2.5 MB/s, 2 s left');
    expect(err.lastIndexOf(SHOWN_CURSOR)).toBeGreaterThan(err.lastIndexOf(HIDDEN_CURSOR));
    const written = err;
    meter.end();
    expect(err).toBe(written);
  });
});
