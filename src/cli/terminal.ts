import { styleText } from 'node:util';
import { SingleBar } from 'cli-progress';
import type { Clock, Logger, Progress, ProgressUnit } from '../ports.ts';
import { describeProgress, lineProgress } from '../progress.ts';
import { PROGRESS_INTERVAL } from '../protocol/limits.ts';
import type { Redactor } from '../redact.ts';

/** Milliseconds before a bar is worth its place. */
const BAR_AFTER = 500;

/** What a person or an agent sees: answers on stdout, the story and complaints on stderr. */
export interface Terminal {
  readonly logger: Logger;
  /** An answer. */
  print(text: string): void;
  complain(text: string): void;
}

/** On a terminal with colours and bars, elsewhere in plain lines. `NO_COLOR` is respected. */
export function createTerminal(
  redactor: Redactor,
  clock: Clock,
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  /** A line over a bar takes the bar's place; the bar comes back below it. */
  const lineStart = process.stderr.isTTY ? '\r\u001b[K' : '';
  const say = (text: string): void =>
    void process.stderr.write(`${lineStart}${printable(redactor.redact(text))}\n`);
  const coloured = process.stderr.isTTY && !env.NO_COLOR;
  const heading = (text: string): string =>
    coloured ? styleText('bold', text, { validateStream: false }) : text;
  return {
    print: (text) => void process.stdout.write(`${printable(redactor.redact(text))}\n`),
    complain: (text) => say(text),
    logger: {
      info: (line) => say(`  ${line}`),
      warning: (line) => say(`  warning: ${line}`),
      startSection: (title) => void process.stderr.write(`${heading(printable(redactor.redact(title)))}\n`),
      endSection: () => undefined,
      mask: (secret) => redactor.addSecret(secret),
      progress: (title, total, unit) =>
        process.stderr.isTTY
          ? barMeter(title, total, unit, clock)
          : lineProgress(title, total, unit, PROGRESS_INTERVAL.cli, clock, (line) => say(`  ${line}`)),
    },
  };
}

/** Text without the control characters that could move a terminal's cursor or colour what follows. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are taken out
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, '');
}

/** A bar for what takes longer than a moment. */
function barMeter(title: string, total: number, unit: ProgressUnit, clock: Pick<Clock, 'now'>): Progress {
  const begun = clock.now();
  const bar = new SingleBar({
    format: '  {title} {bar} {words}',
    clearOnComplete: true,
    hideCursor: true,
    stream: process.stderr,
  });
  let done = 0;
  return {
    advance(amount) {
      done += amount;
      const elapsed = clock.now() - begun;
      if (elapsed < BAR_AFTER) return;
      const words = describeProgress(done, total, unit, elapsed);
      if (bar.isActive) bar.update(done, { words });
      else bar.start(total, done, { title, words });
    },
    end: () => bar.stop(),
  };
}
