import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import type { Redactor } from '../credentials.ts';
import { shorten, showInvisible } from '../plain-text.ts';
import type { Clock, Logger } from '../ports.ts';
import { lineProgress } from '../progress.ts';
import { PROGRESS_INTERVAL } from '../protocol/limits.ts';

/** Results go to stdout, log and errors to stderr. */
export type Terminal = ReturnType<typeof createTerminal>;

/** Prints colors and one progress line on a terminal, otherwise plain lines. Respects `NO_COLOR`. */
export function createTerminal(redactor: Redactor, clock: Clock, env: NodeJS.ProcessEnv) {
  const { stdout, stderr } = process;
  const clean = (text: string): string => showInvisible(redactor.redact(text).replace(CONTROL, ''));
  // Clears the progress line, which appears again below.
  const lineStart = stderr.isTTY ? '\r\u001b[K' : '';
  const printError = (text: string): void => void stderr.write(`${lineStart}${clean(text)}\n`);
  const showLine = (text = ''): void => void stderr.write(lineStart + clean(text));
  const info = (line: string): void => printError(`  ${line}`);
  const style = (stream: WriteStream, format: 'bold' | 'red' | 'green', text: string): string =>
    stream.isTTY && !env.NO_COLOR ? styleText(format, text, { validateStream: false }) : text;
  const print = (text: string, color?: 'red' | 'green'): void => {
    if (lineStart !== '') stderr.write(lineStart);
    const cleaned = clean(text);
    stdout.write(`${color === undefined ? cleaned : style(stdout, color, cleaned)}\n`);
  };
  const logger: Logger = {
    info,
    warning: (line) => info(`warning: ${line}`),
    debug: () => undefined,
    startSection: (title) => void stderr.write(`${style(stderr, 'bold', clean(title))}\n`),
    endSection: () => undefined,
    mask: (secret) => redactor.addSecret(secret),
    progress: stderr.isTTY
      ? lineProgress(PROGRESS_INTERVAL.terminal, clock, (line) => showLine(`  ${line}`), showLine)
      : lineProgress(PROGRESS_INTERVAL.cli, clock, info),
  };
  return {
    ...{ logger, redactor, printError },
    isInteractive: () => stdout.isTTY === true,
    input: (): AsyncIterable<Uint8Array> => process.stdin,
    print: (text: string) => print(text),
    /** Doesn't redact, because that could break the JSON: data must contain no secret. */
    printJson: (data: unknown) =>
      void stdout.write(`${showInvisible(JSON.stringify(data, null, 2)).replace(UNESCAPED, escapeCode)}\n`),
    printOutcome: (text: string, isGood: boolean) => print(text, isGood ? 'green' : 'red'),
    /** Shows a step until the next output; only if stderr is a terminal. */
    showStep: (text: string) =>
      void (stderr.isTTY && stderr.write(lineStart + shorten(clean(text), stderr.columns - 4))),
  };
}

/** `JSON.stringify` doesn't escape these control characters and line separators. */
const UNESCAPED = /[\u007f-\u009f\u2028\u2029]/g;
const escapeCode = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Characters that could move the cursor or change colors, except line breaks. */
const CONTROL = /(?!\n)[\p{Cc}\u2028\u2029]/gu;

/** Shows the current step on a terminal; otherwise only progress. */
export function briefLogger(logger: Logger, showStep: (text: string) => void): Logger {
  let step = '';
  return {
    ...logger,
    startSection(title) {
      step = title;
      showStep(title);
    },
    info: (line) => showStep(step === '' ? line : `${step}: ${line}`),
  };
}
