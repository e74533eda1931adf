import type { Ports } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';

/** How long, and how often, addresses are asked. */
export interface WaitLimits {
  /** Milliseconds between two requests. */
  readonly interval: number;
  /** Milliseconds that build and verification may take together. */
  readonly timeout: number;
  /** When they began, and when they must end: milliseconds since the epoch. */
  readonly begun: number;
  readonly deadline: number;
}

/**
 * Logs a wait: a line when something changed, and how much is done: of one address, how much of the time is over.
 *
 * @param total how many addresses are waited for
 */
export function createWaitLog(
  title: string,
  total: number,
  { begun, timeout }: WaitLimits,
  { clock, logger }: Ports,
): { write(line: string): void; advance(): void; end(): void } {
  const progress =
    total === 1
      ? logger.progress(title, timeout, 'milliseconds')
      : logger.progress('files fetched back', total, 'files');
  let lastLine = '';
  let shown = 0;
  return {
    write(line) {
      const elapsed = clock.now() - begun;
      if (line !== lastLine) logger.info(`${(elapsed / SECOND).toFixed(0)} s: ${line}`);
      lastLine = line;
      if (total === 1) progress.advance(elapsed - shown);
      shown = elapsed;
    },
    advance: () => {
      if (total > 1) progress.advance(1);
    },
    end: () => progress.end(),
  };
}
