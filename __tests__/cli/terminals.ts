import { Readable } from 'node:stream';
import { afterEach, beforeEach } from '@jest/globals';
import type { Terminal } from '../../src/cli/terminal.ts';
import { createRedactor } from '../../src/credentials.ts';
import type { Logger } from '../../src/ports.ts';

export interface CapturedOutput {
  /** What was written to stdout in the current test. */
  readonly stdout: string;
  /** What was written to stderr in the current test. */
  readonly stderr: string;
}

/** Captures stdout and stderr of this process in every test of the file. */
export function captureOutput(): CapturedOutput {
  const captured = { stdout: '', stderr: '' };
  const streams = ['stdout', 'stderr'] as const;
  const original = { stdout: process.stdout.write, stderr: process.stderr.write };
  beforeEach(() => {
    for (const name of streams) {
      captured[name] = '';
      process[name].write = ((text: string, onWritten?: () => void) => {
        captured[name] += text;
        onWritten?.();
        return true;
      }) as typeof process.stdout.write;
    }
  });
  afterEach(() => {
    for (const name of streams) process[name].write = original[name];
  });
  return captured;
}

/** A terminal that records what is printed. */
export function fakeTerminal(
  logger: Logger,
  input: readonly string[] = [],
  isTerminal = false,
): Terminal & { readonly printed: readonly string[] } {
  const printed: string[] = [];
  const redactor = createRedactor();
  return {
    logger: Object.assign(Object.create(logger) as Logger, {
      mask(secret: string) {
        logger.mask(secret);
        redactor.addSecret(secret);
      },
    }),
    redactor,
    isInteractive: () => isTerminal,
    input: () => Readable.from(input.map((chunk) => Buffer.from(chunk))),
    printed,
    print: (text) => void printed.push(text),
    printJson: (data) => void printed.push(JSON.stringify(data, null, 2)),
    printError: () => undefined,
    printOutcome: (text) => void printed.push(text),
    showStep: () => undefined,
  };
}
